"""``Prefer: wait=N``."""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from datetime import UTC, datetime, timedelta

import pytest

from api.tryon.endings import JobEndings
from api.tryon.polling import wait_preferred
from domain.jobs import jobs
from runtime.database import Database
from runtime.settings import Settings
from tests.api.conftest import Api, OpenApi
from tests.factories import create_job

pytestmark = pytest.mark.databases("sqlite", "postgresql")

MOST_THREADS_OF_POOLS = 50
"""Those of the database and of the loop grow with use, so how many there are depends on what ran before."""


async def fail_soon(database: Database, job_id: uuid.UUID, seconds: float) -> None:
    await asyncio.sleep(seconds)
    await database.write(
        jobs.fail_job, job_id=job_id, error_code="timed_out", keep=timedelta(hours=1), now=datetime.now(UTC)
    )


async def test_a_waiting_poll_is_answered_when_the_job_ends(api: Api, database: Database) -> None:
    job_id = await create_job(database, api.caller)
    began = time.monotonic()
    ending = asyncio.create_task(fail_soon(database, job_id, 0.3))
    answer = await api.client.get(f"/api/v1/tryon/{job_id}", headers={"Prefer": "wait=20"})
    await ending
    assert 0.3 <= time.monotonic() - began < 10
    assert answer.json()["status"] == "failed"
    assert answer.headers["Preference-Applied"] == "wait=20"


async def test_a_wait_that_is_over_tells_that_the_job_goes_on(api: Api, database: Database) -> None:
    job_id = await create_job(database, api.caller)
    answer = await api.client.get(f"/api/v1/tryon/{job_id}", headers={"Prefer": "wait=1"})
    assert answer.json() == {"status": "processing"}
    assert (answer.headers["Preference-Applied"], answer.headers["Retry-After"]) == ("wait=1", "2")


async def test_a_wait_is_cut_to_the_longest(
    open_api: OpenApi, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRYON_JOB_LONGEST_WAIT_SECONDS", "1")
    async with open_api(Settings()) as api:
        job_id = await create_job(database, api.caller)
        answer = await api.client.get(f"/api/v1/tryon/{job_id}", headers={"Prefer": "wait=3000"})
    assert answer.headers["Preference-Applied"] == "wait=1"


async def test_without_the_preference_nothing_waits(api: Api, database: Database) -> None:
    job_id = await create_job(database, api.caller)
    answer = await asyncio.wait_for(api.poll(str(job_id)), 5)
    assert answer.json() == {"status": "processing"}
    assert "Preference-Applied" not in answer.headers


async def test_two_hundred_waiters_cost_no_thread_each(
    open_api: OpenApi, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRYON_JOB_LONGEST_WAIT_SECONDS", "300")  # all wait at once, however slow the machine is
    async with open_api(Settings()) as api:
        job_id = await create_job(database, api.caller)
        threads = threading.active_count()
        waiting = [
            asyncio.create_task(api.client.get(f"/api/v1/tryon/{job_id}", headers={"Prefer": "wait=300"}, timeout=300))
            for _ in range(200)
        ]
        async with asyncio.timeout(100):
            while len(api.parts.endings._waiting.get(job_id, ())) < 200:
                await asyncio.sleep(0.02)
        assert threading.active_count() - threads < MOST_THREADS_OF_POOLS
        await fail_soon(database, job_id, 0)
        answers = await asyncio.wait_for(asyncio.gather(*waiting), 60)
        assert {answer.json()["status"] for answer in answers} == {"failed"}
        assert not api.parts.endings._waiting


async def test_closing_lets_waiters_go_and_waits_for_the_question_under_way(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    asking, answered = threading.Event(), False

    def slow(*_args: object, **_kwargs: object) -> dict[uuid.UUID, jobs.Standing]:
        nonlocal answered
        asking.set()
        time.sleep(0.3)
        answered = True
        return {}

    monkeypatch.setattr(jobs, "standings", slow)
    endings = JobEndings(database, interval_seconds=0.01)
    waiting = asyncio.create_task(endings.wait(uuid.uuid4(), 60))
    await asyncio.to_thread(asking.wait, 30)
    await asyncio.wait_for(endings.close(), 10)
    assert answered
    await asyncio.wait_for(waiting, 1)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (["wait=10"], 10),
        (["respond-async, wait=10"], 10),
        (["respond-async", "WAIT = 7"], 7),
        (['wait="5"'], 5),
        (["wait=5; foo=bar"], 5),
        (["wait=31"], 30),
        (["wait=0"], None),
        (["wait=-1"], None),
        (["wait=soon"], None),
        (["wait"], None),
        (["waiting=3"], None),
        ([""], None),
        ([], None),
    ],
)
def test_preferences_are_read_as_rfc_7240_has_them(headers: list[str], seconds: int | None) -> None:
    assert wait_preferred(headers, 30) == seconds
