"""How the service stands, and the check of its ledger."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from importlib import metadata

from fastapi import APIRouter, Request, Response

from api.dashboard.admin.state import PROBE_SECONDS, system_state
from api.dashboard.forms import read_form
from api.dashboard.rendering import page, redirect
from api.dashboard.visitor import visitor_of
from api.parts import parts_of
from domain.operation import audit
from domain.operation.audit import Act
from engines.catalogue import OFFERED
from gateway.calls import TemporalAwayError

router = APIRouter()


@router.get("/admin/system")
async def show_system(request: Request) -> Response:
    """Parts, queues, schedules, builds, engines, and what the ledger's last check found."""
    parts = parts_of(request)
    return page(
        request,
        "admin/system.html",
        state=await system_state(parts),
        version=metadata.version("tryon-service"),
        engines=[each.info for each in OFFERED.values()],
        chosen=parts.settings.engine.engine,
        ui_url=parts.settings.temporal.ui_url,
    )


@router.post("/admin/ledger-check")
async def check_ledger(request: Request) -> Response:
    """Start a check now, rather than within the hour."""
    await read_form(request)
    parts = parts_of(request)
    try:
        await asyncio.wait_for(parts.temporal.schedules.check_ledger_now(), PROBE_SECONDS)
    except (TimeoutError, TemporalAwayError):
        return redirect("/admin/system", "ledger_check_not_started")
    await parts.database.write(
        audit.add_entry,
        action=Act.LEDGER_CHECK_STARTED,
        operator_id=visitor_of(request).account_id,
        account_id=None,
        details={},
        now=datetime.now(UTC),
    )
    return redirect("/admin/system", "ledger_check_started")
