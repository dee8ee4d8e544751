"""The window, the pauses and the ends of a backfill, on a real server with the steps played."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from temporalio.client import WorkflowUpdateFailedError

from tests.workflows.backfill_scene import Scene
from workflows.backfills import window
from workflows.backfills.workflow import RECORDED_AT, BackfillWorkflow
from workflows.contracts import TryOnOutcome


async def test_every_item_is_done_once_within_the_window(scene: Callable[..., Scene]) -> None:
    play = scene(7)
    play.warehouse.done, play.warehouse.refused = {1}, {2}
    play.going_on.clear()
    async with play.workers():
        handle = await play.start(concurrency=2)
        await play.until(lambda: play.rendering == 2)
        play.going_on.set()
        report = await handle.result()
        assert (await play.state()).state == "completed"
    assert (report.status, report.total, report.completed, report.skipped, report.failed) == ("completed", 7, 5, 1, 1)
    assert play.most_rendering == 2
    assert play.warehouse.accepted == dict.fromkeys({0, 3, 4, 5, 6}, 1)
    assert play.warehouse.written == dict.fromkeys(range(7), 1)
    assert play.warehouse.outcomes[0].result == f"backfills/{play.id}/results/item-0.jpg"
    assert play.warehouse.outcomes[2].error_code == "product_not_found"


async def test_jobs_carry_the_backfills_priority_and_are_its_children(scene: Callable[..., Scene]) -> None:
    play = scene(1)
    async with play.workers():
        handle = await play.start(priority=5, deadline_seconds=77)
        await handle.result()
    children = [
        event.start_child_workflow_execution_initiated_event_attributes
        async for event in handle.fetch_history_events()
        if event.HasField("start_child_workflow_execution_initiated_event_attributes")
    ]
    assert [child.priority.priority_key for child in children] == [5]
    assert [child.priority.fairness_key for child in children] == ["an-account"]
    assert children[0].workflow_execution_timeout.seconds == 77 + 300


async def test_a_long_backfill_goes_on_in_new_runs(scene: Callable[..., Scene]) -> None:
    play = scene(window.ITEMS_A_RUN + 10)
    play.warehouse.refused = set(range(play.warehouse.total)) - {3, 205}
    async with play.workers():
        handle = await play.start(concurrency=32)
        first = (await handle.describe()).run_id
        report = await handle.result()
    assert (report.completed, report.failed) == (2, play.warehouse.total - 2)
    assert play.warehouse.written == dict.fromkeys(range(play.warehouse.total), 1)
    runs = [run.run_id async for run in play.client.list_workflows(f"WorkflowId = '{play.id}'") if run.run_id != first]
    assert len(runs) == 1
    history = await play.client.get_workflow_handle(play.id, run_id=first).fetch_history()
    assert len(history.events) < 10_000


async def test_without_generations_it_waits_and_goes_on_when_told(scene: Callable[..., Scene]) -> None:
    play = scene(4)
    play.warehouse.quota = 2
    async with play.workers():
        handle = await play.start(concurrency=2)
        await play.until(lambda: play.warehouse.statuses[-1:] == ["waiting"])
        state = await play.state()
        assert (state.reason, state.completed, state.in_flight) == ("volume_exhausted", 2, 0)
        play.warehouse.quota = 2
        await handle.signal(BackfillWorkflow.resume)
        report = await handle.result()
    assert (report.completed, report.failed) == (4, 0)
    assert "waiting" in play.warehouse.statuses


async def test_it_goes_on_by_itself_once_there_are_generations(
    scene: Callable[..., Scene], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window, "FIRST_WAIT", timedelta(seconds=1))
    play = scene(3)
    play.warehouse.quota = 0
    async with play.workers():
        handle = await play.start(concurrency=3)
        await play.until(lambda: sum(play.warehouse.asked.values()) >= 4)
        play.warehouse.quota = 3
        assert (await handle.result()).completed == 3
    assert play.warehouse.accepted == dict.fromkeys(range(3), 1)


async def test_of_an_erased_account_it_ends_and_writes_nothing_more(scene: Callable[..., Scene]) -> None:
    play = scene(3)
    play.warehouse.erased_from = 1
    async with play.workers():
        handle = await play.start(concurrency=1)
        report = await handle.result()
    assert (report.status, report.completed, report.not_started) == ("cancelled", 1, 2)
    assert (report.outcomes, play.warehouse.asked[2], play.warehouse.statuses) == (None, 0, [])


async def test_a_pause_lets_items_in_flight_end_and_takes_up_no_more(scene: Callable[..., Scene]) -> None:
    play = scene(5)
    play.going_on.clear()
    async with play.workers():
        handle = await play.start(concurrency=2)
        await play.until(lambda: play.rendering == 2)
        await handle.signal(BackfillWorkflow.pause)
        play.going_on.set()
        await play.until(lambda: play.warehouse.statuses[-1:] == ["paused"])
        state = await play.state()
        assert (state.state, state.completed, state.in_flight) == ("paused", 2, 0)
        await handle.signal(BackfillWorkflow.resume)
        assert (await handle.result()).completed == 5


async def test_the_window_can_be_changed_and_not_to_nonsense(scene: Callable[..., Scene]) -> None:
    play = scene(6)
    play.going_on.clear()
    async with play.workers():
        handle = await play.start(concurrency=1)
        await play.until(lambda: play.rendering == 1)
        with pytest.raises(WorkflowUpdateFailedError):
            await handle.execute_update(BackfillWorkflow.set_concurrency, 0)
        state = await handle.execute_update(BackfillWorkflow.set_concurrency, 3)
        assert state.concurrency == 3
        await play.until(lambda: play.rendering == 3)
        play.going_on.set()
        await handle.result()
    assert play.most_rendering == 3


@pytest.mark.parametrize("how", ["signal", "cancellation"])
async def test_cancelling_releases_what_is_in_flight(scene: Callable[..., Scene], how: str) -> None:
    play = scene(9)
    play.going_on.clear()
    async with play.workers():
        handle = await play.start(concurrency=2)
        await play.until(lambda: play.rendering == 2)
        if how == "signal":
            await handle.signal(BackfillWorkflow.cancel)
        else:
            await handle.cancel()
        report = await handle.result()
    assert (report.status, report.failed, report.not_started) == ("cancelled", 2, 7)
    assert play.released() == ["cancelled", "cancelled"]
    assert {outcome.error_code for outcome in play.warehouse.outcomes.values()} == {"cancelled"}


async def test_cancelling_while_outcomes_are_written_down_loses_none(scene: Callable[..., Scene]) -> None:
    play = scene(60)
    play.warehouse.refused = set(range(60))
    play.warehouse.recording.clear()
    async with play.workers():
        handle = await play.start(concurrency=1)
        await play.until(lambda: len(play.warehouse.asked) > RECORDED_AT)
        await handle.cancel()
        await play.until_state("cancelling")
        play.warehouse.recording.set()
        report = await handle.result()
    assert report.status == "cancelled"
    assert report.outcomes is not None
    assert len(play.warehouse.outcomes) == report.failed > RECORDED_AT


async def test_what_another_run_cancelled_is_done_anew(scene: Callable[..., Scene]) -> None:
    play = scene(1)
    play.warehouse.elsewhere = {0: "cancelled-there"}
    async with play.workers():
        report = await (await play.start()).result()
    assert report.completed == 1
    assert play.warehouse.accepted[0] == 1


async def test_what_another_run_completed_is_not_done_again(scene: Callable[..., Scene]) -> None:
    play = scene(1)
    play.warehouse.elsewhere = {0: "completed-there"}
    play.warehouse.ends["completed-there"] = TryOnOutcome(status="completed")
    play.warehouse.done = {0}
    async with play.workers():
        report = await (await play.start()).result()
    assert (report.skipped, play.warehouse.accepted[0]) == (1, 0)


async def test_another_try_may_have_to_wait_for_generations(scene: Callable[..., Scene]) -> None:
    play = scene(1)
    play.failing, play.warehouse.quota = {0: 1}, 1
    async with play.workers():
        handle = await play.start()
        await play.until_state("waiting")
        play.warehouse.quota = 1
        await handle.signal(BackfillWorkflow.resume)
        report = await handle.result()
    assert (report.completed, play.warehouse.accepted[0]) == (1, 2)


async def test_terminating_it_cancels_its_jobs(scene: Callable[..., Scene]) -> None:
    play = scene(4)
    play.going_on.clear()
    async with play.workers():
        handle = await play.start(concurrency=2)
        await play.until(lambda: play.rendering == 2)
        await handle.terminate()
        await play.until(lambda: play.released() == ["cancelled", "cancelled"])


@pytest.mark.parametrize(("failures", "status", "tries"), [(2, "completed", 3), (3, "failed", 3)])
async def test_an_item_that_a_fault_of_ours_failed_is_tried_again(
    scene: Callable[..., Scene], failures: int, status: str, tries: int
) -> None:
    play = scene(1)
    play.failing = {0: failures}
    async with play.workers():
        await (await play.start()).result()
    assert play.warehouse.outcomes[0].status == status
    assert play.warehouse.accepted[0] == tries


async def test_a_job_that_was_terminated_ends_as_its_row_says(scene: Callable[..., Scene]) -> None:
    play = scene(1)
    play.going_on.clear()
    async with play.workers():
        handle = await play.start()
        await play.until(lambda: play.rendering == 1)
        (job_id,) = play.warehouse.numbers
        play.warehouse.ends[job_id] = TryOnOutcome(status="completed")
        await play.client.get_workflow_handle(f"tryon-{job_id}").terminate()
        report = await handle.result()
    assert report.completed == 1


async def test_a_dry_run_begins_nothing(scene: Callable[..., Scene]) -> None:
    play = scene(3)
    async with play.workers():
        report = await (await play.start(dry_run=True)).result()
    assert (report.status, report.not_started) == ("checked", 3)
    assert report.plan is not None
    assert not play.warehouse.asked
