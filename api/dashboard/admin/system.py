"""How the service stands, asked of each of its parts at once, and the check of its ledger.

A part that does not answer in time holds up nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from itertools import zip_longest
from typing import Any, Generic, TypeVar

from fastapi import APIRouter, Request, Response

from api.dashboard.rendering import page, redirect
from api.parts import ApiParts, Parts
from api.routes import AccountId
from domain.counts import count_jobs
from domain.operation import audit
from domain.operation.audit import Act
from engines.catalogue import OFFERED
from gateway.calls import TemporalAwayError
from gateway.queues import QUEUES, queue_state
from gateway.schedules import SCHEDULES
from runtime.object_store import waiting_at_most
from workflows.queues import CPU_QUEUE, GPU_QUEUE

PROBE_SECONDS = 1.0

Value = TypeVar("Value")

router = APIRouter()


@dataclass(frozen=True)
class Answer(Generic[Value]):
    """What a part said, or why it said nothing."""

    value: Value | None = None
    away: str | None = None


async def system_state(parts: ApiParts) -> dict[str, Any]:
    """What the parts, queues and schedules said, asked all at once."""
    async with asyncio.TaskGroup() as asking:
        database = asking.create_task(ask(parts.database.ping()))
        with waiting_at_most(PROBE_SECONDS):
            store = asking.create_task(ask(parts.store.ping()))
        temporal = asking.create_task(ask(parts.temporal.check()))
        counts = asking.create_task(ask(parts.database.read(count_jobs, now=datetime.now(UTC))))
        clockwork = asking.create_task(ask(parts.temporal.schedules.states()))
        asked = {name: asking.create_task(ask(queue_state(parts.temporal.client, *name))) for name in QUEUES}
    schedules, ledger = clockwork.result().value or ([], None)
    away = clockwork.result().away
    queues = {name: told.result() for name, told in asked.items()}
    return {
        "database": database.result(),
        "store": store.result(),
        "temporal": temporal.result(),
        "counts": counts.result(),
        "queues": [(*name, told) for name, told in queues.items()],
        "schedules": [(each.name, Answer(state, away)) for each, state in zip_longest(SCHEDULES, schedules)],
        "ledger": Answer(ledger, away),
        "builds": [("cpu", queues[CPU_QUEUE, "workflow"]), ("gpu", queues[GPU_QUEUE, "activity"])],
    }


async def ask(question: Coroutine[Any, Any, Value]) -> Answer[Value]:
    """What comes of it within `PROBE_SECONDS`; whatever goes wrong is the answer."""
    try:
        return Answer(value=await asyncio.wait_for(question, PROBE_SECONDS))
    except TimeoutError:
        return Answer(away=f"no answer within {PROBE_SECONDS:g} s")
    except Exception as error:  # noqa: BLE001  # the page tells it, and is there for that
        return Answer(away=type(error).__name__)


@router.get("/admin/system")
async def show_system(request: Request, parts: Parts) -> Response:
    """Parts, queues, schedules, builds, engines, and what the ledger's last check found."""
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
async def check_ledger(parts: Parts, operator_id: AccountId) -> Response:
    """Start a check now, rather than within the hour."""
    try:
        await asyncio.wait_for(parts.temporal.schedules.check_ledger_now(), PROBE_SECONDS)
    except (TimeoutError, TemporalAwayError):
        return redirect("/admin/system", "ledger_check_not_started")
    await parts.database.write(
        audit.add_entry,
        action=Act.LEDGER_CHECK_STARTED,
        operator_id=operator_id,
        account_id=None,
        details={},
        now=datetime.now(UTC),
    )
    return redirect("/admin/system", "ledger_check_started")
