"""Every page, in one router, which asks each form for its token."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from api.dashboard import (
    authentication,
    billing,
    docs,
    jobs,
    keys,
    mailed_links,
    outbox,
    overview,
    playground,
    products,
    settings,
    signed_pictures,
    webhooks,
)
from api.dashboard.admin import accounts, audit, comparisons, payments, system
from api.dashboard.forms import read_form
from api.routes import PAGES

router = APIRouter(prefix=PAGES, include_in_schema=False, dependencies=[Depends(read_form)])
for area in (
    *(
        authentication,
        mailed_links,
        outbox,
        signed_pictures,
        overview,
        jobs,
        keys,
        webhooks,
        docs,
        products,
        playground,
        settings,
        billing,
    ),
    *(accounts, payments, system, comparisons, audit),
):
    router.include_router(area.router)
