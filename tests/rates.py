"""Rate limiters for tests."""

from __future__ import annotations

from api.rate_limit import DatabaseRateLog, RateLimiter
from domain.access.rates import RatePolicy
from runtime.database import Database


def generous_rates(database: Database) -> RateLimiter:
    """One that no test meets by accident: ten thousand calls a second."""
    return RateLimiter(
        DatabaseRateLog(database), RatePolicy("requests", 10_000, 1), RatePolicy("management", 10_000, 1)
    )
