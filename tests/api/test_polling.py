from __future__ import annotations

import asyncio
import base64
import uuid
from datetime import UTC, datetime, timedelta
from unittest.mock import AsyncMock

import pytest
from temporalio.client import Client

from api.tryon.polling import retry_after
from domain.errors import CATALOGUE, ErrorCode
from domain.jobs import jobs
from gateway.temporal import Progress, TemporalGateway
from runtime.object_store import ObjectStoreUnavailableError
from runtime.settings import Settings
from tests.api.conftest import Api, OpenApi, single
from tests.factories import create_caller
from tests.ledger_entries import entries_of_job
from workflows.contracts import Drawing
from workflows.queues import tryon_workflow_id

NOT_FOUND = {"error": "Job not found or expired."}
HOUR = timedelta(hours=1)


async def accepted(api: Api) -> str:
    job_id: str = (await api.post(single())).json()["jobId"]
    return job_id


async def fail(api: Api, job_id: str, code: ErrorCode, advice: str | None = None) -> None:
    await api.parts.database.write(
        jobs.fail_job, job_id=uuid.UUID(job_id), error_code=code, error_advice=advice, keep=HOUR, now=datetime.now(UTC)
    )


@pytest.mark.parametrize("started", [True, False])
async def test_a_job_that_is_overdue_is_over_whoever_is_away(
    open_api: OpenApi, monkeypatch: pytest.MonkeyPatch, started: bool
) -> None:
    monkeypatch.setenv("TRYON_TEMPORAL_ADDRESS", "127.0.0.1:1")
    monkeypatch.setenv("TRYON_TEMPORAL_START_TIMEOUT_SECONDS", "0.2")
    settings = Settings()
    async with open_api(settings, await TemporalGateway.connect(settings.temporal, for_requests=True)) as api:
        job_id = await accepted(api)
        with api.parts.database.transaction() as session:
            job = jobs.get_job(session, job_id=uuid.UUID(job_id))
            job.started_at = datetime.now(UTC) if started else None
            job.deadline_at = datetime.now(UTC)
        assert (await api.poll(job_id)).json() == {"status": "processing"}, "its run may be about to end it"
        with api.parts.database.transaction() as session:
            jobs.get_job(session, job_id=uuid.UUID(job_id)).deadline_at -= jobs.OVERDUE_GRACE
        answer = await api.poll(job_id)
        assert answer.json() == {"status": "failed", "error": CATALOGUE["timed_out"].sentence}
        assert await api.store.list_keys("") == []


@pytest.mark.parametrize(
    ("left", "pause"), [(0, 2), (1.2, 2), (10, 2), (36, 9), (200, 50), (2400, 60)], ids="{:g}".format
)
def test_the_pause_between_polls_is_a_quarter_of_what_is_left(left: float, pause: int) -> None:
    assert retry_after(left) == pause


def test_whoever_polls_as_told_keeps_the_rate() -> None:
    left, polls = 300.0, 0
    while left > 0:
        left, polls = left - retry_after(left), polls + 1
    assert polls <= Settings().rate_limit.requests


async def test_the_drawing_says_when_to_poll_again(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    job_id = await accepted(api)
    far = Progress("rendering", {"render": 1}, Drawing(step=7, steps=20, seconds_left=100))
    monkeypatch.setattr(api.parts.temporal, "progress_of_job", AsyncMock(return_value=far))
    answer = await api.poll(job_id)
    assert answer.json() == {"status": "processing"}
    assert answer.headers["Retry-After"] == "25"


async def test_a_code_that_an_older_release_wrote_is_one_of_the_catalogue_to_the_caller(api: Api) -> None:
    job_id = await accepted(api)
    await fail(api, job_id, "timed_out")
    with api.parts.database.transaction() as session:
        jobs.get_job(session, job_id=uuid.UUID(job_id)).error_code = "RuntimeError"
    answer = await api.poll(job_id)
    assert answer.json() == {"status": "failed", "error": CATALOGUE["generation_failed"].sentence}
    assert answer.headers["X-Error-Code"] == "generation_failed"


async def test_while_processing_the_status_is_all_there_is(api: Api) -> None:
    answer = await api.poll(await accepted(api))
    assert (answer.status_code, answer.json()) == (200, {"status": "processing"})
    assert answer.headers["Retry-After"] == "2"


async def test_a_completed_job_brings_its_picture_as_often_as_asked(api: Api) -> None:
    job_id = await accepted(api)
    await api.complete(job_id, b"the picture")
    for _ in range(2):
        answer = await api.poll(job_id)
        body = answer.json()
        assert answer.status_code == 200
        assert body.keys() == {"status", "resultImageBase64", "generationTimeMs"}
        assert body["status"] == "completed"
        prefix, _, data = body["resultImageBase64"].partition(",")
        assert (prefix, base64.b64decode(data)) == ("data:image/jpeg;base64", b"the picture")
        assert isinstance(body["generationTimeMs"], int)


@pytest.mark.parametrize("code", [code for code, entry in CATALOGUE.items() if entry.status is None])
async def test_a_failed_job_is_200_with_a_sentence(api: Api, code: str) -> None:
    job_id = await accepted(api)
    await fail(api, job_id, code)
    answer = await api.poll(job_id)
    assert answer.status_code == 200
    assert answer.json() == {"status": "failed", "error": CATALOGUE[code].sentence}


async def test_a_failed_job_tells_what_to_do_about_this_very_photo(api: Api) -> None:
    job_id = await accepted(api)
    await fail(api, job_id, "pose_not_usable", "Take your hands out of your pockets.")
    answer = await api.poll(job_id)
    said = "The pose in the photo cannot be used. Take your hands out of your pockets."
    assert answer.json() == {"status": "failed", "error": said}
    assert answer.headers["X-Error-Code"] == "pose_not_usable"


@pytest.mark.parametrize("job_id", ["nonsense", "0b5f1f0e-6f0e-4c59-9a5e-2f0d3c1b7a44", "%00", "../../etc/passwd"])
async def test_an_unknown_or_malformed_id_is_404(api: Api, job_id: str) -> None:
    answer = await api.poll(job_id)
    assert answer.status_code == 404
    assert answer.json().keys() == {"error"}


async def test_another_accounts_job_is_the_same_404(api: Api) -> None:
    job_id = await accepted(api)
    other = await create_caller(api.parts.database, api.parts.digester)
    answer = await api.client.get(f"/api/v1/tryon/{job_id}", headers=other.headers)
    assert (answer.status_code, answer.json()) == (404, NOT_FOUND)


async def test_an_expired_job_is_the_same_404(api: Api) -> None:
    job_id = await accepted(api)
    await api.complete(job_id, keep=timedelta(seconds=-1))
    answer = await api.poll(job_id)
    assert (answer.status_code, answer.json()) == (404, NOT_FOUND)


async def test_a_picture_that_was_deleted_is_the_same_404(api: Api) -> None:
    job_id = await accepted(api)
    await api.complete(job_id)
    await api.store.delete_prefix("results/")
    assert (await api.poll(job_id)).json() == NOT_FOUND


async def test_a_store_that_is_away_is_503_and_the_job_stays_completed(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = await accepted(api)
    await api.complete(job_id)

    async def refuse(_key: str) -> bytes:
        raise ObjectStoreUnavailableError("down")

    with monkeypatch.context() as patch:
        patch.setattr(api.store, "get", refuse)
        assert (await api.poll(job_id)).status_code == 503
    assert (await api.poll(job_id)).json()["status"] == "completed"


async def test_a_terminated_run_releases_its_job_at_the_next_poll(api: Api, idle_temporal: Client) -> None:
    job_id = await accepted(api)
    await idle_temporal.get_workflow_handle(tryon_workflow_id(job_id)).terminate("by hand")
    answer = await api.poll(job_id)
    assert answer.json() == {"status": "failed", "error": CATALOGUE["cancelled"].sentence}
    assert await api.store.list_keys("jobs/") == []
    with api.parts.database.reading() as session:
        assert entries_of_job(session, job_id=uuid.UUID(job_id)) == ["reserve", "release"]


async def test_many_polls_at_once_release_once(api: Api, idle_temporal: Client) -> None:
    job_id = await accepted(api)
    await idle_temporal.get_workflow_handle(tryon_workflow_id(job_id)).terminate("by hand")
    answers = await asyncio.gather(*(api.poll(job_id) for _ in range(5)))
    assert {answer.json()["status"] for answer in answers} == {"failed"}
    with api.parts.database.reading() as session:
        assert entries_of_job(session, job_id=uuid.UUID(job_id)) == ["reserve", "release"]
