"""Rate limiters for tests."""

from __future__ import annotations

from api.rate_limit import DatabaseRateLog, RateLimiter
from domain.access.rates import RatePolicy
from runtime.database import Database


def generous_rates(database: Database) -> RateLimiter:
    """One that no test meets by accident: ten thousand calls a second."""
    names = ("requests", "management", "visitor", "publishable")
    return RateLimiter(DatabaseRateLog(database), *(RatePolicy(name, 10_000, 1) for name in names))
