"""Everything that can be refused on headers alone, before a byte of the body is read.

FastAPI reads and parses a body before it runs its dependencies, so without this anybody could make the service
parse 100 MiB. Each request names a known host. A call of the API leads to a route, with a method that it takes, and
brings a key whose account is not blocked, that may call this route, and that has not called too often. Who may see
which page is decided in `api.dashboard.admission`.
"""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import cast

import structlog
from fastapi import Request
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from api.body_limit import Incoming, answer_early
from api.dashboard.admission import STATIC_PREFIX, PageSending, admit_page
from api.edge import plain_address
from api.errors import EXPECTED, answer_to, error_response
from api.parts import ApiParts
from api.publishable import is_allowed_page, origin_headers, preflight_answer, visitor_id
from api.rate_limit import rate_headers, whole_seconds
from api.routes import SAFE, RoutePolicy, call_of, is_page
from domain.access import keys
from domain.access.keys import KeyOwner
from domain.access.rates import RatePolicy
from domain.errors import TryOnError
from runtime.settings import Settings

API_PREFIXES = ("/api/", "/v1/")
"""Of what is called with a key; the second is `api.fashn`."""

LAST_USE_GRAIN = timedelta(seconds=60)
"""A key's last use is told to the minute, so that a busy key is not written on every call."""

_HOST = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{0,5})?")

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
"""What health checks inside a container ask for."""

log = structlog.get_logger(__name__)


class Admission:
    """ASGI middleware; ``hosts`` are the names that the service answers to, as `hosts_of` gives them."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str]) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif not names_host(scope, self._hosts):
            await answer_early(error_response(TryOnError("host_refused")), scope, Incoming(receive), send)
        elif scope["path"].startswith(API_PREFIXES):
            await self._call(scope, receive, send)
        elif is_page(scope):
            await self._page(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _call(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (preflight := preflight_answer(scope, call_of(scope).route)) is not None:
            await preflight(scope, receive, send)
            return
        try:
            await admit_call(scope)
        except EXPECTED as error:
            await answer_early(answer_to(Request(scope), error), scope, Incoming(receive), send)
            return
        await self._app(scope, receive, send)

    async def _page(self, scope: Scope, receive: Receive, send: Send) -> None:
        sending, request = PageSending(send, scope["app"].state.parts.settings), Request(scope, receive)
        refusal = None if scope["path"].startswith(STATIC_PREFIX) else await admit_page(request, sending)
        if refusal is None:
            try:
                await self._app(scope, receive, sending)
            except Exception as error:
                log.exception("unhandled exception", path=scope["path"][:200])
                if sending.began:
                    raise
                await answer_to(request, error)(scope, receive, sending)
        elif scope["method"] in SAFE:
            await refusal(scope, receive, sending)
        else:
            await answer_early(refusal, scope, Incoming(receive), sending)


def hosts_of(settings: Settings) -> frozenset[str]:
    """The names that a service with these settings has.

    A page elsewhere may have its own name resolved to this machine and then read answers as if they were its own; and
    whatever is made of ``Host`` leads where the client says. Neither works where only known names are answered.
    """
    public = settings.dashboard.public_url
    named = [settings.api.host, *settings.api.hosts.split(","), *([public.host or ""] if public else [])]
    return LOOPBACK_NAMES | {plain_host(name) for name in named if name}


def names_host(scope: Scope, hosts: frozenset[str]) -> bool:
    """Whether a request names one host, and a known one."""
    sent = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
    if not sent:
        return bool(scope.get("http_version") == "1.0")  # which has no such header; some health checks speak it
    # The address that the connection came to is no stranger's name.
    own = plain_host(scope["server"][0]) if scope.get("server") else ""
    named = _HOST.fullmatch(sent[0])
    return len(sent) == 1 and named is not None and plain_host(named[1]) in hosts | {own}


def plain_host(name: str) -> str:
    """In one spelling: a name in lower case without a dot at its end, an address as `ipaddress` writes it."""
    name = name.strip("[]").lower().removesuffix(".")
    try:
        return str(plain_address(name))
    except ValueError:
        return name


async def admit_call(scope: Scope) -> None:
    """Let a call of the API in, or raise; the key and its account are known from here on.

    The answer to a method that its route does not take names those that it does, and every answer to a known caller
    how the key stands under the policy that the call counts under.
    """
    parts, call = cast("ApiParts", scope["app"].state.parts), call_of(scope)
    if not call.route.policies:
        raise TryOnError("route_not_found")
    if scope["method"] not in call.route.policies:
        call.answer_headers["Allow"] = call.route.allow
        raise TryOnError("method_not_allowed")
    headers = Headers(scope=scope)
    scheme, _, key = headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key:
        raise TryOnError("unauthorized")
    owner = await parts.database.read(keys.find_owner, parts.digester, key=key.strip())
    if owner is None:
        raise TryOnError("unauthorized")
    if owner.publishable:
        call.answer_headers.update(origin_headers(owner, headers))
    if owner.blocked:
        raise TryOnError("account_blocked")
    asked = call.route.policy(scope["method"])
    if owner.publishable and not asked.publishable:
        raise TryOnError("key_publishable")
    if owner.publishable and not is_allowed_page(owner, headers):
        raise TryOnError("origin_not_allowed")
    if not owner.may(asked.scope):
        raise TryOnError("key_scope_missing", f"This API key lacks the scope {asked.scope}.")
    call.owner = owner
    structlog.contextvars.bind_contextvars(account_id=str(owner.account_id), key_id=str(owner.key_id))
    for caller, policy in _counts(parts, owner, asked, scope):
        state = await parts.rate_limiter.log.hit(caller, policy)
        if not state.admitted or "RateLimit" not in call.answer_headers:
            call.answer_headers.update(rate_headers(policy, state))
        if not state.admitted:
            raise TryOnError("rate_limited", retry_after=whole_seconds(state))
    await note_use(parts, owner)


def _counts(parts: ApiParts, owner: KeyOwner, asked: RoutePolicy, scope: Scope) -> list[tuple[uuid.UUID, RatePolicy]]:
    """Who is counted under which policies, in this order; answers tell of the first, unless another one refuses."""
    limiter = parts.rate_limiter
    if owner.publishable:
        # The visitor first: a single one does not use up the rate of all.
        return [(visitor_id(owner, scope), limiter.visitor), (owner.key_id, limiter.publishable)]
    if asked.rate == "requests":
        return [(owner.key_id, limiter.requests_of(owner.account, parts.plans))]
    return [(owner.key_id, limiter.management)]


async def note_use(parts: ApiParts, owner: KeyOwner) -> None:
    """Remember when the key was last used, and move one that is under an older pepper to the current one.

    No call fails because that cannot be written.
    """
    now, key_id = datetime.now(UTC), owner.key_id
    try:
        if owner.key.last_used_at is None or abs(now - owner.key.last_used_at) >= LAST_USE_GRAIN:
            await parts.database.write_relaxed(keys.note_use, key_id=key_id, now=now)
        if owner.new_digest is not None:
            await parts.database.write(keys.renew_digest, key_id=key_id, digest=owner.new_digest)
    except (SQLAlchemyError, OSError):
        log.warning("the use of a key could not be written", key_id=str(key_id), exc_info=True)
