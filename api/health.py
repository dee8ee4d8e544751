"""``/healthz``: this process is alive. ``/readyz``: it can accept jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict

from api.openapi.answers import success
from api.parts import parts_of

router = APIRouter(tags=["health"])

PROBE_SECONDS = 1.0

Standing = Literal["ok", "unavailable"]


class Alive(BaseModel):
    """The process is alive."""

    model_config = ConfigDict(extra="forbid")

    status: Literal["ok"]


class PartsStanding(BaseModel):
    """`ok`, or why not, for what the service needs."""

    model_config = ConfigDict(extra="forbid")

    database: str
    objectStore: str  # noqa: N815  # as it is on the wire
    temporal: str


class Ready(BaseModel):
    """Whether jobs can be accepted."""

    model_config = ConfigDict(extra="forbid")

    status: Standing
    parts: PartsStanding


ALL_WELL = {"status": "ok", "parts": {"database": "ok", "objectStore": "ok", "temporal": "ok"}}
STORE_AWAY = {
    "status": "unavailable",
    "parts": {"database": "ok", "objectStore": "unreachable (TimeoutError)", "temporal": "ok"},
}


async def _state_of(probe: Awaitable[object]) -> str:
    try:
        await asyncio.wait_for(probe, PROBE_SECONDS)
    except Exception as error:  # noqa: BLE001  # whatever it is, the part is not healthy
        return f"unreachable ({type(error).__name__})"
    return "ok"


@router.get(
    "/healthz",
    operation_id="healthz",
    summary="The process is alive",
    response_description="It is.",
    responses={200: success(examples={"alive": {"status": "ok"}})},
)
async def healthz() -> Alive:
    """Answer without touching any other part."""
    return Alive(status="ok")


@router.get(
    "/readyz",
    operation_id="readyz",
    summary="Jobs can be accepted",
    response_model=Ready,
    response_description="They can.",
    responses={
        200: success(examples={"all is well": ALL_WELL}),
        503: success(model=Ready, description="They cannot.", examples={"a part is away": STORE_AWAY}),
    },
)
async def readyz(request: Request) -> JSONResponse:
    """Ask the database, the object store and Temporal.

    Temporal may be away: jobs are accepted without it and started once it is back.
    """
    parts = parts_of(request)
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
