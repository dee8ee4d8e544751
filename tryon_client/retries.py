"""Whether a failed request is sent again, and when.

A try-on carries an ``Idempotency-Key``, so a second sending never starts, or bills, a second job, and most other
calls can be repeated by their nature. That is why no failure of theirs is too ambiguous for another try.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import httpx

from tryon_client.calls import Call
from tryon_client.errors import RATE_LIMITED, ConnectionFailed, IdempotencyConflict, RateLimited, TryOnApiError

RETRIED_STATUSES = frozenset({500, 502, 503, 504})
MAX_RETRIES = 3
FIRST_BACKOFF_SECONDS = 0.5
LONGEST_BACKOFF_SECONDS = 8.0


@dataclass(frozen=True)
class RetryPolicy:
    """How patient the client is with one request.

    Attributes:
        max_retries: How often it is sent again.
        longest_retry_after: Seconds. A server that asks for more is not waited for; the caller decides.
        chance: A number from 0 to 1, each time another.
    """

    max_retries: int = MAX_RETRIES
    longest_retry_after: float = 60.0
    chance: Callable[[], float] = random.random

    def delay(self, call: Call, failure: TryOnApiError | ConnectionFailed, retries: int) -> float | None:
        """Seconds until the next try, or ``None`` for none.

        Args:
            call: What was sent.
            failure: How the last try ended.
            retries: How many retries there were before.
        """
        if retries >= self.max_retries or not (_may_pass(failure) and (call.repeatable or _was_not_done(failure))):
            return None
        if isinstance(failure, TryOnApiError) and failure.retry_after is not None:
            return failure.retry_after if failure.retry_after <= self.longest_retry_after else None
        backoff = min(LONGEST_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2.0**retries)
        # At least half of it, so that clients that failed together spread out and still keep away.
        return backoff * (0.5 + 0.5 * self.chance())


def _may_pass(failure: TryOnApiError | ConnectionFailed) -> bool:
    match failure:
        case ConnectionFailed() | IdempotencyConflict():
            return True
        case RateLimited():
            # Proxies limit as well, and name no code; a code that is not known may stand for a limit of days.
            return failure.code in {RATE_LIMITED, None}
        case _:
            return failure.status in RETRIED_STATUSES


def _was_not_done(failure: TryOnApiError | ConnectionFailed) -> bool:
    """Whether it is certain that the service has done nothing."""
    return isinstance(failure, RateLimited) or isinstance(failure.__cause__, httpx.ConnectError | httpx.ConnectTimeout)
