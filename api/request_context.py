"""What surrounds every request: its route, an id on every answer, a log line, a span, and the last word on exceptions.

Requests are counted, traced and logged here by their method and their route's template, such as
``/api/v1/tryon/{jobId}``. FastAPI's own telemetry is not used: it names what is routed alone, while most refusals come
earlier, and its spans would note the query and take over any caller's trace and baggage, which travels on into the
headers of workflows.
"""

from __future__ import annotations

import asyncio
import re
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import structlog
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.body_limit import CLOSE
from api.errors import error_response
from api.metrics import ApiMetrics
from api.routes import CALL, METHODS, Call, RouteTable
from domain.errors import TryOnError
from runtime.metric_catalogue import HTTP_SECONDS
from runtime.object_store import waiting_at_most
from runtime.tracing import JOB_RUN_ATTRIBUTE, NO_TRACING, Tracing
from workflows.queues import tryon_workflow_id

REQUEST_ID = "X-Request-Id"
STANDING_HEADERS = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
"""Of every answer that does not say otherwise."""

_SANE_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
JOB_PARAMETER = "jobId"
"""What routes call the job in their paths."""

CALLER_IDS = ("account_id", "key_id")
"""What is bound to a request's log lines further in, once the caller is known."""

QUIET = ("/healthz", "/readyz")
"""Asked every few seconds by machines; not worth a line or a span each."""

CLIENT_GONE = 499
"""Status of a request whose client went before it was answered; the number that nginx gave it."""

OTHER_METHOD = "(other)"
"""A method is whatever a client sends, so only those that mean something are told apart."""

log = structlog.get_logger(__name__)


class RequestContext:
    """ASGI middleware, the outermost."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        routes: RouteTable,
        metrics: ApiMetrics,
        tracing: Tracing = NO_TRACING,
        store_seconds: float,
    ) -> None:
        """Wrap ``app``; each request may wait ``store_seconds`` for the object store, all its calls together."""
        self._app = app
        self._routes = routes
        self._metrics = metrics
        self._tracing = tracing
        self._propagator = TraceContextTextMapPropagator()
        self._store_seconds = store_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, held, job_id = time.monotonic(), 0, "no", None
        call = scope.setdefault("state", {})[CALL] = Call(self._routes.find(scope["path"]))
        method = scope["method"] if scope["method"] in METHODS else OTHER_METHOD
        offered = Headers(scope=scope).get(REQUEST_ID, "")
        request_id = offered if _SANE_ID.fullmatch(offered) else uuid.uuid4().hex

        async def send_with_headers(message: Message) -> None:
            nonlocal status, held, job_id
            if message["type"] == "http.response.start":
                status, headers = message["status"], MutableHeaders(scope=message)
                job_id = job_of(scope, headers)
                headers[REQUEST_ID] = request_id
                for name, value in STANDING_HEADERS.items():
                    headers.setdefault(name, value)
                headers.update(call.answer_headers)
                if status >= 400:
                    self._metrics.count_refusal(headers.get("X-Error-Code", ""))
                elif method == "GET" and "Preference-Applied" in headers:
                    held = "yes"
                _describe(span, status, headers, call.account_id, job_id)
            await send(message)

        self._metrics.active += 1
        try:
            with (
                self._span(scope, method, call.route.label) as span,
                structlog.contextvars.bound_contextvars(request_id=request_id),
                waiting_at_most(self._store_seconds),
            ):
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
        finally:
            self._metrics.active -= 1
            self._metrics.meter.record(
                HTTP_SECONDS,
                time.monotonic() - began,
                method=method,
                route=call.route.label,
                status=str(status or CLIENT_GONE),
                held=held,
            )
        # Where one task serves several requests, as in tests, the next one is somebody else's.
        structlog.contextvars.unbind_contextvars(*CALLER_IDS)

    @contextmanager
    def _span(self, scope: Scope, method: str, route: str) -> Iterator[trace.Span]:
        """The span from which those of the job's workflow go on; in the caller's trace where that is trusted."""
        if not self._tracing.on or scope["path"] in QUIET:
            yield trace.INVALID_SPAN
            return
        parent = Context()
        if self._tracing.continue_incoming:
            parent = self._propagator.extract(dict(Headers(scope=scope)), context=parent)
        attributes = {"http.request.method": method, "http.route": route}
        with self._tracing.tracer.start_as_current_span(
            f"{method} {route}", context=parent, kind=SpanKind.SERVER, attributes=attributes
        ) as span:
            yield span


def _describe(
    span: trace.Span, status: int, headers: Mapping[str, str], account_id: uuid.UUID | None, job_id: str | None
) -> None:
    span.set_attribute("http.response.status_code", status)
    if status >= 500:
        span.set_status(StatusCode.ERROR)
    values = {
        "tryon.request_id": headers.get(REQUEST_ID),
        "tryon.error_code": headers.get("X-Error-Code"),
        "tryon.account_id": account_id,
        JOB_RUN_ATTRIBUTE: None if job_id is None else tryon_workflow_id(job_id),
    }
    span.set_attributes({name: str(value) for name, value in values.items() if value is not None})


def job_of(scope: Scope, answer: Mapping[str, str]) -> str | None:
    """The job that a request is about: named by its path, or by the answer that accepts it."""
    named = scope.get("path_params", {}).get(JOB_PARAMETER) or answer.get("Location", "").rpartition("/")[2]
    try:
        return str(uuid.UUID(named))
    except ValueError:
        return None
