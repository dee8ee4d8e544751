"""The dashboard as an application of its own, mounted below the API's: its refusals are pages, not JSON."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from starlette.datastructures import State

from api.dashboard.refusals import register_refusals
from api.dashboard.rendering import ROOT, STATIC, KeptStaticFiles
from runtime.settings import ApiSettings

ROUTERS: tuple[APIRouter, ...] = ()


def body_caps(settings: ApiSettings) -> dict[str, int]:
    """Address of each page that takes pictures or files, and the largest body it takes in bytes."""
    pictures = settings.max_body_product_bytes
    return {
        f"{ROOT}/playground/run": settings.max_body_combo_bytes,
        f"{ROOT}/products/new": pictures,
        f"{ROOT}/products/import": pictures,
        f"{ROOT}/products/{{productId}}": pictures,
        f"{ROOT}/products/{{productId}}/edit": pictures,
    }


def create_dashboard(state: State) -> FastAPI:
    """Build it.

    Args:
        state: The API's own, which holds the parts once it has started.
    """
    app = FastAPI(title="Dashboard", openapi_url=None, docs_url=None, redoc_url=None)
    app.state = state
    register_refusals(app)
    for router in ROUTERS:
        app.include_router(router)
    app.mount("/static", KeptStaticFiles(directory=STATIC), name="static")
    return app
