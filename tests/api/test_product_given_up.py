"""A registration whose caller was told 503 shall not take effect behind the caller's back, later on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from temporalio.client import Client, WorkflowHandle
from temporalio.service import RPCError, RPCStatusCode

from runtime.settings import Settings
from tests.api.catalogue import PRODUCTS, product
from tests.api.conftest import OpenApi

START = Client.start_workflow


async def slow_start(*args: Any, **options: Any) -> Any:
    """Temporal has started the run, and does not say so in time."""
    await START(*args, **options)
    await asyncio.sleep(60)


async def lost_start(*args: Any, **options: Any) -> Any:
    """Likewise, and the connection breaks."""
    await START(*args, **options)
    raise RPCError("connection reset", RPCStatusCode.UNAVAILABLE, b"")


async def lost_outcome(_run: WorkflowHandle[Any, Any]) -> Any:
    raise RPCError("connection reset", RPCStatusCode.UNAVAILABLE, b"")


@pytest.mark.parametrize(
    "fault",
    [
        (Client, "start_workflow", slow_start),
        (Client, "start_workflow", lost_start),
        (WorkflowHandle, "result", lost_outcome),
    ],
    ids=["slow start", "lost start", "lost outcome"],
)
async def test_a_run_that_may_have_begun_is_cancelled(
    open_api: OpenApi,
    idle_temporal: Client,
    monkeypatch: pytest.MonkeyPatch,
    fault: tuple[object, str, Callable[..., Any]],
) -> None:
    """No worker polls there, so what was started stays as it is."""
    monkeypatch.setattr(*fault)
    async with open_api(Settings(), idle_temporal) as api:
        answer = await api.post(product(), PRODUCTS)
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (503, "storage_unavailable")
    history = await idle_temporal.get_workflow_handle(
        await run_of(idle_temporal, api.caller.account_id)
    ).fetch_history()
    assert any(event.HasField("workflow_execution_cancel_requested_event_attributes") for event in history.events)


async def run_of(temporal: Client, account_id: object) -> str:
    """The account's only run, once the list has it."""
    query = f"TryOnAccount = '{account_id}'"
    async with asyncio.timeout(10):
        while not (runs := [run async for run in temporal.list_workflows(query)]):
            await asyncio.sleep(0.05)
    (only,) = runs
    return only.id


async def test_a_start_without_an_answer_leaves_the_uploads_to_the_run(
    open_api: OpenApi, idle_temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run may have saved a product that refers to it; what no product refers to is the sweep's."""
    monkeypatch.setattr(Client, "start_workflow", lost_start)
    async with open_api(Settings(), idle_temporal) as api:
        assert (await api.post(product(), PRODUCTS)).status_code == 503
        assert await api.store.list_keys("products/") != []
