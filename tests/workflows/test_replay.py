"""Runs that began under an older version of the code go on under this one."""

from __future__ import annotations

import asyncio

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from tests.workflows.record_histories import CASES, FOLDER
from workflows import steps
from workflows.contracts import SegmentPersonInput, TryOnInput, TryOnOutcome
from workflows.tryon import TryOnWorkflow

HISTORIES = sorted(FOLDER.glob("*.json"))


def history(name: str) -> WorkflowHistory:
    return WorkflowHistory.from_json(f"tryon-{name}", (FOLDER / name).read_text())


async def replay(name: str, *workflows: type) -> None:
    replayer = Replayer(workflows=list(workflows), data_converter=pydantic_data_converter)
    await replayer.replay_workflow(history(name))


@pytest.mark.parametrize("name", [path.name for path in HISTORIES])
async def test_a_saved_history_replays(name: str) -> None:
    await replay(name, TryOnWorkflow)


def test_every_case_is_saved() -> None:
    assert {path.stem.partition("-")[2] for path in HISTORIES} >= CASES.keys()


@workflow.defn(name="TryOnWorkflow", sandboxed=False)
class WorkflowInAnotherOrder:
    """The same name, other commands."""

    @workflow.run
    async def run(self, job: TryOnInput) -> TryOnOutcome:
        await asyncio.sleep(1)
        await steps.SEGMENT_PERSON.run(SegmentPersonInput(job_id=job.job_id, person=job.person))
        return TryOnOutcome(status="completed")


async def test_a_workflow_whose_commands_changed_does_not_replay() -> None:
    with pytest.raises(NondeterminismError):
        await replay("0.1-single-completed.json", WorkflowInAnotherOrder)
