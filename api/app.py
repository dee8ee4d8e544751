"""Puts the API together: middleware from the outside in, then the routers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from fastapi_offline import FastAPIOffline
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Scope

from api import fashn, health, stripe_webhook, usage
from api.admission import Admission, hosts_of
from api.body_limit import BodyBudget, BodyLimit
from api.dashboard.pages import router as pages
from api.dashboard.rendering import STATIC, KeptStaticFiles
from api.errors import EXPECTED, answer_to
from api.metrics import ApiMetrics
from api.openapi import ABOUT, add_reference_pages, completed, servers_of
from api.parts import ApiParts, open_parts
from api.products import router as products
from api.request_context import RequestContext
from api.routes import PAGES, RouteTable, call_of, is_page
from api.tryon import checking, listing, pictures
from api.tryon import router as tryon
from api.webhooks import router as webhooks
from api.widget import router as widget
from domain.errors import say_limits
from imaging.decoder_pool import DecoderPool
from runtime.settings import Settings
from runtime.tracing import NO_TRACING, Tracing

AREAS = (health, tryon, listing, pictures, checking, products, webhooks, usage, fashn, widget, stripe_webhook)
ROUTERS = (*(area.router for area in AREAS), pages)

PAGE_DECODERS = 2
"""One for an account that fills its share, and one for the others."""

PartsFactory = Callable[[Settings], AbstractAsyncContextManager[ApiParts]]


def create_app(
    settings: Settings,
    parts: PartsFactory = open_parts,
    *,
    metrics: ApiMetrics | None = None,
    tracing: Tracing = NO_TRACING,
) -> FastAPI:
    """Build the application; ``parts`` makes its clients when it starts."""
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
        **ABOUT,
        servers=servers_of(settings),
        lifespan=lifespan,
        redirect_slashes=False,  # a redirect of the router's own goes to whatever host the request names
    )
    add_reference_pages(app)
    # Anything else ends in `api.request_context`, or in `api.admission` where a page was asked for.
    for kind in (*EXPECTED, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _handle)
    app.state.metrics = metrics
    for router in ROUTERS:
        app.include_router(router)
    app.mount(f"{PAGES}/static", KeptStaticFiles(directory=STATIC))
    app.mount(widget.STATIC_PATH, KeptStaticFiles(directory=widget.STATIC))
    for path in ("/", PAGES):
        app.add_api_route(path, _to_dashboard, methods=["GET", "HEAD"], include_in_schema=False)
    app.add_api_route("/verify", _to_verification, methods=["GET", "HEAD"], include_in_schema=False)
    budget = BodyBudget(settings.api.body_budget_bytes, small=settings.api.max_body_other_bytes)
    metrics.watch_bodies(lambda: budget.in_flight)
    routes = app.state.routes = RouteTable(app.routes)

    def cap_of(scope: Scope) -> int:
        call = call_of(scope)
        asked = call.route.policy(scope["method"])
        if asked.pictures:
            from_a_page = call.owner is not None and call.owner.publishable  # which sends no pictures of garments
            return settings.images.body_cap(1 if from_a_page else asked.pictures)
        return asked.body_bytes or settings.api.max_body_other_bytes

    # The last one added is the outermost.
    app.add_middleware(
        BodyLimit,
        cap_of=cap_of,
        budget=budget,
        timeout_seconds=settings.api.body_timeout_seconds,
        holder_of=lambda scope: call_of(scope).account_id,
    )
    app.add_middleware(Admission, hosts=hosts_of(settings))
    app.add_middleware(
        RequestContext,
        routes=routes,
        metrics=metrics,
        tracing=tracing,
        store_seconds=settings.api.store_timeout_seconds,
    )

    made_by_fastapi = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = completed(made_by_fastapi())
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way to extend the document
    return app


def _to_dashboard() -> RedirectResponse:
    """Send on a person, who comes by the bare address."""
    return RedirectResponse(f"{PAGES}/", 303)


def _to_verification() -> RedirectResponse:
    """Send on a person who wants to know what a picture says of itself."""
    return RedirectResponse(f"{PAGES}/verify-picture", 303)


async def _handle(request: Request, error: Exception) -> Response:
    """The answer for whatever a route has raised."""
    if not is_page(request.scope):
        request.app.state.metrics.count_refused_address(error)
    return answer_to(request, error)
