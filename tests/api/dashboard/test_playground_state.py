from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from api.dashboard.jobs import AWAY, QUEUE, Stage, stage_in, stage_of
from domain.jobs import backfills, jobs
from domain.object_keys import result_key
from gateway.temporal import Progress, TemporalGateway
from runtime.settings import TemporalSettings
from tests.api.conftest import Api
from tests.api.dashboard.browser import Browser
from tests.factories import PLANS, create_caller, create_job, new_job
from tests.pictures import encoded
from workflows.contracts import Drawing, RenderReport


async def state(browser: Browser, job_id: object) -> httpx.Response:
    return await browser.get(f"/playground/jobs/{job_id}/state", headers={"Accept": "application/json"})


async def test_an_open_job_tells_where_it_is(api: Api, browser: Browser) -> None:
    new = new_job(api.caller, workflow_input={"garments": [{}, {}]})
    await api.parts.database.write(jobs.accept_job, PLANS, new, now=datetime.now(UTC))
    answer = (await state(browser, new.job_id)).json()
    assert answer.pop("elapsedMs") >= 0
    assert answer == {
        "status": "processing",
        "stage": "queue",
        "words": "In the queue",
        "garment": None,
        "garments": 2,
    }


@pytest.mark.parametrize(
    ("stage", "pending", "words_", "garment"),
    [
        ("accepted", {}, "In the queue", None),
        ("", {}, "In the queue", None),
        ("accepted", {"segment_person": 1, "fetch_garment": 1}, "Looking at the photo", None),
        ("accepted", {"fetch_garment": 2}, "Fetching the garment", 2),
        ("rendering", {"render": 1}, "Drawing", None),
        ("rehearsing", {}, "Drawing", None),
        ("rendering", {}, "Finishing", None),
        ("rendering", {"watermark": 1}, "Finishing", None),
        ("rendering", {"settle": 1}, "Finishing", None),
        ("accepted", {"something_new": 1}, "In the queue", None),
    ],
)
def test_a_runs_stage_in_words(stage: str, pending: dict[str, int], words_: str, garment: int | None) -> None:
    found = stage_in(Progress(stage, pending), garments=3)
    assert (found.words, found.garment) == (words_, garment)


@pytest.mark.parametrize(
    ("stage", "name", "words"),
    [("accepted", "queue", AWAY), ("rendering", "finishing", AWAY), ("rehearsing", "drawing", "Drawing")],
)
def test_a_run_that_only_waits_says_so_where_it_is(stage: str, name: str, words: str) -> None:
    found = stage_in(Progress(stage, {}, waits=True), garments=1)
    assert (found.name, found.words) == (name, words)


def test_a_drawing_tells_its_step_and_what_is_left() -> None:
    drawing = Drawing(step=7, steps=20, seconds_left=360)
    found = stage_in(Progress("rendering", {"render": 1}, drawing), garments=1)
    assert found.words == "Drawing: step 7 of 20, about 6 minutes left"


async def test_a_completed_job_tells_its_time_and_what_is_left(api: Api, browser: Browser) -> None:
    job_id = await create_job(api.parts.database, api.caller)
    key = result_key(str(job_id))
    await api.store.put(key, encoded(), "image/jpeg")
    now = datetime.now(UTC)
    await api.parts.database.write(
        jobs.complete_job,
        job_id=job_id,
        result_key=key,
        engine="warp",
        report=RenderReport(hints_not_applied={"size": "It is no size."}).model_dump(mode="json"),
        keep=timedelta(hours=1),
        now=now,
    )
    answer = (await state(browser, job_id)).json()
    assert answer.pop("generationTimeMs") >= 0
    assert answer.pop("means").startswith("249 left in this period")
    assert answer == {"status": "completed", "refusal": None, "hintsNotFollowed": ["size"]}


async def test_what_is_under_way_is_found_again_after_a_reload(api: Api, browser: Browser) -> None:
    own, of_a_backfill = (replace(new_job(api.caller), api_key_id=None) for _ in range(2))
    of_a_program = new_job(api.caller)
    with api.parts.database.transaction() as session:
        for number, each in enumerate((own, of_a_program, of_a_backfill)):
            jobs.accept_job(session, PLANS, each, now=datetime.now(UTC) + timedelta(seconds=number))
        backfills.note_job(
            session,
            account_id=api.caller.account_id,
            key="one",
            backfill_id="b",
            job_id=of_a_backfill.job_id,
            now=datetime.now(UTC),
        )
    assert f'href="/dashboard/jobs/{own.job_id}">View it' in (await browser.get("/playground")).text
    await api.parts.database.write(
        jobs.fail_job, job_id=own.job_id, error_code="timed_out", keep=timedelta(hours=1), now=datetime.now(UTC)
    )
    assert "under way" not in (await browser.get("/playground")).text


async def test_a_failed_job_tells_why_and_costs_nothing(api: Api, browser: Browser) -> None:
    job_id = await create_job(api.parts.database, api.caller)
    await api.parts.database.write(
        jobs.fail_job, job_id=job_id, error_code="person_not_found", keep=timedelta(hours=1), now=datetime.now(UTC)
    )
    answer = (await state(browser, job_id)).json()
    assert answer["status"] == "failed"
    assert answer["error"].startswith("No person was found")
    assert "250 left" in answer["means"]


async def test_a_foreign_job_is_unknown(api: Api, browser: Browser) -> None:
    other = await create_caller(api.parts.database, api.parts.digester)
    for job_id in (await create_job(api.parts.database, other), uuid.uuid4(), "no-id"):
        assert (await state(browser, job_id)).status_code == 404


async def test_while_temporal_is_away_a_job_waits_in_the_queue() -> None:
    nobody = await TemporalGateway.connect(TemporalSettings(address="127.0.0.1:9"), for_requests=True)
    assert await stage_of(nobody, uuid.uuid4().hex, garments=1) == Stage(QUEUE)
