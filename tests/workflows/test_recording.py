"""The recorder of histories can be relied upon."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from temporalio import workflow
from temporalio.client import Client, WorkflowHandle

from tests.workflows.recording import play as playing
from tests.workflows.recording.case import Case
from tests.workflows.recording.play import play
from tests.workflows.recording.saved import all_saved, commands_of, newest, save
from workflows.queues import CPU_QUEUE


def event(kind: str, **attributes: Any) -> dict[str, Any]:
    return {"eventType": f"EVENT_TYPE_{kind}", "anEventAttributes": attributes}


def test_commands_are_what_a_workflow_asked_for() -> None:
    asked = event("ACTIVITY_TASK_SCHEDULED", workflowTaskCompletedEventId="4", taskQueue={"name": "q"}, input={})
    history = {"events": [event("WORKFLOW_TASK_STARTED", identity="x"), asked, {"eventType": "EVENT_TYPE_BARE"}]}
    assert commands_of(history) == [{"command": "ACTIVITY_TASK_SCHEDULED", "taskQueue": {"name": "q"}}]


@workflow.defn(name="TwiceWorkflow", sandboxed=False)
class TwiceWorkflow:
    """Continues as new once."""

    @workflow.run
    async def run(self, times: int) -> int:
        if times:
            workflow.continue_as_new(times - 1)
        return times


async def test_runs_that_a_run_continues_as_are_saved_too(
    temporal: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def start(client: Client) -> WorkflowHandle[Any, Any]:
        return await client.start_workflow("TwiceWorkflow", 1, id=uuid.uuid4().hex, task_queue=CPU_QUEUE)

    monkeypatch.setattr(playing, "WORKFLOWS", [TwiceWorkflow])
    runs = await play(temporal, Case("TwiceWorkflow", "twice", dict, start))
    save("TwiceWorkflow", "twice", "0.9", runs, tmp_path)
    save("TwiceWorkflow", "twice", "0.10", runs, tmp_path)
    saved = newest("TwiceWorkflow", "twice", tmp_path)
    assert [found.path.name for found in saved] == ["0.10-twice.json.gz", "0.10-twice.2.json.gz"]
    asked = [commands_of(found.read())[-1]["command"] for found in saved]
    assert asked == ["WORKFLOW_EXECUTION_CONTINUED_AS_NEW", "WORKFLOW_EXECUTION_COMPLETED"]


def test_what_was_released_is_never_written_over(tmp_path: Path) -> None:
    save("AWorkflow", "a-case", "1.0", [{"events": []}], tmp_path)
    with pytest.raises(FileExistsError):
        save("AWorkflow", "a-case", "1.0", [{"events": []}], tmp_path)
    assert [saved.case for saved in all_saved(tmp_path)] == ["a-case"]


def test_a_history_names_no_machine(tmp_path: Path) -> None:
    run = {"events": [{"identity": "4711@workstation.example", "stackTrace": "File /home/somebody/x.py"}]}
    save("AWorkflow", "a-case", "1.0", [run], tmp_path)
    (saved,) = all_saved(tmp_path)
    assert saved.read() == {"events": [{"identity": "recorder"}]}
