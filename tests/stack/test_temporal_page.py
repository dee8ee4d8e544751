"""What docs/temporal.md says, done through the real CLI on a running stack with the page's own commands."""

from __future__ import annotations

import asyncio
import json
import signal
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

import pytest

from cli.health import NotPollingError, check_worker
from domain.jobs import jobs
from runtime.database import Database
from tests.pictures import data_uri
from tests.stack.page import WHERE, commands, run_block
from tests.stack.stack import Stack, until
from tests.stack.test_faults import pending_step
from tests.stack.test_jobs import books, objects, picture_of
from workflows.queues import GPU_QUEUE

FIND = "Of an account, by stage, outcome or engine"
UNDER_WAY = "Now under way"
SLOW = "Slow ones"
OTHERS = "Mail, erasures, imports, checks, products, webhooks"
ENDED_FROM_OUTSIDE = "Ones that did not end by themselves"
READ = "The same on the command line"
WHY = "The code, and the step's own words"
CANCEL, TERMINATE, TERMINATE_ALL = "Cancel it", "Terminate it", "Terminate all of an account"
RESET = "Begin anew"
SCHEDULES = "Look, run now, pause, go on"
QUEUES = "Who polls, and what waits"
FAILING_TASKS = "Find them, and the reason"  # tests/workflows/test_failing_tasks.py


def page(stack: Stack, heading: str, **variables: str) -> str:
    return run_block(heading, {"TRYON_DATA_DIR": str(stack.data_dir), **variables}, before=commands()[WHERE])


def post(stack: Stack, photo: str, sweater: str) -> str:
    return stack.post({"customerPhotoBase64": photo, "garmentImageUrl": sweater, "category": "upper_body"})


def account_of(stack: Stack, job_id: str) -> str:
    return str(books(stack, job_id)[0].account_id)


def polling(stack: Stack) -> bool | None:
    """Whether the GPU worker that the stack has now polls its queue; tests before these may have killed it."""
    try:
        asyncio.run(check_worker(stack.settings, GPU_QUEUE)(stack.pid("worker-gpu")))
    except (NotPollingError, KeyError):
        return None
    return True


@contextmanager
def busy_gpu(stack: Stack) -> Iterator[None]:
    """Jobs stand at their first step meanwhile."""
    until(lambda: polling(stack))
    stack.signal("worker-gpu", signal.SIGSTOP)
    try:
        yield
    finally:
        stack.signal("worker-gpu", signal.SIGCONT)


def make_older(stack: Stack, job_id: str, seconds: int) -> None:
    """As if the job had been accepted so much earlier."""

    async def write() -> None:
        database = Database(stack.settings.database)
        with database.transaction() as session:
            job = jobs.get_job(session, job_id=uuid.UUID(job_id))
            job.created_at -= timedelta(seconds=seconds)
        database.close()

    asyncio.run(write())


@pytest.fixture(scope="module")
def completed(stack: Stack, portrait: str, sweater: str) -> str:
    job_id = post(stack, portrait, sweater)
    picture_of(stack.finished(job_id))
    until(lambda: True if job_id in page(stack, FIND, ACCOUNT=account_of(stack, job_id)) else None)
    return job_id


@pytest.fixture(scope="module")
def failed(stack: Stack, sweater: str) -> str:
    job_id = post(stack, data_uri(), sweater)
    assert stack.finished(job_id)["status"] == "failed"
    until(lambda: True if "COMPLETED" in page(stack, READ, JOB=job_id) else None)
    return job_id


def test_every_block_of_the_page_is_tried() -> None:
    assert set(commands()) == {
        WHERE, FIND, UNDER_WAY, SLOW, OTHERS, ENDED_FROM_OUTSIDE, READ, WHY, CANCEL, TERMINATE, TERMINATE_ALL, RESET,
        SCHEDULES, QUEUES, FAILING_TASKS,
    }  # fmt: skip


def test_runs_are_found(stack: Stack, completed: str, failed: str) -> None:
    account = account_of(stack, completed)
    lines = [command for command in commands()[FIND].splitlines() if command]
    assert len(lines) == 3

    def listed(job_id: str) -> int:
        return page(stack, FIND, ACCOUNT=account).count(job_id)

    until(lambda: True if listed(failed) == 2 else None)  # of the account, and failed
    assert listed(completed) == 2  # of the account, and drawn by warp
    assert completed not in page(stack, FIND, ACCOUNT=str(uuid.uuid4())).partition("\n")[0]
    assert page(stack, SLOW).count(completed) == 0
    assert failed not in page(stack, ENDED_FROM_OUTSIDE)


def test_an_erasure_is_found_while_it_lasts(stack: Stack) -> None:
    created = stack.tryon("account", "create", "--email", f"{uuid.uuid4().hex}@example.com", "--json")
    account = json.loads(created.stdout)["accountId"]
    erased = stack.tryon("account", "erase", "--account", account, "--yes")
    assert erased.returncode == 0, erased.stderr
    until(lambda: True if f"tryon-erase-{account[:8]}" in page(stack, OTHERS) else None)


def test_a_run_is_read(stack: Stack, completed: str) -> None:
    said = page(stack, READ, JOB=completed)
    for part in ("single: upper_body", "Status          COMPLETED", "**completed**", "- engine: warp", "- rendering: "):
        assert part in said, said
    state = json.loads(said.rpartition("QueryResult")[2].strip())
    assert (state["stage"], state["engine"]) == ("completed", "warp")


def test_why_a_job_failed(stack: Stack, failed: str) -> None:
    said = page(stack, WHY, JOB=failed)
    assert '"errorCode":"person_not_found"' in said
    assert "Status          COMPLETED" in said
    assert "Show yourself" in said
    assert "person_not_found" in page(stack, READ, JOB=failed).rpartition("QueryResult")[2]


def test_a_job_under_way_is_seen_and_cancelled(stack: Stack, portrait: str, sweater: str) -> None:
    with busy_gpu(stack):
        job_id = post(stack, portrait, sweater)
        until(lambda: pending_step(stack, job_id))
        until(lambda: True if job_id in page(stack, UNDER_WAY) else None)
        said = page(stack, READ, JOB=job_id)
        assert "Pending Activities: 1" in said
        assert "segment_person" in said
        page(stack, CANCEL, JOB=job_id)
    assert stack.finished(job_id)["error"] == "The try-on was cancelled."
    assert books(stack, job_id)[1] == ["reserve", "release"]
    until(lambda: True if '"errorCode":"cancelled"' in page(stack, READ, JOB=job_id) else None)
    assert "Status          COMPLETED" in page(stack, READ, JOB=job_id)
    until(lambda: True if objects(stack, job_id) == [] else None)


def test_a_terminated_job_is_released_by_the_schedule_and_not_billed(stack: Stack, portrait: str, sweater: str) -> None:
    with busy_gpu(stack):
        job_id = post(stack, portrait, sweater)
        until(lambda: pending_step(stack, job_id))
        page(stack, TERMINATE, JOB=job_id)
        until(lambda: True if job_id in page(stack, ENDED_FROM_OUTSIDE) else None)
        page(stack, SCHEDULES)  # one of its lines runs the reconciler; the job is too young for it
        assert books(stack, job_id)[0].status == "processing"
        make_older(stack, job_id, 31)
        until(lambda: page(stack, SCHEDULES) and (books(stack, job_id)[0].status == "failed" or None))
    job, entries = books(stack, job_id)
    assert (job.error_code, entries) == ("cancelled", ["reserve", "release"])


def test_all_of_an_account_are_terminated_and_polls_release_them(stack: Stack, portrait: str, sweater: str) -> None:
    with busy_gpu(stack):
        ids = [post(stack, portrait, sweater) for _ in range(2)]
        until(lambda: True if all(job_id in page(stack, UNDER_WAY) for job_id in ids) else None)
        page(stack, TERMINATE_ALL, ACCOUNT=account_of(stack, ids[0]))
        for job_id in ids:
            assert stack.finished(job_id)["error"] == "The try-on was cancelled."
            assert books(stack, job_id)[1] == ["reserve", "release"]


def ends_again(stack: Stack, job_id: str) -> str:
    """Reset a closed run; what its second run is described as, once it is closed."""
    page(stack, RESET, JOB=job_id)

    def closed() -> str | None:
        said = page(stack, READ, JOB=job_id)
        return said if "Status          COMPLETED" in said else None

    said: str = until(closed)
    return said


def test_a_reset_of_a_completed_job_changes_nothing(stack: Stack, portrait: str, sweater: str) -> None:
    job_id = post(stack, portrait, sweater)
    picture = picture_of(stack.finished(job_id)).tobytes()
    until(lambda: True if objects(stack, job_id) == [f"results/{job_id}.jpg"] else None)
    assert '"status":"completed"' in ends_again(stack, job_id)
    assert books(stack, job_id)[1] == ["reserve", "settle"]
    assert picture_of(stack.finished(job_id)).tobytes() == picture


def test_a_reset_of_a_failed_job_changes_nothing(stack: Stack, sweater: str) -> None:
    job_id = post(stack, data_uri(), sweater)
    stack.finished(job_id)
    until(lambda: True if objects(stack, job_id) == [] else None)
    assert '"errorCode":"person_not_found"' in ends_again(stack, job_id)
    assert books(stack, job_id)[1] == ["reserve", "release"]


def test_a_reset_of_a_job_in_progress_lets_it_end_once(stack: Stack, portrait: str, sweater: str) -> None:
    with busy_gpu(stack):
        job_id = post(stack, portrait, sweater)
        until(lambda: pending_step(stack, job_id))
        page(stack, RESET, JOB=job_id)
    picture_of(stack.finished(job_id, seconds=90))
    assert books(stack, job_id)[1] == ["reserve", "settle"]


def test_schedules_and_queues(stack: Stack) -> None:
    said = page(stack, SCHEDULES)
    for name in ("tryon-reconcile", "tryon-purge", "tryon-sweep-product-pictures", "tryon-ledger-check"):
        assert name in said
    assert "ReconcileWorkflow" in said
    said = page(stack, QUEUES)
    for name in ("worker-cpu", "worker-gpu"):
        assert f"{stack.pid(name)}@" in said
    assert "ApproximateBacklogAge" in said
