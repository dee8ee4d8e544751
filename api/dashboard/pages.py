"""Every page, in one router."""

from __future__ import annotations

from fastapi import APIRouter

from api.dashboard import docs, jobs, keys, overview, playground
from api.dashboard.admin import accounts as admin_accounts
from api.dashboard.admin import acts as admin_acts
from api.dashboard.admin import audit as admin_audit
from api.dashboard.admin import payments as admin_payments
from api.dashboard.admin import system as admin_system
from api.dashboard.authentication import links
from api.dashboard.authentication import router as authentication
from api.dashboard.billing import router as billing
from api.dashboard.products import router as products
from api.dashboard.settings import router as settings_pages
from api.routes import PAGES

router = APIRouter(prefix=PAGES, include_in_schema=False)
for part in (
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
):
    router.include_router(part)
