"""Everything that can be decided about a page on headers alone, before a byte of a body is read.

Who looks, whether the request came from a page of ours, and whether this visitor may go there. Only what its route
calls public is open to everybody, so a page that is forgotten is closed.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta
from typing import cast
from urllib.parse import quote

import structlog
from fastapi import Request
from sqlalchemy.exc import SQLAlchemyError
from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import Message, Scope, Send

from api.dashboard.rendering import wants_json
from api.dashboard.visitor import FORM, SESSION, address_of, clear_cookie, read_cookie, set_cookie
from api.errors import EXPECTED, PageRefused, answer_to
from api.parts import ApiParts
from api.routes import PAGES, SAFE, call_of
from domain.authentication import sessions
from domain.authentication.sessions import SignedIn
from domain.errors import TryOnError
from runtime.settings import Settings

STATIC_PREFIX, ADMIN_PREFIX = f"{PAGES}/static/", f"{PAGES}/admin"
LOG_IN, CHECK_MAIL = f"{PAGES}/log-in", f"{PAGES}/check-mail"

SEEN_GRAIN = timedelta(seconds=60)
"""A session's last use is told to the minute, so that not every page writes."""

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
        "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=()",
}

log = structlog.get_logger(__name__)


class PageSending:
    """A ``send`` that adds the headers of the dashboard, and the cookies that the visitor needs next."""

    def __init__(self, send: Send, settings: Settings) -> None:
        self._send = send
        self._settings = settings
        self.began = False
        self.forget_session = False
        self.form_secret: str | None = None

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.began = True
            headers = MutableHeaders(scope=message)
            headers.update(HEADERS)
            public_url = self._settings.dashboard.public_url
            if public_url is not None and public_url.scheme == "https":
                headers["Strict-Transport-Security"] = "max-age=31536000"
            self._add_cookies(headers)
        await self._send(message)

    def _add_cookies(self, headers: MutableHeaders) -> None:
        if any(f"{SESSION}=" in value for value in headers.getlist("set-cookie")):
            return  # somebody is signed in by this very answer
        jar = Response()
        if self.forget_session:
            clear_cookie(jar, SESSION, self._settings.dashboard)
        if self.form_secret is not None:
            set_cookie(jar, FORM, self.form_secret, self._settings.dashboard)
        for value in jar.headers.getlist("set-cookie"):
            headers.append("set-cookie", value)


async def admit_page(request: Request, sending: PageSending) -> Response | None:
    """What a request for a page is answered with that may not pass; the visitor is known from here on."""
    try:
        await _look_who_is_there(request.scope, sending)
        return _refusal(request)
    except EXPECTED as error:
        return answer_to(request, error)


async def _look_who_is_there(scope: Scope, sending: PageSending) -> None:
    """Find out who is signed in and what a form on the page has to carry; `sending` sets the cookies for it."""
    call, parts = call_of(scope), cast("ApiParts", scope["app"].state.parts)
    settings = parts.settings.dashboard
    cookie = read_cookie(scope, SESSION, settings)
    call.visitor = None if cookie is None else await find_visitor(parts, scope, cookie)
    if call.visitor is None:
        sending.forget_session = cookie is not None
        cookie = read_cookie(scope, FORM, settings)
        if cookie is None:
            cookie = sending.form_secret = secrets.token_urlsafe(32)
    else:
        structlog.contextvars.bind_contextvars(account_id=str(call.visitor.account_id))
    # It follows from the cookie under the server's own secret, so that nothing has to be kept.
    call.form_token = parts.digester.digest(f"form token of {cookie}")


def _refusal(request: Request) -> Response | None:
    path, safe, call = request.scope["path"], request.method in SAFE, call_of(request.scope)
    if not path.isprintable():
        raise TryOnError("route_not_found")  # the end of a line fits where a route's pattern ends
    if not safe:
        check_origin(request)
    if call.route.public:
        return None
    visitor = call.visitor
    if visitor is None:
        return _to_log_in(request)
    if not visitor.verified:
        return RedirectResponse(CHECK_MAIL, 303)
    if (path == ADMIN_PREFIX or path.startswith(f"{ADMIN_PREFIX}/")) and not visitor.operator:
        raise TryOnError("route_not_found")
    if not safe and visitor.blocked_reason is not None:
        raise PageRefused(403, f"This account is blocked: {visitor.blocked_reason}")
    return None


def check_origin(request: Request) -> None:
    """Refuse what another site has a browser send.

    Every current browser says with ``Sec-Fetch-Site`` where a request comes from; older ones send ``Origin``. What
    sends neither is no browser, and has no session of anybody's to abuse but its own.

    Raises:
        PageRefused: It does not come from a page of this host.
    """
    host, origin = request.headers.get("Host"), request.headers.get("Origin")
    site = request.headers.get("Sec-Fetch-Site")
    if site is None:
        site = "none" if origin is None or origin.partition("://")[2] == host else "cross-site"
    if site not in ("same-origin", "none"):
        raise PageRefused(403, "This request came from another site and was refused.")


async def find_visitor(parts: ApiParts, scope: Scope, token: str) -> SignedIn | None:
    """The person whom a session's cookie belongs to; nobody, if it is over."""
    now, settings = datetime.now(UTC), parts.settings.dashboard
    found = await parts.database.read(
        sessions.find_session,
        token=token,
        now=now,
        idle=timedelta(hours=settings.session_idle_hours),
        longest=timedelta(days=settings.session_days),
    )
    if found is None:
        return None
    if now - found.seen_at >= SEEN_GRAIN:
        session_id, address = found.session_id, address_of(Request(scope))
        try:
            await parts.database.write_relaxed(sessions.note_seen, session_id=session_id, address=address, now=now)
        except (SQLAlchemyError, OSError):
            log.warning("the last use of a session could not be written", exc_info=True)
    return found


def _to_log_in(request: Request) -> Response:
    if wants_json(request):
        return JSONResponse({"error": "You are signed out. Sign in again to continue."}, 401)
    if request.method not in SAFE:
        return RedirectResponse(f"{LOG_IN}?notice=signed_in_elsewhere", 303)
    query = request.scope["query_string"].decode("latin-1")
    wanted = request.scope["path"] + (f"?{query}" if query else "")
    return RedirectResponse(f"{LOG_IN}?next={quote(wanted, safe='')}" if wanted != f"{PAGES}/" else LOG_IN, 303)
