"""Puts the API together: middleware from the outside in, then the routers."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.responses import RedirectResponse
from fastapi_offline import FastAPIOffline
from starlette.types import Scope

from api import health, usage
from api.admission import KeyAdmission, account_of
from api.body_limit import BodyBudget, BodyLimit
from api.dashboard.admission import SessionAdmission, visiting_account
from api.dashboard.app import body_refusal, create_dashboard
from api.dashboard.rendering import ROOT as DASHBOARD
from api.errors import error_response, register_error_handlers
from api.known_hosts import KnownHosts, hosts_of
from api.metrics import ApiMetrics, HttpMetrics
from api.openapi.document import DESCRIPTION, openapi_of, servers_of
from api.openapi.pages import add_reference_pages
from api.parts import ApiParts, open_parts
from api.payments import webhook as payments
from api.products import router as products
from api.request_context import RequestContext
from api.routes import RouteTable, route_of
from api.tracing import HttpTracing
from api.tryon import router as tryon
from domain.errors import say_limits
from imaging.decoder_pool import DecoderPool
from runtime.settings import Settings
from runtime.tracing import NO_TRACING, Tracing

ROUTERS = (health.router, tryon.router, products.router, usage.router, payments.router)

PAGE_DECODERS = 2
"""One for whoever fills theirs, and one for the others."""

PartsFactory = Callable[[Settings], AbstractAsyncContextManager[ApiParts]]


def create_app(
    settings: Settings,
    parts: PartsFactory = open_parts,
    *,
    metrics: ApiMetrics | None = None,
    tracing: Tracing = NO_TRACING,
) -> FastAPI:
    """Build the application.

    Args:
        settings: Of the process.
        parts: Makes its clients when it starts.
        metrics: Records what happens to requests; its own by default.
        tracing: Makes their spans.
    """
    metrics = metrics or ApiMetrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        say_limits(settings.images.limits(), settings.images.logo_limits())
        most_pixels = settings.images.max_pixels
        app.state.decoders = DecoderPool(settings.api.image_threads, most_pixels)
        # Pages are asked for as often as anybody likes: what they draw waits for its own kind, not calls for it.
        app.state.page_decoders = DecoderPool(PAGE_DECODERS, most_pixels)
        try:
            async with parts(settings) as app.state.parts:
                app.state.readiness = health.Readiness(app.state.parts)
                yield
                await app.state.readiness.close()
        finally:
            await app.state.decoders.close()
            await app.state.page_decoders.close()

    app = FastAPIOffline(
        docs_url=None,
        redoc_url=None,
        title=settings.dashboard.name,
        summary="Virtual try-on",
        version="1",
        description=DESCRIPTION,
        servers=servers_of(settings),
        lifespan=lifespan,
        redirect_slashes=False,  # a redirect of the router's own goes to whatever host the request names
    )
    add_reference_pages(app)
    register_error_handlers(app)
    app.state.metrics = metrics
    for router in ROUTERS:
        app.include_router(router)
    dashboard = create_dashboard(app.state)
    app.mount(DASHBOARD, dashboard)
    for path in ("/", DASHBOARD):
        app.add_api_route(path, _to_dashboard, methods=["GET", "HEAD"], include_in_schema=False)
    budget = BodyBudget(settings.api.body_budget_bytes, small=settings.api.max_body_other_bytes)
    metrics.watch(budget)
    routes = app.state.routes = RouteTable(app.routes, mounted={DASHBOARD: dashboard.routes})

    def cap_of(scope: Scope) -> int:
        asked = route_of(scope).policy(scope["method"])
        if asked.pictures:
            return settings.images.body_cap(asked.pictures)
        return asked.body_bytes or settings.api.max_body_other_bytes

    # The last one added is the outermost.
    app.add_middleware(
        BodyLimit,
        cap_of=cap_of,
        budget=budget,
        timeout_seconds=settings.api.body_timeout_seconds,
        holder_of=_holder_of,
        refusal_of=lambda scope, error: body_refusal(dashboard, scope, error) or error_response(error),
    )
    app.add_middleware(KeyAdmission)
    app.add_middleware(SessionAdmission, dashboard=dashboard)
    app.add_middleware(KnownHosts, names=hosts_of(settings))
    app.add_middleware(RequestContext, store_seconds=settings.api.store_timeout_seconds)
    if tracing.on:
        app.add_middleware(HttpTracing, tracing=tracing)
    app.add_middleware(HttpMetrics, metrics=metrics, routes=routes)

    def openapi() -> dict[str, Any]:
        return openapi_of(app)

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way to extend the document
    return app


def _to_dashboard() -> RedirectResponse:
    """Whoever comes by the bare address is a person."""
    return RedirectResponse(f"{DASHBOARD}/", 303)


def _holder_of(scope: Scope) -> uuid.UUID | None:
    """Whose request it is, by key or by session."""
    return account_of(scope) or visiting_account(scope)
