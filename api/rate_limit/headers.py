"""What an answer says about the caller's rate: draft-ietf-httpapi-ratelimit-headers-11, and Retry-After.

Policy names are Strings of RFC 9651; ``q`` is the quota and ``w`` its window in seconds, ``r`` what remains of it and
``t`` the seconds until there is more.
"""

from __future__ import annotations

import math

from domain.access.rates import RatePolicy, RateState


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
