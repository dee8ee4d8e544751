from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

from activities.failures import failure
from domain.errors import CATALOGUE
from gateway.calls import RunFailedError
from gateway.temporal import TemporalGateway
from imaging.errors import ImageError, ImageErrorCode
from runtime.object_store import ObjectStoreUnavailableError
from tests.workflows.check_fakes import SHADOWS, FakeCheckSteps, check_input
from tests.workflows.fakes import mistake_of_ours
from workflows import check as check_module
from workflows.check import CheckWorkflow
from workflows.contracts import CheckInput, Finding, Findings, RehearsedCheck
from workflows.queues import CHECK_PRIORITY, CPU_QUEUE, GPU_BULK_QUEUE, GPU_QUEUE
from workflows.steps import AWAY


@asynccontextmanager
async def running(temporal: Client, fakes: FakeCheckSteps) -> AsyncIterator[None]:
    cpu = Worker(temporal, task_queue=CPU_QUEUE, workflows=[CheckWorkflow], activities=[fakes.fetch, fakes.clean_up])
    gpu = Worker(temporal, task_queue=GPU_BULK_QUEUE, activities=[fakes.examine])
    async with cpu, gpu:
        yield


async def found(temporal: Client, check: CheckInput, seconds: float = 30) -> Findings:
    return await TemporalGateway(temporal).check_pictures(check, seconds)


def names(fakes: FakeCheckSteps) -> list[str]:
    return [name for name, _ in fakes.calls]


async def test_a_check_looks_at_what_was_fetched_behind_all_jobs_and_keeps_nothing(temporal: Client) -> None:
    seen: list[tuple[str, int | None, str | None]] = []

    async def note(name: str, argument: Any) -> None:
        info = activity.info()
        seen.append((info.task_queue, info.priority.priority_key, info.priority.fairness_key))

    fakes = FakeCheckSteps(note)
    check = check_input(uuid.uuid4().hex, garments=2)
    async with running(temporal, fakes):
        assert await found(temporal, check) == Findings(findings=[SHADOWS])
    assert names(fakes) == ["fetch", "fetch", "examine", "clean_up"]
    (_, fetch), *_, (_, examine), (_, cleaned) = fakes.calls
    assert fetch.folder == f"checks/an-account/{check.check_id}/"
    assert fetch.longest_download_seconds == check_module.LONGEST_DOWNLOAD
    assert (examine.person, [each.index for each in examine.garments]) == (check.person, [0, 1])
    assert (cleaned.account_id, cleaned.check_id) == ("an-account", check.check_id)
    assert seen[2] == (GPU_BULK_QUEUE, CHECK_PRIORITY, "an-account")
    assert GPU_QUEUE not in {queue for queue, *_ in seen}


@pytest.mark.parametrize("code", [ImageErrorCode.URL_NOT_AN_IMAGE, ImageErrorCode.URL_UNREACHABLE])
async def test_a_picture_that_cannot_be_had_is_found_beside_the_rest(temporal: Client, code: ImageErrorCode) -> None:
    async def refuse_the_first(name: str, argument: Any) -> None:
        if name == "fetch" and argument.garment.index == 0:
            raise ImageError(code, "no picture there")

    fakes = FakeCheckSteps(refuse_the_first)
    async with running(temporal, fakes):
        findings = await found(temporal, check_input(uuid.uuid4().hex, garments=2))
    assert findings.findings == [Finding(code=code, garment=0), SHADOWS]
    assert [each.index for name, argument in fakes.calls if name == "examine" for each in argument.garments] == [1]
    assert CATALOGUE[code].status is None


async def test_what_takes_long_here_is_not_the_shops_fault(temporal: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_module, "LONGEST_FETCH", 0.2)

    async def hang(name: str, argument: Any) -> None:
        while name == "fetch":
            activity.heartbeat()
            await asyncio.sleep(0.05)

    fakes = FakeCheckSteps(hang)
    async with running(temporal, fakes):
        with pytest.raises(RunFailedError) as raised:
            await found(temporal, check_input(uuid.uuid4().hex))
    assert raised.value.code is None
    assert names(fakes) == ["fetch", "clean_up"]


async def test_nothing_is_cleaned_up_before_every_fetch_has_ended(temporal: Client) -> None:
    async def fail_or_store(name: str, argument: Any) -> None:
        if name == "fetch" and argument.garment.index == 0:
            raise failure("generation_failed", "missing object")
        if name == "fetch":
            try:
                while True:
                    activity.heartbeat()
                    await asyncio.sleep(0.05)
            finally:
                fakes.calls.append(("stored", None))

    fakes = FakeCheckSteps(fail_or_store)
    async with running(temporal, fakes):
        with pytest.raises(RunFailedError):
            await found(temporal, check_input(uuid.uuid4().hex, garments=2))
    assert names(fakes)[-2:] == ["stored", "clean_up"]


@pytest.mark.parametrize(
    ("step", "error", "code"),
    [
        ("fetch", failure("generation_failed", "missing object"), "generation_failed"),
        ("examine", mistake_of_ours(), "ValidationError"),
        ("fetch", ObjectStoreUnavailableError("refused"), AWAY),
        ("examine", ObjectStoreUnavailableError("refused"), AWAY),
    ],
)
async def test_a_fault_of_ours_is_no_finding(temporal: Client, step: str, error: Exception, code: str) -> None:
    async def fail(name: str, argument: Any) -> None:
        if name == step:
            raise error

    fakes = FakeCheckSteps(fail)
    async with running(temporal, fakes):
        with pytest.raises(RunFailedError) as raised:
            await found(temporal, check_input(uuid.uuid4().hex))
    assert raised.value.code == code
    assert names(fakes)[-1] == "clean_up"


async def test_what_a_caller_no_longer_waits_for_is_ended_and_leaves_nothing(temporal: Client) -> None:
    cleaned = asyncio.Event()

    async def wait(name: str, argument: Any) -> None:
        if name == "clean_up":
            cleaned.set()
        while name == "examine":
            activity.heartbeat()
            await asyncio.sleep(0.05)

    async with running(temporal, FakeCheckSteps(wait)):
        with pytest.raises(TimeoutError):
            await found(temporal, check_input(uuid.uuid4().hex), seconds=0.5)
        await asyncio.wait_for(cleaned.wait(), 20)


async def test_a_rehearsal_asks_nobody(temporal: Client) -> None:
    fakes = FakeCheckSteps()
    rehearsed = Finding(code="several_people")
    check = check_input(uuid.uuid4().hex, rehearsal=RehearsedCheck(findings=[rehearsed]))
    async with running(temporal, fakes):
        assert (await found(temporal, check)).findings == [rehearsed]
    assert names(fakes) == ["clean_up"]
