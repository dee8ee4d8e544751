"""The API's metrics: what every request cost, and what was refused for which reason.

Requests are counted by their method and their route's template, such as ``/api/v1/tryon/{jobId}``. FastAPI's own
telemetry is not used: it names what is routed alone, while most refusals come earlier, and would need OpenTelemetry's
SDK and an exporter for two metrics.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable

from starlette.routing import BaseRoute, Mount, Route, compile_path
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.body_limit import BodyBudget
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

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

OTHER_METHOD = "(other)"
"""A method is whatever a client sends, so only those that mean something are told apart."""

UNMATCHED = "(none)"
"""Stands for every address that leads nowhere; there is no end of those."""


def method_name(method: str) -> str:
    """The method, or what stands for one that means nothing."""
    return method if method in METHODS else OTHER_METHOD


class RouteNames:
    """Knows routes, the first that fits a path first.

    Requests that are refused before they are routed have a name too, so the router is not asked.
    """

    def __init__(self, routes: Iterable[BaseRoute]) -> None:
        self._own: set[str] = set()
        self._patterns: list[tuple[re.Pattern[str], str]] = []
        self._mounts: list[str] = []
        for route in routes:
            if isinstance(route, Route):
                self._add(route.path)
            elif isinstance(route, Mount):
                self._mounts.append(route.path)

    def name_of(self, path: str) -> str:
        """The template that this path fits."""
        if path in self._own:
            return path
        for pattern, template in self._patterns:
            if pattern.match(path):
                return template
        return next((f"{mount}/…" for mount in self._mounts if path.startswith(f"{mount}/")), UNMATCHED)

    def _add(self, path: str) -> None:
        if "{" in path:
            self._patterns.append((compile_path(path)[0], path))
        else:
            self._own.add(path)


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
    """ASGI middleware, the outermost: it sees every answer, whoever gives it."""

    def __init__(self, app: ASGIApp, *, metrics: ApiMetrics, routes: RouteNames) -> None:
        self._app = app
        self._metrics = metrics
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, held = time.monotonic(), CLIENT_GONE, "no"

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
                route=self._routes.name_of(scope["path"]),
                status=status,
                held=held,
            )
