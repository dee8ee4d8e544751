"""``/healthz``: this process is alive. ``/readyz``: it can accept jobs."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse
from sqlalchemy import make_url

from api.json_body import Answer
from api.openapi import success
from api.parts import ApiParts
from runtime.embedded.servers import DiskFullError, check_room
from runtime.object_store import waiting_at_most
from runtime.settings import EMBEDDED_FILE, Settings

router = APIRouter(tags=["health"])

PROBE_SECONDS = 1.0

ASK_SECONDS = 1.0
"""Between two looks at the parts, however many ask how they stand."""


class Alive(Answer):
    """The process is alive."""

    status: Literal["ok"]


class PartsStanding(Answer):
    """`ok`, or why not, for what the service needs."""

    database: str
    object_store: str
    temporal: str
    rate_limit: str
    disk: str


class Ready(Answer):
    """Whether jobs can be accepted."""

    status: Literal["ok", "unavailable"]
    parts: PartsStanding


PARTS_WELL = {"database": "ok", "objectStore": "ok", "temporal": "ok", "rateLimit": "ok", "disk": "ok"}
ALL_WELL = {"status": "ok", "parts": PARTS_WELL}
STORE_AWAY = {"status": "unavailable", "parts": {**PARTS_WELL, "objectStore": "unreachable (TimeoutError)"}}


class Readiness:
    """How the parts stand. They are asked at most once a second, and by one at a time, however many want to know.

    Attributes:
        leaving: Whether the process was told to stop.
    """

    def __init__(self, parts: ApiParts) -> None:
        self._parts = parts
        self._folders = local_folders(parts.settings)
        self._asking: asyncio.Task[PartsStanding] | None = None
        self._asked_at = 0.0
        self.leaving = False

    async def standing(self) -> PartsStanding:
        """As it was found out within the last second."""
        if self._asking is None or (self._asking.done() and time.monotonic() - self._asked_at >= ASK_SECONDS):
            self._asked_at = time.monotonic()
            # In a context of its own: it is no part of the request that happens to come first.
            self._asking = asyncio.create_task(self._ask(), context=contextvars.Context())
        return await asyncio.shield(self._asking)

    def leave(self) -> None:
        """Be unavailable from now on: the process was told to stop."""
        self.leaving = True

    async def close(self) -> None:
        """Wait for what is under way."""
        if self._asking is not None:
            await asyncio.wait([self._asking])

    async def _ask(self) -> PartsStanding:
        with waiting_at_most(PROBE_SECONDS):
            database, store, temporal, rate_limit = await asyncio.gather(
                _state_of(self._parts.database.ping()),
                _state_of(self._parts.store.ping()),
                _state_of(self._parts.temporal.check()),
                _state_of(self._parts.rate_limiter.log.ping()),
            )
        return PartsStanding(
            database=database,
            object_store=store,
            temporal=temporal,
            rate_limit=rate_limit,
            disk=_room_in(self._folders),
        )


def local_folders(settings: Settings) -> list[Path]:
    """Folders of this machine that accepting a job writes into: the SQLite file's, and the embedded stack's."""
    database, data_dir = make_url(settings.database.url), settings.stack.data_dir
    of_sqlite = database.get_backend_name() == "sqlite" and database.database
    folders = [Path(database.database or "").parent] if of_sqlite else []
    folders += [data_dir] if (data_dir / EMBEDDED_FILE).is_file() else []
    return [folder for folder in folders if folder.is_dir()]


def _room_in(folders: list[Path]) -> str:
    try:
        for folder in folders:
            check_room(folder)
    except DiskFullError:  # its sentence names the folder, and anybody may ask
        return "full"
    except OSError as error:
        return f"unreachable ({type(error).__name__})"
    return "ok"


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
    """Ask all parts: the object store has to take an object, and the disk needs room.

    Temporal may be away: jobs are accepted without it and started once it is back. Parts are asked at most once a
    second; a caller who asks more often is told the same again. A process that was told to stop is unavailable, however
    its parts stand.
    """
    readiness: Readiness = request.app.state.readiness
    parts = await readiness.standing()
    needed = (parts.database, parts.object_store, parts.rate_limit, parts.disk)
    ready = all(part == "ok" for part in needed) and not readiness.leaving
    return JSONResponse(
        {"status": "ok" if ready else "unavailable", "parts": parts.model_dump()}, 200 if ready else 503
    )
