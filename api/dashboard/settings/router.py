"""The page of settings, and how long results are kept."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from api.dashboard.forms import read_form
from api.dashboard.rendering import redirect
from api.dashboard.settings import erasing, signing_in, watermark
from api.dashboard.settings.showing import show_settings
from api.dashboard.visitor import visitor_of
from api.parts import parts_of
from domain import accounts

AS_THE_SERVICE = "service"
"""The choice of whatever the service keeps them for, now and later."""

router = APIRouter()


@router.get("/settings")
async def settings(request: Request) -> Response:
    """Everything that can be set."""
    return await show_settings(request)


@router.post("/settings/retention")
async def set_retention(request: Request) -> Response:
    """Keep results of jobs that end from now on for so long."""
    form = await read_form(request)
    parts = parts_of(request)
    chosen = form.text("result_ttl")
    try:
        await parts.database.write(
            accounts.set_result_ttl,
            account_id=visitor_of(request).account_id,
            seconds=None if chosen == AS_THE_SERVICE else int(chosen),
            longest_seconds=parts.settings.jobs.result_ttl_seconds,
        )
    except ValueError:
        return await show_settings(request, 422, errors={"result_ttl": "Choose a time from the list."})
    return redirect("/settings", "retention_saved")


for part in (watermark, signing_in, erasing):
    router.include_router(part.router)
