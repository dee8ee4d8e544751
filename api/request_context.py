"""The outermost layer: a request id on every answer, one log line per request, and the last word on exceptions."""

from __future__ import annotations

import re
import time
import uuid

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.errors import error_response
from domain.errors import TryOnError

REQUEST_ID = "X-Request-Id"
ANSWER_HEADERS = "answer_headers"
"""Where in the ASGI scope's state the headers lie that every answer to this request carries, whoever makes it."""

_SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_QUIET = ("/healthz", "/readyz")
"""Asked every few seconds by machines; not worth a line each."""

log = structlog.get_logger(__name__)


class RequestContext:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        offered = Headers(scope=scope).get(REQUEST_ID, "")
        request_id = offered if _SANE_ID.fullmatch(offered) else uuid.uuid4().hex
        answer_headers: dict[str, str] = scope.setdefault("state", {}).setdefault(ANSWER_HEADERS, {})
        began, status = time.monotonic(), 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[REQUEST_ID] = request_id
                headers.setdefault("Cache-Control", "no-store")
                headers["X-Content-Type-Options"] = "nosniff"
                headers.update(answer_headers)
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                await self._app(scope, receive, send_with_headers)
            except Exception:
                log.exception("unhandled exception")
                if status:  # the answer is under way: all that is left is to break it off
                    raise
                await error_response(TryOnError("internal"))(scope, receive, send_with_headers)
            if scope["path"] not in _QUIET:
                log.info(
                    "request",
                    method=scope["method"],
                    path=scope["path"][:200],
                    status=status,
                    milliseconds=round(1000 * (time.monotonic() - began), 1),
                )
