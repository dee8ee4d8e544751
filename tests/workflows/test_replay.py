"""Runs that began under an older version of the code go on under this one."""

from __future__ import annotations

import asyncio
import json

import pytest
from temporalio import workflow
from temporalio.client import WorkflowHistory
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.worker import Replayer
from temporalio.workflow import NondeterminismError

from tests.workflows.recording.cases import CASES, UNRELEASED, released
from tests.workflows.recording.saved import Saved, all_saved, newest, without_machine
from worker_cpu.main import WORKFLOWS
from workflows import steps
from workflows.contracts import SegmentPersonInput, SweepInput, TryOnInput, TryOnOutcome
from workflows.tryon import TryOnWorkflow


async def replay(saved: Saved, *workflows: type) -> None:
    replayer = Replayer(workflows=list(workflows), data_converter=pydantic_data_converter)
    await replayer.replay_workflow(WorkflowHistory.from_json(saved.name, saved.read()))


@pytest.mark.parametrize("saved", all_saved(), ids=lambda saved: f"{saved.workflow}/{saved.name}")
async def test_a_saved_history_replays(saved: Saved) -> None:
    await replay(saved, *WORKFLOWS)


@pytest.mark.parametrize("name", released())
def test_every_released_workflow_has_cases(name: str) -> None:
    assert name in {case.workflow for case in CASES}, (
        f"add a module with cases of {name} beside tests/workflows/recording/sweep_cases.py and its CASES to "
        "cases.py, then record them: python -m tests.workflows.recording VERSION"
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.workflow}/{case.name}")
def test_every_case_is_saved(case: object) -> None:
    assert newest(case.workflow, case.name), "python -m tests.workflows.recording VERSION"


def test_what_was_never_released_has_no_histories() -> None:
    assert not UNRELEASED & {saved.workflow for saved in all_saved()}


@pytest.mark.parametrize("saved", all_saved(), ids=lambda saved: f"{saved.workflow}/{saved.name}")
def test_a_saved_history_does_not_say_where_it_was_recorded(saved: Saved) -> None:
    assert without_machine(saved.read()) == saved.read()
    assert "/site-packages/" not in json.dumps(saved.read())


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
        await replay(newest("TryOnWorkflow", "single-completed")[0], WorkflowInAnotherOrder)


class OneStepMore(TryOnWorkflow):
    """What a change adds at the end, for runs that begin after it; or for all, where somebody forgot."""

    forgotten = False

    async def _clean_up(self, job: TryOnInput) -> None:
        await super()._clean_up(job)
        if self.forgotten or workflow.patched("purge-at-once"):
            await steps.PURGE.run(SweepInput())


@workflow.defn(name="TryOnWorkflow", sandboxed=False)
class PatchedWorkflow(OneStepMore):
    @workflow.init
    def __init__(self, job: TryOnInput) -> None:
        super().__init__(job)

    @workflow.run
    async def run(self, job: TryOnInput) -> TryOnOutcome:
        return await super().run(job)


@workflow.defn(name="TryOnWorkflow", sandboxed=False)
class UnpatchedWorkflow(PatchedWorkflow):
    forgotten = True

    @workflow.init
    def __init__(self, job: TryOnInput) -> None:
        super().__init__(job)

    @workflow.run
    async def run(self, job: TryOnInput) -> TryOnOutcome:
        return await super().run(job)


async def test_a_step_more_behind_a_patch_leaves_open_runs_alone() -> None:
    saved = newest("TryOnWorkflow", "single-completed")[0]
    await replay(saved, PatchedWorkflow)
    with pytest.raises(NondeterminismError):
        await replay(saved, UnpatchedWorkflow)
