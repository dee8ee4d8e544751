"""The span of a request, from which the spans of its workflow go on.

Its own rather than FastAPI's: that one would note the query and take over any caller's trace and baggage, and baggage
travels on into the headers of workflows.
"""

from __future__ import annotations

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.metrics import method_name
from api.request_context import QUIET, REQUEST_ID, job_of
from api.routes import call_of
from runtime.tracing import JOB_RUN_ATTRIBUTE, Tracing
from workflows.queues import tryon_workflow_id


class HttpTracing:
    """ASGI middleware."""

    def __init__(self, app: ASGIApp, *, tracing: Tracing) -> None:
        self._app = app
        self._tracing = tracing
        self._propagator = TraceContextTextMapPropagator()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in QUIET:
            await self._app(scope, receive, send)
            return
        method, route = method_name(scope["method"]), call_of(scope).route.label
        attributes = {"http.request.method": method, "http.route": route}
        with self._tracing.tracer.start_as_current_span(
            f"{method} {route}",
            context=self._parent(scope),
            kind=SpanKind.SERVER,
            attributes=attributes,
        ) as span:

            async def watched_send(message: Message) -> None:
                if message["type"] == "http.response.start":
                    self._describe(span, scope, message)
                await send(message)

            await self._app(scope, receive, watched_send)

    def _parent(self, scope: Scope) -> Context:
        """The caller's trace where that is trusted; else none."""
        if not self._tracing.continue_incoming:
            return Context()
        return self._propagator.extract(dict(Headers(scope=scope)), context=Context())

    @staticmethod
    def _describe(span: trace.Span, scope: Scope, answer: Message) -> None:
        headers = Headers(raw=answer["headers"])
        span.set_attribute("http.response.status_code", answer["status"])
        if answer["status"] >= 500:
            span.set_status(StatusCode.ERROR)
        values = {
            "tryon.request_id": headers.get(REQUEST_ID),
            "tryon.error_code": headers.get("X-Error-Code"),
            "tryon.account_id": call_of(scope).account_id,
        }
        span.set_attributes({name: str(value) for name, value in values.items() if value is not None})
        job_id = job_of(scope, headers)
        if job_id is not None:
            span.set_attribute(JOB_RUN_ATTRIBUTE, tryon_workflow_id(job_id))
