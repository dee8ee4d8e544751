"""Request rates: which policy a call falls under, where calls are counted, and what an answer says about it.

Calls are counted in the service's own database (exact, shared by all processes, no further part to run), or in Valkey
or Redis where that database has better things to do. The moving window of the ``limits`` library is a sliding log too:
a list of stamps per key, judged and written by one script inside the server. It is imported late, since only those who
set an address need it.

The headers are those of draft-ietf-httpapi-ratelimit-headers-11, and Retry-After. Policy names are Strings of RFC 9651;
``q`` is the quota and ``w`` its window in seconds, ``r`` what remains of it and ``t`` the seconds until there is more.
"""

from __future__ import annotations

import asyncio
import math
import time
import uuid
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol, Self, cast
from urllib.parse import urlsplit

from domain.access import rates
from domain.access.rates import Clock, RatePolicy, RateState
from domain.errors import TryOnError
from domain.money.plans import PlanBook
from domain.tables import Account
from runtime.database import Database
from runtime.settings import RateLimitSettings


def rate_headers(policy: RatePolicy, state: RateState) -> dict[str, str]:
    """``RateLimit-Policy`` and ``RateLimit``."""
    return {
        "RateLimit-Policy": f'"{policy.name}";q={policy.requests};w={policy.window_seconds}',
        "RateLimit": f'"{policy.name}";r={state.remaining};t={whole_seconds(state)}',
    }


def whole_seconds(state: RateState) -> int:
    """Until there is more, rounded up so that a caller who waits that long is never early; at least 1.

    It is both ``t`` and ``Retry-After``, so the one is never before the other.
    """
    return max(1, math.ceil(state.seconds_to_more))


class RateLog(Protocol):
    """Where calls are counted; shared by every process of the API."""

    async def hit(self, caller_id: uuid.UUID, policy: RatePolicy) -> RateState:
        """Judge a call and, if it is admitted, count it.

        Raises:
            DBAPIError: The database is away, or locked for longer than its settings allow.
            TryOnError: The server is away or does not do as it is told.
        """

    async def ping(self) -> None:
        """See that what keeps the log answers; whatever it raises says why not."""

    async def close(self) -> None:
        """Let go of connections."""


class DatabaseRateLog:
    """One short transaction per call."""

    def __init__(self, database: Database, clock: Clock = time.time) -> None:
        """Count in ``database``, which stays open."""
        self._database = database
        self._clock = clock

    async def hit(self, caller_id: uuid.UUID, policy: RatePolicy) -> RateState:
        return await self._database.write_relaxed(rates.hit, caller_id=caller_id, policy=policy, clock=self._clock)

    async def ping(self) -> None:
        await self._database.ping()

    async def close(self) -> None:
        """Do nothing: the database belongs to the process."""


if TYPE_CHECKING:
    from limits.aio.storage.redis.valkey import ValkeyBridge

SCHEMES = ("valkey", "valkeys", "redis", "rediss")
"""With an s at the end: over TLS."""

CONNECT_SECONDS = 0.5
"""A server on the same network that does not take a connection within this is away."""

ANSWER_SECONDS = 1.0
"""Longest wait for one answer of the server."""

HIT_SECONDS = 2.0
"""Longest wait for everything about one call: connecting, judging, and asking what is left."""

KEY_PREFIX = "tryon:rate"


class ValkeyRateLog:
    """One key per API key and policy, which the server forgets one window after the last call."""

    def __init__(self, url: str) -> None:
        """Count in the server at ``url``, which need not be reachable yet.

        Raises:
            ValueError: The scheme is none of `SCHEMES`, or the extra ``valkey`` is not installed.
        """
        if urlsplit(url).scheme not in SCHEMES:
            raise ValueError(f"TRYON_RATE_LIMIT_URL must begin with one of {', '.join(SCHEMES)}, then ://")
        if find_spec("limits") is None or find_spec("valkey") is None:
            raise ValueError("TRYON_RATE_LIMIT_URL needs the extra `valkey` of this package")
        from limits.aio.storage import RedisStorage
        from limits.aio.strategies import MovingWindowRateLimiter
        from limits.errors import ConfigurationError, StorageError

        try:
            storage = RedisStorage(
                f"async+{url}",
                wrap_exceptions=True,
                implementation="valkey",
                key_prefix=KEY_PREFIX,
                socket_connect_timeout=CONNECT_SECONDS,
                socket_timeout=ANSWER_SECONDS,
            )
        except ConfigurationError:
            # The library's own text would show the password.
            raise ValueError("TRYON_RATE_LIMIT_URL must have the form valkey://host:port/0") from None
        self._bridge = cast("ValkeyBridge", storage.bridge)
        self._limiter = MovingWindowRateLimiter(storage)
        self._failure = StorageError

    async def hit(self, caller_id: uuid.UUID, policy: RatePolicy) -> RateState:
        try:
            async with asyncio.timeout(HIT_SECONDS):
                try:
                    return await self._ask(caller_id, policy)
                except self._failure:
                    # A connection kept from before the server was started anew fails once. Should the server have
                    # counted the call all the same, it counts twice: an error to the safe side.
                    return await self._ask(caller_id, policy)
        except (self._failure, TimeoutError) as error:
            raise TryOnError("storage_unavailable") from error

    async def _ask(self, caller_id: uuid.UUID, policy: RatePolicy) -> RateState:
        from limits import RateLimitItemPerSecond

        item = RateLimitItemPerSecond(policy.requests, policy.window_seconds, namespace=policy.name)
        admitted = await self._limiter.hit(item, str(caller_id))
        stats = await self._limiter.get_window_stats(item, str(caller_id))
        # Another process may have called between the two questions, or a stamp may have left the window.
        return RateState(
            admitted=admitted,
            remaining=max(0, stats.remaining) if admitted else 0,
            seconds_to_more=min(max(stats.reset_time - time.time(), 0.001), policy.window_seconds),
        )

    async def ping(self) -> None:
        async with asyncio.timeout(HIT_SECONDS):
            await self._bridge.storage.ping()

    async def close(self) -> None:
        """Let go of the connections."""
        await self._bridge.storage.aclose()


@dataclass(frozen=True)
class RateLimiter:
    """The policies of the service, and the log that all are kept in.

    Attributes:
        requests: Of the contract: starting try-ons and polling them, together; unless an account has another rate.
        management: Of every other call with a key.
        visitor: Of one visitor of a page with a publishable key.
        publishable: Of a publishable key, for all its visitors together.
    """

    log: RateLog
    requests: RatePolicy
    management: RatePolicy
    visitor: RatePolicy
    publishable: RatePolicy

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
            RatePolicy("visitor", settings.visitor_requests, settings.visitor_window_seconds),
            RatePolicy("publishable", settings.publishable_requests, settings.publishable_window_seconds),
        )

    def requests_of(self, account: Account, plans: PlanBook) -> RatePolicy:
        """How often each secret key of the account may start and poll try-ons: by its own terms, else by its plan's."""
        rate = plans.request_rate(account)
        return (
            self.requests
            if rate is None
            else replace(self.requests, requests=rate.requests, window_seconds=rate.window_seconds)
        )

    async def close(self) -> None:
        """Let go of the log's connections."""
        await self.log.close()
