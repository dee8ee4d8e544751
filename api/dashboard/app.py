"""The dashboard as an application of its own, mounted below the API's: its refusals are pages, not JSON."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI, Request
from starlette.datastructures import State
from starlette.responses import Response
from starlette.types import Scope

from api.dashboard import docs, jobs, keys, overview, playground
from api.dashboard.admin import accounts as admin_accounts
from api.dashboard.admin import acts as admin_acts
from api.dashboard.admin import audit as admin_audit
from api.dashboard.admin import payments as admin_payments
from api.dashboard.admin import system as admin_system
from api.dashboard.authentication import links
from api.dashboard.authentication import router as authentication
from api.dashboard.billing import router as billing
from api.dashboard.forms import PageRefused, refusal_page, register_refusals
from api.dashboard.products import router as products
from api.dashboard.rendering import STATIC, KeptStaticFiles
from api.dashboard.settings import router as settings_pages
from api.dashboard.visitor import VISITOR
from domain.errors import TryOnError

ROUTERS: tuple[APIRouter, ...] = (
    authentication.router,
    links.router,
    overview.router,
    jobs.router,
    keys.router,
    docs.router,
    products.router,
    playground.router,
    settings_pages.router,
    billing.router,
    admin_accounts.router,
    admin_acts.router,
    admin_payments.router,
    admin_system.router,
    admin_audit.router,
)


TOO_LARGE = "The upload is too large. Choose smaller files and try again."


def body_refusal(dashboard: FastAPI, scope: Scope, error: TryOnError) -> Response | None:
    """The page for somebody whose form was not read to its end; nothing where no page of ours was asked for."""
    if VISITOR not in scope.get("state", {}):
        return None
    request = Request({**scope, "app": dashboard})
    return refusal_page(request, PageRefused(413, TOO_LARGE) if error.code == "body_too_large" else error)


def create_dashboard(state: State) -> FastAPI:
    """Build it.

    Args:
        state: The API's own, which holds the parts once it has started.
    """
    app = FastAPI(title="Dashboard", openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False)
    app.state = state
    register_refusals(app)
    for router in ROUTERS:
        app.include_router(router)
    app.mount("/static", KeptStaticFiles(directory=STATIC), name="static")
    return app
