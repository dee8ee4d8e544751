"""A COMMIT whose answer is lost is no refusal: the job may exist, and then it needs its inputs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection, event, select
from sqlalchemy.exc import OperationalError

from domain.tables import Job
from runtime.database import Database
from tests.api.conftest import Api, single

pytestmark = pytest.mark.databases("sqlite", "postgresql")

Fault = Callable[[Connection, Callable[[], object]], None]
"""What becomes of a COMMIT; it can have the request cut off."""


def lost() -> OperationalError:
    return OperationalError("COMMIT", None, ConnectionError("server closed the connection"))


def lost_before(_connection: Connection, _cut_off: Callable[[], object]) -> None:
    """The server never hears of the COMMIT."""
    raise lost()


def lost_after(connection: Connection, _cut_off: Callable[[], object]) -> None:
    """It takes effect, and its answer does not arrive."""
    connection.connection.commit()
    raise lost()


def cancelled_during(_connection: Connection, cut_off: Callable[[], object]) -> None:
    """The request is cut off while it waits for the answer: by a time limit, or by a server that stops."""
    cut_off()
    time.sleep(0.2)


@contextmanager
def failing_commit(database: Database, fault: Fault, cut_off: Callable[[], object]) -> Iterator[None]:
    """The COMMIT of every transaction that adds a job fails so."""

    def note(connection: Connection, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("INSERT INTO job "):
            connection.info["adds a job"] = True

    def commit(connection: Connection) -> None:
        if connection.info.pop("adds a job", False):
            fault(connection, cut_off)

    engine = database.engine
    event.listen(engine, "before_cursor_execute", note)
    event.listen(engine, "commit", commit)
    try:
        yield
    finally:
        event.remove(engine, "before_cursor_execute", note)
        event.remove(engine, "commit", commit)


async def job_of(api: Api) -> uuid.UUID | None:
    """The account's only job, if there is one."""
    with api.parts.database.reading() as session:
        return session.scalars(select(Job.id).where(Job.account_id == api.caller.account_id)).one_or_none()


@pytest.mark.parametrize(
    ("fault", "took_effect"),
    [
        pytest.param(lost_before, False, id="lost before"),
        pytest.param(lost_after, True, id="lost after"),
        pytest.param(cancelled_during, True, id="cancelled"),
    ],
)
async def test_inputs_stay_while_it_is_not_known_whether_the_job_was_accepted(
    api: Api, fault: Fault, took_effect: bool
) -> None:
    body = json.dumps(single()).encode()

    async def post() -> Any:
        headers = {"Idempotency-Key": "once", "Content-Type": "application/json"}
        return await api.client.post("/api/v1/tryon", content=body, headers=headers)

    loop, posting = asyncio.get_running_loop(), asyncio.create_task(post())
    cut_off = partial(loop.call_soon_threadsafe, posting.cancel)
    with failing_commit(api.parts.database, fault, cut_off), contextlib.suppress(asyncio.CancelledError):
        answer = await posting
        assert (answer.status_code, answer.headers["X-Error-Code"]) == (503, "storage_unavailable")
    accepted = await job_of(api)
    kept = {key.split("/")[1] for key in await api.store.list_keys("jobs/")}
    assert len(kept) == 1, "whatever became of the job, its inputs lie there; without a job they are the purge's"
    assert (accepted is not None) == took_effect
    again = await post()
    assert again.status_code == 202
    assert again.headers.get("Idempotent-Replayed") == (None if accepted is None else "true")
    if accepted is not None:
        assert again.json()["jobId"] == str(accepted) == kept.pop()
    inputs = [f"jobs/{again.json()['jobId']}/input/{position}" for position in range(2)]
    assert await api.store.list_keys(f"jobs/{again.json()['jobId']}/") == inputs


async def test_what_is_refused_before_the_commit_leaves_nothing(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object, **__: object) -> None:
        raise lost()

    monkeypatch.setattr("api.tryon.accepting.jobs.accept_job", away)
    assert (await api.post(single())).status_code == 503
    assert await api.store.list_keys("") == []
