"""`EraseAccountWorkflow`: what comes after what, and that one run at a time works on an account."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.worker import Worker

from gateway.temporal import TemporalGateway
from workflows import steps
from workflows.accounts import EraseAccountWorkflow
from workflows.contracts import EraseAccountInput, ErasedAccount, ErasureReport
from workflows.queues import CPU_QUEUE, erasure_workflow_id
from workflows.steps import Step

END, DELETE, FORGET = steps.END_ACCOUNT_RUNS, steps.DELETE_ACCOUNT_OBJECTS, steps.FORGET_ACCOUNT_ROWS
REPORT = ErasureReport(cancelled=1, deleted=10, forgotten=100)


class FakeErasing:
    """The steps, which note that they were asked, and fail as often as they are told to."""

    def __init__(self, account_id: str, failures: dict[str, int] | None = None) -> None:
        self.names: list[str] = []
        self._account_id = account_id
        self._failures = failures or {}

    def activities(self) -> list[Callable[..., Any]]:
        return [self._fake(step) for step in (END, DELETE, FORGET)]

    def _fake(self, step: Step[ErasedAccount, ErasureReport]) -> Callable[..., Any]:
        @activity.defn(name=step.name)
        async def fake(request: ErasedAccount) -> ErasureReport:
            if request.account_id == self._account_id:
                self.names.append(step.name)
                if self._failures.get(step.name, 0) > 0:
                    self._failures[step.name] -= 1
                    raise ApplicationError("away", type="ObjectStoreUnavailableError")
            return REPORT

        return fake


@pytest.fixture
def erasure() -> EraseAccountInput:
    return EraseAccountInput(account_id=str(uuid.uuid4()), aftermath_seconds=1)


@asynccontextmanager
async def working(temporal: Client, fakes: FakeErasing) -> AsyncIterator[None]:
    async with Worker(temporal, task_queue=CPU_QUEUE, workflows=[EraseAccountWorkflow], activities=fakes.activities()):
        yield


async def report_of(temporal: Client, erasure: EraseAccountInput) -> ErasureReport:
    handle = temporal.get_workflow_handle_for(EraseAccountWorkflow.run, erasure_workflow_id(erasure.account_id))
    return await handle.result()


async def test_pictures_go_twice_and_rows_last(temporal: Client, erasure: EraseAccountInput) -> None:
    fakes = FakeErasing(erasure.account_id)
    async with working(temporal, fakes):
        await TemporalGateway(temporal).erase_account(erasure)
        assert await report_of(temporal, erasure) == ErasureReport(cancelled=2, deleted=20, forgotten=100)
    assert fakes.names == [END.name, DELETE.name, END.name, DELETE.name, FORGET.name]


async def test_what_is_away_delays_it(temporal: Client, erasure: EraseAccountInput) -> None:
    fakes = FakeErasing(erasure.account_id, {DELETE.name: 2})
    async with working(temporal, fakes):
        await TemporalGateway(temporal).erase_account(erasure)
        await report_of(temporal, erasure)
    assert fakes.names.count(DELETE.name) == 4
    assert fakes.names[-1] == FORGET.name


async def test_one_run_at_a_time_and_another_once_it_has_ended(temporal: Client, erasure: EraseAccountInput) -> None:
    fakes = FakeErasing(erasure.account_id)
    for _ in range(3):
        await TemporalGateway(temporal).erase_account(erasure)
    async with working(temporal, fakes):
        await report_of(temporal, erasure)
        assert fakes.names.count(FORGET.name) == 1
        await TemporalGateway(temporal).erase_account(erasure)
        await report_of(temporal, erasure)
    assert fakes.names.count(FORGET.name) == 2
