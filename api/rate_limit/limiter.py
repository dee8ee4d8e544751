"""Counts a call under the policy that it falls under."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Protocol, Self

from api.rate_limit.database_log import DatabaseRateLog
from api.rate_limit.valkey_log import ValkeyRateLog
from domain.access.rates import RatePolicy, RateState
from runtime.database import Database
from runtime.settings import RateLimitSettings

TRYON_PATH = "/api/v1/tryon"
"""The contract's own routes lie here and below."""

TRYON_METHODS = ("GET", "POST")
"""Starting a job and polling it; whatever else can be done to a job is management."""


class RateLog(Protocol):
    """Where calls are counted; shared by every process of the API."""

    async def hit(self, caller_id: uuid.UUID, policy: RatePolicy) -> RateState:
        """Judge a call and, if it is admitted, count it."""
        ...

    async def close(self) -> None:
        """Let go of connections."""
        ...


@dataclass(frozen=True)
class RateLimiter:
    """The two policies of the service, and the log that both are kept in.

    Attributes:
        requests: Of the contract: starting try-ons and polling them, together.
        management: Of every other call with a key.
    """

    log: RateLog
    requests: RatePolicy
    management: RatePolicy

    @classmethod
    def of(cls, settings: RateLimitSettings, database: Database) -> Self:
        """The limiter that the settings ask for; ``database`` is where calls are counted unless they name a server.

        Raises:
            ValueError: The settings name a server, but not in a way that can be used.
        """
        return cls(
            DatabaseRateLog(database) if settings.url is None else ValkeyRateLog(settings.url.get_secret_value()),
            RatePolicy("requests", settings.requests, settings.window_seconds),
            RatePolicy("management", settings.management_requests, settings.management_window_seconds),
        )

    def policy_of(self, method: str, path: str) -> RatePolicy:
        """The policy that a call falls under."""
        is_tryon = path == TRYON_PATH or path.startswith(f"{TRYON_PATH}/")
        return self.requests if is_tryon and method in TRYON_METHODS else self.management

    async def close(self) -> None:
        """Let go of the log's connections."""
        await self.log.close()
