"""Checks of pictures: of one garment and several, with a picture that cannot be had, with a fault, and of test keys."""

from __future__ import annotations

import uuid
from typing import Any

from temporalio.client import Client, WorkflowHandle

from imaging.errors import ImageError, ImageErrorCode
from tests.workflows.check_fakes import Before, FakeCheckSteps, check_input
from tests.workflows.fakes import mistake_of_ours
from tests.workflows.recording.case import Activities, Case
from workflows.check import LONGEST_CHECK, CheckWorkflow
from workflows.contracts import Finding, RehearsedCheck
from workflows.queues import CPU_QUEUE, GPU_BULK_QUEUE


async def refuse_the_picture(step: str, argument: Any) -> None:
    if step == "fetch":
        raise ImageError(ImageErrorCode.URL_NOT_AN_IMAGE, "a page")


async def fail_unexpectedly(step: str, argument: Any) -> None:
    if step == "examine":
        raise mistake_of_ours()


def case(name: str, before: Before | None = None, **fields: Any) -> Case:
    """A check with these fields, whose steps do ``before`` first."""

    def activities() -> Activities:
        fakes = FakeCheckSteps(before)
        return {CPU_QUEUE: [fakes.fetch, fakes.clean_up], GPU_BULK_QUEUE: [fakes.examine]}

    async def start(client: Client) -> WorkflowHandle[Any, Any]:
        check = check_input(uuid.uuid4().hex, **fields)
        return await client.start_workflow(
            CheckWorkflow.run, check, id=check.check_id, task_queue=CPU_QUEUE, execution_timeout=LONGEST_CHECK
        )

    return Case("CheckWorkflow", name, activities, start, in_order="garments" not in fields)


REHEARSED = RehearsedCheck(findings=[Finding(code="several_people")], delay_seconds=1)

CASES = (
    case("looked-at"),
    case("several-garments", garments=2),
    case("picture-refused", refuse_the_picture),
    case("failed-unexpectedly", fail_unexpectedly),
    case("rehearsed", rehearsal=REHEARSED),
)
