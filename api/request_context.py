"""The outermost layer: a request id on every answer, one log line per request, and the last word on exceptions."""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import Mapping

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.early_answer import CLOSE
from api.errors import error_response
from api.routes import call_of
from domain.errors import TryOnError
from runtime.object_store import waiting_at_most

REQUEST_ID = "X-Request-Id"
STANDING_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
"""Of every answer that does not say otherwise."""

_SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
JOB_PARAMETER = "jobId"
"""What routes call the job in their paths."""

CALLER_IDS = ("account_id", "key_id")
"""What is bound to a request's log lines further in, once the caller is known."""

QUIET = ("/healthz", "/readyz")
"""Asked every few seconds by machines; not worth a line each."""

log = structlog.get_logger(__name__)


class RequestContext:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, *, store_seconds: float) -> None:
        """Wrap ``app``; each request may wait ``store_seconds`` for the object store, all its calls together."""
        self._app = app
        self._store_seconds = store_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        offered = Headers(scope=scope).get(REQUEST_ID, "")
        request_id = offered if _SANE_ID.fullmatch(offered) else uuid.uuid4().hex
        answer_headers = call_of(scope).answer_headers
        began, status, job_id = time.monotonic(), 0, None

        async def send_with_headers(message: Message) -> None:
            nonlocal status, job_id
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                job_id = job_of(scope, headers)
                headers[REQUEST_ID] = request_id
                for name, value in STANDING_HEADERS.items():
                    headers.setdefault(name, value)
                headers.update(answer_headers)
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id), waiting_at_most(self._store_seconds):
            try:
                await self._app(scope, receive, send_with_headers)
            except asyncio.CancelledError:
                # The process ends and has waited for this request as long as it may: an answer all the same.
                if not status:
                    await error_response(TryOnError("busy"), CLOSE)(scope, receive, send_with_headers)
                raise
            except Exception:
                log.exception("unhandled exception")
                if status:  # the answer is under way: all that is left is to break it off
                    raise
                await error_response(TryOnError("internal"))(scope, receive, send_with_headers)
            if scope["path"] not in QUIET:
                log.info(
                    "request",
                    method=scope["method"],
                    path=scope["path"][:200],
                    status=status,
                    milliseconds=round(1000 * (time.monotonic() - began), 1),
                    **({} if job_id is None else {"job_id": job_id}),
                )
        # Where one task serves several requests, as in tests, the next one is somebody else's.
        structlog.contextvars.unbind_contextvars(*CALLER_IDS)


def job_of(scope: Scope, answer: Mapping[str, str]) -> str | None:
    """The job that a request is about: named by its path, or by the answer that accepts it."""
    named = scope.get("path_params", {}).get(JOB_PARAMETER) or answer.get("Location", "").rpartition("/")[2]
    try:
        return str(uuid.UUID(named))
    except ValueError:
        return None
