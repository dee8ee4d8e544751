"""Calls from web pages: what a publishable key asks beyond its look-up, and what tells browsers that they may go on.

A secret key gets none of this. `docs/publishable-keys.md` has each attack with what holds against it.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from api.edge import network_of, plain_address
from api.routes import MatchedRoute
from domain.access.keys import KeyOwner

SENT = "Authorization, Content-Type, Idempotency-Key, Prefer, X-Request-Id"
"""Headers of requests that a page may set."""

READ = (
    "Idempotent-Replayed, Location, Preference-Applied, RateLimit, RateLimit-Policy, Retry-After, X-Error-Code, "
    "X-Ignored-Fields, X-Request-Id"
)
"""Headers of answers that a page may read."""

PREFLIGHT_SECONDS = 7200
"""For how long browsers remember the answer to a preflight; Chromium's longest."""


def preflight_answer(scope: Scope, route: MatchedRoute) -> Response | None:
    """The answer to a browser's question whether a page may call this route; none if it is no such question.

    It carries no key, so it cannot be known whose page asks, and every page gets the same answer, which costs no look
    at the database and tells nothing. The call itself needs a publishable key that names the page's origin; only then
    may the page read the answer. No cookie lets anybody into the API, so there is nothing to be gained by a call alone.
    """
    headers = Headers(scope=scope)
    methods = [method for method, policy in route.policies.items() if policy.publishable]
    if scope["method"] != "OPTIONS" or "Origin" not in headers:
        return None
    if headers.get("Access-Control-Request-Method") not in methods:
        return None
    allowed = {
        "Access-Control-Allow-Origin": "*",
        "Access-Control-Allow-Methods": ", ".join(methods),
        "Access-Control-Allow-Headers": SENT,
        "Access-Control-Max-Age": str(PREFLIGHT_SECONDS),
    }
    return Response(status_code=204, headers=allowed)


def origin_headers(owner: KeyOwner, headers: Headers) -> Mapping[str, str]:
    """What lets a page of one of the key's origins read the answer; for any other page only what caches need."""
    origin = _named_origin(owner, headers)
    if origin is None:
        return {"Vary": "Origin"}
    return {"Vary": "Origin", "Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": READ}


def is_allowed_page(owner: KeyOwner, headers: Headers) -> bool:
    """Whether the page that calls is of one of the key's origins, or a page of the service itself.

    The latter is the widget's dialog, which browsers frame on pages of the key's origins alone (`api.widget.router`).
    No script can set the header that tells it.
    """
    return _named_origin(owner, headers) is not None or headers.get("Sec-Fetch-Site") == "same-origin"


def _named_origin(owner: KeyOwner, headers: Headers) -> str | None:
    named = headers.getlist("Origin")
    return named[0] if len(named) == 1 and named[0] in (owner.key.origins or ()) else None


def visitor_id(owner: KeyOwner, scope: Scope) -> uuid.UUID:
    """Who looks at the page, as far as an address tells: told from others by the key's rate, and to nobody else.

    The address is the one that trusted proxies name. All whose address is not known are one visitor.
    """
    try:
        network = network_of(plain_address(scope["client"][0] if scope["client"] else ""))
    except ValueError:  # a Unix socket without a proxy
        network = ""
    return uuid.uuid5(owner.key_id, network)
