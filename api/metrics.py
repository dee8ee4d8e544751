"""The API's metrics: what every request cost, and what was refused for which reason.

Requests are counted by their method and their route's template, such as ``/api/v1/tryon/{jobId}``. FastAPI's own
telemetry is not used: it names what is routed alone, while most refusals come earlier, and would need OpenTelemetry's
SDK and an exporter for two metrics.
"""

from __future__ import annotations

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.body_limit import BodyBudget
from api.routes import CALL, METHODS, Call, RouteTable
from imaging.errors import ImageError, ImageErrorCode
from runtime.metric_catalogue import (
    API,
    BODY_BYTES,
    HTTP_ACTIVE,
    HTTP_SECONDS,
    IMAGE_REJECTED,
    QUOTA_REFUSED,
    RATE_LIMITED,
    REFUSED,
    SSRF_BLOCKED,
)
from runtime.metrics import PrometheusMeter

OTHER_METHOD = "(other)"
"""A method is whatever a client sends, so only those that mean something are told apart."""


def method_name(method: str) -> str:
    """The method, or what stands for one that means nothing."""
    return method if method in METHODS else OTHER_METHOD


CLIENT_GONE = "499"
"""Status of a request whose client went before it was answered; the number that nginx gave it."""

OUT_OF_QUOTA = frozenset({"trial_ended", "volume_exhausted", "daily_cap_reached"})

PICTURE_CODES = frozenset(code.value for code in ImageErrorCode)

_CODE, _HELD = b"x-error-code", b"preference-applied"


class ApiMetrics:
    """The meter of one API process, in the API's own words."""

    def __init__(self) -> None:
        self.meter = PrometheusMeter(API)
        self.active = 0
        self.meter.read(HTTP_ACTIVE, lambda: self.active)

    def watch(self, budget: BodyBudget) -> None:
        """Show how much of the budget of bodies is taken."""
        self.meter.read(BODY_BYTES, lambda: budget.in_flight)

    def count_refusal(self, code: str) -> None:
        """Count an answer with 4xx or 5xx by its code."""
        self.meter.add(REFUSED, code=code)
        if code == "rate_limited":
            self.meter.add(RATE_LIMITED)
        elif code in OUT_OF_QUOTA:
            self.meter.add(QUOTA_REFUSED, code=code)
        elif code in PICTURE_CODES:
            self.meter.add(IMAGE_REJECTED, reason=code)

    def count_refused_address(self, error: BaseException) -> None:
        """Count why addresses of pictures were refused, if that is what lies behind an error."""
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, BaseExceptionGroup):
                for each in cause.exceptions:
                    self.count_refused_address(each)
                return
            if isinstance(cause, ImageError) and cause.refusal is not None:
                self.meter.add(SSRF_BLOCKED, reason=cause.refusal)
                return
            cause = cause.__cause__ or cause.__context__


class HttpMetrics:
    """ASGI middleware, the outermost: it looks the route up, and sees every answer."""

    def __init__(self, app: ASGIApp, *, metrics: ApiMetrics, routes: RouteTable) -> None:
        self._app = app
        self._metrics = metrics
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, held = time.monotonic(), CLIENT_GONE, "no"
        route = self._routes.find(scope["path"])
        scope.setdefault("state", {})[CALL] = Call(route)

        async def watched_send(message: Message) -> None:
            nonlocal status, held
            if message["type"] == "http.response.start":
                status = str(message["status"])
                names = dict(message["headers"]) if message["status"] >= 400 or scope["method"] == "GET" else {}
                if message["status"] >= 400:
                    self._metrics.count_refusal(names.get(_CODE, b"").decode())
                elif _HELD in names:
                    held = "yes"
            await send(message)

        self._metrics.active += 1
        try:
            await self._app(scope, receive, watched_send)
        finally:
            self._metrics.active -= 1
            self._metrics.meter.record(
                HTTP_SECONDS,
                time.monotonic() - began,
                method=method_name(scope["method"]),
                route=route.label,
                status=status,
                held=held,
            )
