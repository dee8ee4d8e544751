"""Calls counted in Valkey or Redis, for deployments whose database has better things to do.

The moving window of the ``limits`` library is a sliding log too: a list of stamps per key, judged and written by one
script inside the server. It is imported late, since only those who set an address need it.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

from domain.access.rates import RatePolicy, RateState
from domain.errors import TryOnError

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
        """Judge a call and, if it is admitted, count it.

        Raises:
            TryOnError: The server is away or does not do as it is told.
        """
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

    async def close(self) -> None:
        """Let go of the connections."""
        await self._bridge.storage.aclose()
