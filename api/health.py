"""``/healthz``: this process is alive. ``/readyz``: it can accept jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from api.parts import ApiParts

router = APIRouter(tags=["health"])

PROBE_SECONDS = 1.0


async def _state_of(probe: Awaitable[object]) -> str:
    try:
        await asyncio.wait_for(probe, PROBE_SECONDS)
    except Exception as error:  # noqa: BLE001  # whatever it is, the part is not healthy
        return f"unreachable ({type(error).__name__})"
    return "ok"


@router.get("/healthz", operation_id="healthz", summary="The process is alive", response_description="It is.")
async def healthz() -> dict[str, str]:
    """Answer without touching any other part."""
    return {"status": "ok"}


@router.get(
    "/readyz",
    operation_id="readyz",
    summary="Jobs can be accepted",
    response_description="They can; 503 when they cannot.",
)
async def readyz(request: Request) -> JSONResponse:
    """Ask the database, the object store and Temporal.

    Temporal may be away: jobs are accepted without it and started once it is back.
    """
    parts: ApiParts = request.app.state.parts
    database, store, temporal = await asyncio.gather(
        _state_of(parts.database.ping()),
        _state_of(parts.store.ping()),
        _state_of(parts.temporal.service_client.check_health()),
    )
    ready = database == store == "ok"
    return JSONResponse(
        {
            "status": "ok" if ready else "unavailable",
            "parts": {"database": database, "objectStore": store, "temporal": temporal},
        },
        200 if ready else 503,
    )
