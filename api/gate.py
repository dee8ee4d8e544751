"""Everything that can be refused on headers alone, before a byte of the body is read: route, method, key, block.

FastAPI reads and parses a body before it runs its dependencies, so without this anybody could make the service
parse 100 MiB.
"""

from __future__ import annotations

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.routing import Match
from starlette.types import ASGIApp, Receive, Scope, Send

from api.errors import EXPECTED, answer_to
from api.parts import ApiParts
from domain.errors import TryOnError
from domain.keys import KeyOwner, find_owner

API_PREFIX = "/api/"
OWNER = "key_owner"
"""Where in the ASGI scope's state the caller is found further in."""


class Gate:
    """ASGI middleware for everything under ``/api/``."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(API_PREFIX):
            try:
                check_route(scope["app"], scope)
                scope.setdefault("state", {})[OWNER] = await authenticate(scope["app"].state.parts, scope)
            except EXPECTED as error:
                # The body has not been read, so the connection cannot be used for another request.
                await answer_to(error, {"Connection": "close"})(scope, receive, send)
                return
        await self._app(scope, receive, send)


def check_route(app: FastAPI, scope: Scope) -> None:
    """Raise unless there is such a route and it takes this method."""
    matches = {route.matches(scope)[0] for route in app.routes}
    if Match.FULL not in matches:
        raise TryOnError("method_not_allowed" if Match.PARTIAL in matches else "route_not_found")


async def authenticate(parts: ApiParts, scope: Scope) -> KeyOwner:
    """Who is calling; raises for a key that is missing, malformed, unknown or revoked, and for a blocked account."""
    scheme, _, key = Headers(scope=scope).get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key:
        raise TryOnError("unauthorized")
    async with parts.database.reading() as session:
        owner = await find_owner(session, parts.digester, key=key.strip())
    if owner is None:
        raise TryOnError("unauthorized")
    if owner.blocked:
        raise TryOnError("account_blocked")
    return owner
