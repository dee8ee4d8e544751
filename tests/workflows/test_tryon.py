from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from temporalio.api.history.v1 import HistoryEvent
from temporalio.api.sdk.v1 import WorkflowMetadata
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.exceptions import ApplicationError
from temporalio.worker import Replayer

from domain.errors import CATALOGUE
from engines.errors import EngineError
from gateway.temporal import TemporalGateway
from runtime.object_store import ObjectStoreUnavailableError
from tests.workflows.conftest import RunningSteps
from tests.workflows.fakes import FakeSteps, mistake_of_ours, tryon_input
from workflows.contracts import RehearsalScript, TryOnOutcome
from workflows.queues import CPU_QUEUE, ENGINE_ATTRIBUTE, ERROR_ATTRIBUTE, STAGE_ATTRIBUTE
from workflows.steps import pause_while_away
from workflows.tryon import LARGEST_HERE_BYTES, TryOnWorkflow

COMPLETED = TryOnOutcome(status="completed", generation_ms=1)


def failing(step: str, error: Exception) -> FakeSteps:
    async def before(name: str) -> None:
        if name == step:
            raise error

    return FakeSteps(before)


def refusal(code: str, advice: str = "") -> EngineError:
    return EngineError(code, "because", advice=advice)


async def test_a_single_job_goes_through_every_step_in_order(running: RunningSteps) -> None:
    fakes = FakeSteps()
    async with running(fakes) as runs:
        assert await runs.outcome() == COMPLETED
    assert set(fakes.names[:2]) == {"fetch_garment", "segment_person"}
    assert fakes.names[2:] == ["render", "watermark", "settle", "clean_up"]


async def test_a_combo_renders_all_garments_at_once_in_the_callers_order(running: RunningSteps) -> None:
    fakes = FakeSteps()
    async with running(fakes) as runs:
        await runs.outcome(tryon_input(uuid.uuid4().hex, garments=4))
    assert fakes.names.count("fetch_garment") == 4
    assert fakes.names.count("render") == 1
    assert [garment.index for garment in fakes.input_of("render").garments] == [0, 1, 2, 3]


async def test_garments_and_person_are_prepared_side_by_side(running: RunningSteps) -> None:
    waiting = asyncio.Barrier(5)

    async def before(name: str) -> None:
        if name in ("fetch_garment", "segment_person"):
            await waiting.wait()  # passes only if all five are under way together

    async with running(FakeSteps(before)) as runs:
        assert await runs.outcome(tryon_input(uuid.uuid4().hex, garments=4)) == COMPLETED


@pytest.mark.parametrize("step", ["fetch_garment", "segment_person", "render", "watermark"])
async def test_a_refusal_in_any_step_releases_the_job(running: RunningSteps, step: str) -> None:
    fakes = failing(step, refusal("person_not_found"))
    async with running(fakes) as runs:
        outcome = await runs.outcome()
    assert outcome == TryOnOutcome(status="failed", error_code="person_not_found")
    assert fakes.names[-2:] == ["release", "clean_up"]
    assert "settle" not in fakes.names


@pytest.mark.parametrize("advice", ["Take your hands out of your pockets.", ""])
async def test_what_a_step_advises_is_passed_on(running: RunningSteps, advice: str) -> None:
    fakes = failing("render", refusal("pose_not_usable", advice))
    async with running(fakes) as runs:
        await runs.outcome()
    assert fakes.input_of("release").error_code == "pose_not_usable"
    assert fakes.input_of("release").error_advice == (advice or None)


async def test_advice_too_long_for_a_contract_is_cut(running: RunningSteps) -> None:
    fakes = failing("render", ApplicationError("because", "x" * 201, type="pose_not_usable", non_retryable=True))
    async with running(fakes) as runs:
        assert (await runs.outcome()).error_code == "pose_not_usable"
    assert fakes.input_of("release").error_advice == "x" * 200


async def test_a_mistake_of_ours_is_not_tried_again(running: RunningSteps) -> None:
    fakes = failing("render", mistake_of_ours())
    async with running(fakes) as runs:
        assert (await runs.outcome()).error_code == "generation_failed"
    assert fakes.names.count("render") == 1


async def test_a_passing_fault_is_tried_again(running: RunningSteps) -> None:
    failures = iter([RuntimeError("out of luck")])

    async def before(name: str) -> None:
        if name == "render":
            for error in failures:
                raise error

    fakes = FakeSteps(before)
    async with running(fakes) as runs:
        assert await runs.outcome() == COMPLETED
    assert fakes.names.count("render") == 2


@pytest.mark.parametrize(
    ("step", "error"),
    [
        pytest.param("segment_person", RuntimeError("disk is full"), id="any"),
        pytest.param("watermark", mistake_of_ours(), id="never tried again"),
        pytest.param("watermark", ApplicationError("of a library", "secret", non_retryable=True), id="untyped"),
    ],
)
async def test_a_fault_that_stays_ends_with_a_code_of_the_catalogue_and_is_kept_in_the_run(
    running: RunningSteps, caplog: pytest.LogCaptureFixture, step: str, error: Exception
) -> None:
    fakes = failing(step, error)
    async with running(fakes) as runs:
        run = await runs.start()
        assert await run.result() == TryOnOutcome(status="failed", error_code="generation_failed")
        description = await run.describe()
        shown = await run.query("__temporal_workflow_metadata", result_type=WorkflowMetadata)
    released = fakes.input_of("release")
    assert (released.error_code, released.error_advice) == ("generation_failed", None)
    assert description.typed_search_attributes[ERROR_ATTRIBUTE] == "generation_failed"
    fault = f"{type(error).__name__} in {step}"
    assert f"- fault: {fault}" in shown.current_details
    # Runs that other tests left behind may fail in this worker, too.
    told = [record for record in caplog.records if "fault" in record.__dict__]
    assert [(record.levelname, record.__dict__["fault"]) for record in told] == [("ERROR", fault)]


@pytest.mark.parametrize(
    ("step", "refusals", "run_version"),
    [
        ("fetch_garment", 2, 2),
        ("segment_person", 2, 2),
        ("render", 2, 2),
        ("watermark", 2, 2),
        ("rehearse", 2, 2),
        ("segment_person", 4, 1),
    ],
)
async def test_a_job_outlasts_a_store_that_is_away(
    running: RunningSteps, monkeypatch: pytest.MonkeyPatch, step: str, refusals: int, run_version: int
) -> None:
    failed = TryOnOutcome(status="failed", error_code="generation_failed")
    outcome = failed if run_version == 1 else COMPLETED  # as in release 0.5
    monkeypatch.setattr("activities.failures.AWAY_PAUSE", timedelta(milliseconds=10))
    refused = iter([ObjectStoreUnavailableError("refused")] * refusals)

    async def before(name: str) -> None:
        if name == step:
            for error in refused:
                raise error

    fakes = FakeSteps(before)
    rehearsal = RehearsalScript() if step == "rehearse" else None
    async with running(fakes) as runs:
        job = tryon_input(uuid.uuid4().hex, run_version=run_version, rehearsal=rehearsal)
        assert await runs.outcome(job) == outcome
    assert (fakes.names.count(step) == refusals + 1) == (outcome == COMPLETED)


async def test_a_steps_attempts_are_for_what_it_may_be_to_blame_for(
    running: RunningSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.failures.AWAY_PAUSE", timedelta(milliseconds=10))
    away, fault = ObjectStoreUnavailableError("refused"), RuntimeError("out of luck")
    failures = iter([*4 * [away], fault])  # it has four attempts

    async def before(name: str) -> None:
        if name == "segment_person":
            for error in failures:
                raise error

    async with running(FakeSteps(before)) as runs:
        assert await runs.outcome() == COMPLETED


async def test_a_store_that_stays_away_ends_the_job_at_its_deadline(
    running: RunningSteps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activities.failures.AWAY_PAUSE", timedelta(milliseconds=10))
    fakes = failing("fetch_garment", ObjectStoreUnavailableError("refused"))
    async with running(fakes) as runs:
        outcome = await runs.outcome(tryon_input(uuid.uuid4().hex, deadline_seconds=2))
    assert outcome == TryOnOutcome(status="failed", error_code="timed_out")


def test_what_stays_away_is_asked_less_and_less_often() -> None:
    first, waited, pauses = timedelta(seconds=6), timedelta(0), list[timedelta]()
    while waited < timedelta(days=1):
        pauses.append(pause_while_away(first, waited))
        waited += pauses[-1]
    assert (pauses[0], pauses[-1]) == (first, timedelta(minutes=15))
    assert pauses == sorted(pauses)
    assert len(pauses) < 150
    assert all(pause <= max(first, sum(pauses[:at], timedelta(0)) / 8) for at, pause in enumerate(pauses))


async def test_a_job_that_waits_for_a_store_can_be_cancelled(running: RunningSteps) -> None:
    refused = asyncio.Event()

    async def before(name: str) -> None:
        if name == "fetch_garment":
            refused.set()
            raise ObjectStoreUnavailableError("refused")

    async with running(FakeSteps(before)) as runs:
        run = await runs.start()
        await refused.wait()
        await run.cancel()
        assert await run.result() == TryOnOutcome(status="failed", error_code="cancelled")


async def test_what_is_stopped_together_is_stopped_in_the_same_order_on_replay(running: RunningSteps) -> None:
    """Some wait for the store, in timers, and others for a worker: commands of different kinds."""
    fetching, waiting = 0, asyncio.Event()

    async def before(name: str) -> None:
        nonlocal fetching
        if name == "fetch_garment":
            fetching += 1
            if fetching <= 2:
                raise ObjectStoreUnavailableError("refused")
        if name in ("fetch_garment", "segment_person"):
            if fetching == 4:
                waiting.set()
            await asyncio.Event().wait()

    async with running(FakeSteps(before)) as runs:
        run = await runs.start(tryon_input(uuid.uuid4().hex, garments=4))
        await waiting.wait()
        timers = 0
        while timers < 3:  # of the deadline, and of the two that wait for the store
            events = (await run.fetch_history()).events
            timers = sum(event.HasField("timer_started_event_attributes") for event in events)
        await run.cancel()
        assert await run.result() == TryOnOutcome(status="failed", error_code="cancelled")
        history = await run.fetch_history()
    for _ in range(10):
        replayer = Replayer(workflows=[TryOnWorkflow], data_converter=pydantic_data_converter)
        await replayer.replay_workflow(history)


@pytest.mark.parametrize("end", ["timed_out", "cancelled", "person_not_found"])
async def test_a_step_that_is_stopped_while_the_store_is_away_is_not_begun_again(
    running: RunningSteps, end: str
) -> None:
    fetching = asyncio.Event()

    async def before(name: str) -> None:
        if name == "fetch_garment":
            fetching.set()
            try:
                await asyncio.sleep(30)
            except asyncio.CancelledError:
                raise ObjectStoreUnavailableError("refused") from None
        if name == "segment_person" and end == "person_not_found":
            await fetching.wait()
            raise refusal(end)

    fakes = FakeSteps(before)
    async with running(fakes) as runs:
        run = await runs.start(tryon_input(uuid.uuid4().hex, deadline_seconds=1 if end == "timed_out" else 300))
        await fetching.wait()
        if end == "cancelled":
            await run.cancel()
        assert await run.result() == TryOnOutcome(status="failed", error_code=end)
    assert fakes.names.count("fetch_garment") == 1


async def test_an_engines_code_that_is_none_of_the_catalogue_is_a_fault(running: RunningSteps) -> None:
    async with running(failing("render", refusal("no_such_code"))) as runs:
        assert (await runs.outcome()).error_code == "generation_failed"


@pytest.mark.parametrize("code", ["image_too_large", "garment_url_refused", "result_not_usable", "timed_out"])
async def test_a_code_of_the_catalogue_is_kept(running: RunningSteps, code: str) -> None:
    assert code in CATALOGUE
    async with running(failing("render", refusal(code))) as runs:
        assert (await runs.outcome()).error_code == code


@pytest.mark.parametrize(
    "deadline",
    [
        pytest.param(lambda: {"deadline_at": datetime.now(UTC) + timedelta(seconds=1)}, id="the row's"),
        pytest.param(lambda: {"deadline_seconds": 1}, id="started by an older release"),
    ],
)
async def test_the_deadline_ends_a_job_that_hangs(
    running: RunningSteps, deadline: Callable[[], dict[str, Any]]
) -> None:
    async def before(name: str) -> None:
        if name == "render":
            await asyncio.sleep(30)

    fakes = FakeSteps(before)
    async with running(fakes) as runs:
        outcome = await runs.outcome(tryon_input(uuid.uuid4().hex, **deadline()))
    assert outcome == TryOnOutcome(status="failed", error_code="timed_out")
    assert fakes.names[-2:] == ["release", "clean_up"]


@pytest.mark.parametrize("rehearsal", [None, RehearsalScript()], ids=["live", "test key"])
async def test_a_job_started_after_its_deadline_is_not_begun(
    running: RunningSteps, rehearsal: RehearsalScript | None
) -> None:
    fakes = FakeSteps()
    late = datetime.now(UTC) - timedelta(seconds=1)
    async with running(fakes) as runs:
        outcome = await runs.outcome(tryon_input(uuid.uuid4().hex, deadline_at=late, rehearsal=rehearsal))
    assert outcome == TryOnOutcome(status="failed", error_code="timed_out")
    assert fakes.names == ["release", "clean_up"]


async def test_a_cancelled_run_releases_its_job(running: RunningSteps) -> None:
    started = asyncio.Event()

    async def before(name: str) -> None:
        if name == "segment_person":
            started.set()
            await asyncio.sleep(30)

    fakes = FakeSteps(before)
    async with running(fakes) as runs:
        handle = await runs.start()
        await started.wait()
        await handle.cancel()
        assert await handle.result() == TryOnOutcome(status="failed", error_code="cancelled")
    assert fakes.names[-2:] == ["release", "clean_up"]


async def test_nothing_is_written_after_the_clean_up_of_a_run_that_ended_early(running: RunningSteps) -> None:
    """A step that is under way when another fails has stopped before the job's objects are deleted."""
    stopped_before_clean_up: list[bool] = []
    segmenting, stopped = asyncio.Event(), asyncio.Event()

    async def before(name: str) -> None:
        if name == "fetch_garment":
            await segmenting.wait()
            raise refusal("garment_url_unreachable")
        if name == "segment_person":
            segmenting.set()
            try:
                await asyncio.sleep(30)
            finally:
                stopped.set()
        if name == "clean_up":
            stopped_before_clean_up.append(stopped.is_set())

    async with running(FakeSteps(before)) as runs:
        assert (await runs.outcome()).error_code == "garment_url_unreachable"
    assert stopped_before_clean_up == [True]


async def test_settling_waits_for_a_database_that_is_away(running: RunningSteps) -> None:
    failures = iter([OSError("no database")] * 3)

    async def before(name: str) -> None:
        if name == "settle":
            for error in failures:
                raise error

    fakes = FakeSteps(before)
    async with running(fakes) as runs:
        assert await runs.outcome() == COMPLETED
    assert fakes.names.count("settle") == 4
    assert "release" not in fakes.names


def scheduled(events: list[HistoryEvent]) -> list[str]:
    """Steps that the server has handed out."""
    found = [each.activity_task_scheduled_event_attributes.activity_type.name for each in events]
    return [name for name in found if name]


@pytest.mark.parametrize(("drawing_seconds", "attempt_seconds"), [(0, 180), (44, 180), (2400, 9600)])
async def test_a_drawing_that_takes_long_may_hold_the_device_until_the_deadline(
    running: RunningSteps, drawing_seconds: float, attempt_seconds: float
) -> None:
    job = tryon_input(uuid.uuid4().hex, drawing_seconds=drawing_seconds, deadline_seconds=9600)
    async with running(FakeSteps()) as runs:
        handle = await runs.start(job)
        assert await handle.result() == COMPLETED
        events = [event.activity_task_scheduled_event_attributes async for event in handle.fetch_history_events()]
    budgets = {each.activity_type.name: each.start_to_close_timeout.seconds for each in events}
    assert (budgets["segment_person"], budgets["render"]) == (attempt_seconds, attempt_seconds)


@pytest.mark.parametrize(("run_version", "last"), [(1, ["watermark", "settle", "clean_up"]), (2, ["clean_up"])])
async def test_a_picture_needs_no_server_after_its_drawing(
    running: RunningSteps, run_version: int, last: list[str]
) -> None:
    fakes, job = FakeSteps(), tryon_input(uuid.uuid4().hex, run_version=run_version)
    async with running(fakes) as runs:
        handle = await runs.start(job)
        assert await handle.result() == COMPLETED
        events = [event async for event in handle.fetch_history_events()]
    assert scheduled(events)[3:] == last
    assert fakes.names[3:] == ["watermark", "settle", "clean_up"]


async def test_a_large_picture_is_not_watermarked_beside_its_workflow(running: RunningSteps) -> None:
    fakes = FakeSteps()
    fakes.picture_bytes = LARGEST_HERE_BYTES + 1
    async with running(fakes) as runs:
        handle = await runs.start()
        assert await handle.result() == COMPLETED
        events = [event async for event in handle.fetch_history_events()]
    assert scheduled(events)[3:] == ["watermark", "clean_up"]


async def test_a_step_that_fails_beside_its_workflow_is_handed_out_where_people_see_it(running: RunningSteps) -> None:
    failures = iter([OSError("no store"), OSError("no store")])

    async def before(name: str) -> None:
        if name == "watermark":
            for error in failures:
                raise error

    fakes = FakeSteps(before)
    async with running(fakes) as runs:
        handle = await runs.start()
        assert await handle.result() == COMPLETED
        events = [event async for event in handle.fetch_history_events()]
    assert fakes.names.count("watermark") == 3
    assert scheduled(events)[3:] == ["watermark", "clean_up"]


async def test_a_person_can_read_a_run_without_opening_a_payload(running: RunningSteps) -> None:
    rendering, go_on = asyncio.Event(), asyncio.Event()

    async def before(name: str) -> None:
        if name == "render":
            rendering.set()
            await go_on.wait()

    async with running(FakeSteps(before)) as runs:
        handle = await runs.start(tryon_input(uuid.uuid4().hex, garments=2))
        await rendering.wait()
        state = await handle.query(TryOnWorkflow.state)
        assert (state.stage, state.garments) == ("rendering", 2)
        go_on.set()
        await handle.result()
        state = await handle.query(TryOnWorkflow.state)
        assert (state.stage, state.engine) == ("completed", "fake")
        assert "rendering" in state.stage_ms
        description = await handle.describe()
        assert description.typed_search_attributes[STAGE_ATTRIBUTE] == "completed"
        assert description.typed_search_attributes[ENGINE_ATTRIBUTE] == "fake"
        assert await description.static_summary() == "combo: upper_body + upper_body"


@pytest.mark.parametrize(
    ("run_version", "written"),
    [(2, ["rendering", "completed"]), (1, ["preparing", "rendering", "watermarking", "settling", "completed"])],
)
async def test_stages_that_searches_find(running: RunningSteps, run_version: int, written: list[str]) -> None:
    job = tryon_input(uuid.uuid4().hex).model_copy(update={"run_version": run_version})
    async with running(FakeSteps()) as runs:
        handle = await runs.start(job)
        await handle.result()
        events = [event async for event in handle.fetch_history_events()]
    upserts = [
        event.upsert_workflow_search_attributes_event_attributes.search_attributes.indexed_fields
        for event in events
        if event.HasField("upsert_workflow_search_attributes_event_attributes")
    ]
    assert [json.loads(fields[STAGE_ATTRIBUTE.name].data) for fields in upserts] == written
    assert [ENGINE_ATTRIBUTE.name in fields for fields in upserts].count(True) == 1


async def test_the_report_holds_the_times_of_every_stage(running: RunningSteps) -> None:
    fakes = FakeSteps()
    async with running(fakes) as runs:
        await runs.outcome()
    timings = fakes.input_of("settle").report.timings_ms
    assert timings["draw"] == 5
    assert timings["segment"] == 7
    assert {"stage_preparing", "stage_rendering", "stage_watermarking"} <= timings.keys()


async def test_starting_a_job_again_does_nothing(running: RunningSteps) -> None:
    fakes, job = FakeSteps(), tryon_input(uuid.uuid4().hex)
    async with running(fakes) as runs:
        await runs.outcome(job)
        await TemporalGateway(runs.client).start_tryon(job)
        await asyncio.sleep(0.3)
    assert fakes.names.count("settle") == 1


async def test_bad_input_fails_the_run_at_once(running: RunningSteps, temporal: Client) -> None:
    async with running(FakeSteps()):
        handle = await temporal.start_workflow(
            "TryOnWorkflow", {"jobId": "x", "accountId": "y"}, id=f"bad-{uuid.uuid4()}", task_queue=CPU_QUEUE
        )
        with pytest.raises(WorkflowFailureError):
            await asyncio.wait_for(handle.result(), 10)
        assert (await handle.describe()).status == WorkflowExecutionStatus.FAILED


async def test_input_may_be_typed_in_snake_case(running: RunningSteps, temporal: Client) -> None:
    job = tryon_input(uuid.uuid4().hex).model_dump(by_alias=False)
    async with running(FakeSteps()):
        handle = await temporal.start_workflow(
            "TryOnWorkflow", job, id=f"snake-{uuid.uuid4()}", task_queue=CPU_QUEUE, result_type=TryOnOutcome
        )
        assert await handle.result() == COMPLETED


async def test_a_test_keys_job_asks_no_model(running: RunningSteps) -> None:
    fakes = FakeSteps()
    async with running(fakes) as runs:
        assert (
            await runs.outcome(tryon_input(uuid.uuid4().hex, rehearsal=RehearsalScript(delay_seconds=1))) == COMPLETED
        )
    assert fakes.names == ["rehearse", "watermark", "settle", "clean_up"]


async def test_a_test_keys_job_fails_as_asked(running: RunningSteps) -> None:
    fakes, script = FakeSteps(), RehearsalScript(error_code="several_people")
    async with running(fakes) as runs:
        outcome = await runs.outcome(tryon_input(uuid.uuid4().hex, rehearsal=script))
    assert outcome == TryOnOutcome(status="failed", error_code="several_people")
    assert fakes.names == ["rehearse", "release", "clean_up"]
