"""Puts the API together: middleware from the outside in, then the routers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi_offline import FastAPIOffline

from api import health
from api.body_limit import BodyLimit
from api.errors import register_error_handlers
from api.gate import Gate, account_of
from api.openapi.document import DESCRIPTION, openapi_of
from api.parts import ApiParts, open_parts
from api.products import router as products
from api.request_context import RequestContext
from api.tryon import router as tryon
from api.usage import router as usage
from runtime.settings import Settings

PartsFactory = Callable[[Settings], AbstractAsyncContextManager[ApiParts]]


def create_app(settings: Settings, parts: PartsFactory = open_parts) -> FastAPI:
    """Build the application; its clients are made, by ``parts``, when it starts."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.image_slots = asyncio.Semaphore(settings.api.image_threads)
        async with parts(settings) as app.state.parts:
            yield

    app = FastAPIOffline(title="Virtual try-on", version="1", description=DESCRIPTION, lifespan=lifespan)
    register_error_handlers(app)
    app.state.own_addresses = {}
    for router in (health.router, tryon.router, products.router, usage.router):
        app.include_router(router)
        for route in router.routes:
            if isinstance(route, APIRoute) and "{" not in route.path:
                app.state.own_addresses.setdefault(route.path, set()).update(route.methods)
    # The last one added is the outermost.
    app.add_middleware(
        BodyLimit,
        caps={
            tryon.SINGLE_PATH: settings.api.max_body_single_bytes,
            tryon.COMBO_PATH: settings.api.max_body_combo_bytes,
            products.PRODUCTS_PATH: settings.api.max_body_product_bytes,
            products.PRODUCT_PATH: settings.api.max_body_product_bytes,
        },
        other_cap=settings.api.max_body_other_bytes,
        budget=settings.api.body_budget_bytes,
        timeout_seconds=settings.api.body_timeout_seconds,
        holder_of=account_of,
    )
    app.add_middleware(Gate)
    app.add_middleware(RequestContext)

    def openapi() -> dict[str, Any]:
        return openapi_of(app)

    app.openapi = openapi  # type: ignore[method-assign]  # FastAPI's documented way to extend the document
    return app
