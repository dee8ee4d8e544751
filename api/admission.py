"""Everything that can be refused on headers alone, before a byte of the body is read: route, method, key, block, rate.

FastAPI reads and parses a body before it runs its dependencies, so without this anybody could make the service
parse 100 MiB.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import structlog
from fastapi import Request
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.early_answer import CLOSE, Incoming, answer_early
from api.errors import EXPECTED, answer_to
from api.parts import ApiParts
from api.rate_limit import rate_headers, whole_seconds
from api.request_context import ANSWER_HEADERS
from api.routes import METHODS, route_of
from domain.access import keys
from domain.access.keys import KeyOwner
from domain.errors import TryOnError

API_PREFIX = "/api/"
OWNER = "key_owner"
"""Where in the ASGI scope's state the caller is found further in."""

LAST_USE_GRAIN = timedelta(seconds=60)
"""A key's last use is told to the minute, so that a busy key is not written on every call."""

log = structlog.get_logger(__name__)


class KeyAdmission:
    """ASGI middleware for everything under ``/api/``."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(API_PREFIX):
            try:
                await self._admit(scope)
            except EXPECTED as error:
                await answer_early(answer_to(error, CLOSE), scope, Incoming(receive), send)
                return
        await self._app(scope, receive, send)

    async def _admit(self, scope: Scope) -> None:
        parts: ApiParts = scope["app"].state.parts
        check_route(scope)
        owner = await authenticate(parts, scope)
        scope["state"][OWNER] = owner
        structlog.contextvars.bind_contextvars(account_id=str(owner.account_id), key_id=str(owner.key_id))
        await count_call(parts, scope, owner)
        await note_use(parts, owner)
        await renew_digest(parts, owner)


def owner_of(request: Request) -> KeyOwner:
    """Who is calling; for routes of the API."""
    owner: KeyOwner = request.scope["state"][OWNER]
    return owner


def account_of(scope: Scope) -> uuid.UUID | None:
    """Whose request it is, further in; nobody's outside of the API."""
    owner: KeyOwner | None = scope.get("state", {}).get(OWNER)
    return owner.account_id if owner else None


def check_route(scope: Scope) -> None:
    """Raise unless there is such a route and it takes this method; the answer names the methods that it takes."""
    policies = route_of(scope).policies
    if scope["method"] in policies:
        return
    if not policies:
        raise TryOnError("route_not_found")
    scope["state"][ANSWER_HEADERS]["Allow"] = ", ".join(each for each in METHODS if each in policies)
    raise TryOnError("method_not_allowed")


async def authenticate(parts: ApiParts, scope: Scope) -> KeyOwner:
    """Who is calling; raises for a key that is missing, malformed, unknown or revoked, and for a blocked account."""
    scheme, _, key = Headers(scope=scope).get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key:
        raise TryOnError("unauthorized")
    owner = await parts.database.read(keys.find_owner, parts.digester, key=key.strip())
    if owner is None:
        raise TryOnError("unauthorized")
    if owner.blocked:
        raise TryOnError("account_blocked")
    return owner


async def count_call(parts: ApiParts, scope: Scope, owner: KeyOwner) -> None:
    """Count the call under its policy and tell the caller how that stands; raises when the key has called too often."""
    limiter = parts.rate_limiter
    counted = route_of(scope).policy(scope["method"]).rate
    policy = limiter.requests if counted == "requests" else limiter.management
    state = await limiter.log.hit(owner.key_id, policy)
    scope["state"][ANSWER_HEADERS].update(rate_headers(policy, state))
    if not state.admitted:
        raise TryOnError("rate_limited", retry_after=whole_seconds(state))


async def note_use(parts: ApiParts, owner: KeyOwner) -> None:
    """Remember when the key was last used; no call fails because that cannot be written."""
    now = datetime.now(UTC)
    if owner.last_used_at is not None and abs(now - owner.last_used_at) < LAST_USE_GRAIN:
        return
    try:
        await parts.database.write_relaxed(keys.note_use, key_id=owner.key_id, now=now)
    except (SQLAlchemyError, OSError):
        log.warning("the last use of a key could not be written", key_id=str(owner.key_id), exc_info=True)


async def renew_digest(parts: ApiParts, owner: KeyOwner) -> None:
    """Move a key that is under an older pepper to the current one; no call fails because that cannot be written."""
    digest = owner.new_digest
    if digest is None:
        return
    try:
        await parts.database.write(keys.renew_digest, key_id=owner.key_id, digest=digest)
    except (SQLAlchemyError, OSError):
        log.warning("a key could not be moved to the current pepper", key_id=str(owner.key_id), exc_info=True)
