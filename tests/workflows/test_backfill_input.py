"""What a backfill refuses, on a real server with the steps played."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ActivityError, ApplicationError

from tests.workflows.backfill_scene import Scene
from workflows.queues import CPU_QUEUE


async def failure(play: Scene, workflow_id: str, argument: Any) -> BaseException:
    async with play.workers():
        handle = await play.client.start_workflow(
            "BackfillWorkflow", argument, id=workflow_id, task_queue=CPU_QUEUE, execution_timeout=timedelta(minutes=5)
        )
        with pytest.raises(WorkflowFailureError) as failed:
            await asyncio.wait_for(handle.result(), 20)
    cause = failed.value.cause
    return cause.cause if isinstance(cause, ActivityError) and cause.cause else cause


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ({"account": "a", "concurency": 4}, "concurency: not a field of a backfill"),
        ({"account": "a", "concurrency": 0}, "concurrency"),
        ({"items": []}, "account"),
        ({"account": "a", "items": [{"key": "x", "catgory": "upper_body"}]}, "items.0.catgory"),
        ({"account": "a", "items": [{"key": "x", "category": "hat"}]}, "items.0.category"),
        ({"account": "a", "items": [{"garmentCategory": "x" * 60}] * 1000}, "put the items into a manifest"),
        ("not an object", "BackfillInput"),
    ],
)
async def test_bad_input_fails_at_once_and_names_the_field(
    scene: Callable[..., Scene], argument: Any, said: str
) -> None:
    play = scene(0)
    assert said in str(await failure(play, play.id, argument))


async def test_an_id_that_could_not_be_a_folder_is_refused(scene: Callable[..., Scene]) -> None:
    play = scene(0)
    play.id = f"a folder/{uuid.uuid4().hex}"
    assert "the workflow id names the backfill" in str(await failure(play, play.id, {"account": "a"}))


async def test_what_planning_refuses_is_the_failure_of_the_run(scene: Callable[..., Scene]) -> None:
    play = scene(0)
    play.warehouse.plan_error = ApplicationError(
        "row 3: person: is missing.", type="backfill_invalid", non_retryable=True
    )
    assert "row 3: person: is missing." in str(await failure(play, play.id, {"account": "a"}))
