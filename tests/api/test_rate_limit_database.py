"""Calls counted in the database, by several processes at once."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from api.errors import EXPECTED, as_tryon_error
from api.rate_limit import DatabaseRateLog
from domain.access.rates import RatePolicy
from runtime.database import Database
from runtime.settings import DatabaseSettings

pytestmark = pytest.mark.databases("sqlite", "postgresql")

PROJECT = Path(__file__).parents[2]
PROCESSES, CALLS_EACH = 4, 50
POLICY = RatePolicy("requests", requests=20, window_seconds=300)


async def test_four_processes_with_one_key_let_exactly_twenty_calls_through(
    database: Database, database_url: str
) -> None:
    command = [sys.executable, "-m", "tests.api.rate_caller", database_url, str(uuid.uuid4()), str(CALLS_EACH)]
    callers = [
        subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(PROCESSES)
    ]
    try:
        for caller in callers:
            assert caller.stdout is not None
            assert caller.stdout.readline() == "ready\n"
        for caller in callers:
            assert caller.stdin is not None
            caller.stdin.write("\n")
            caller.stdin.flush()
        admitted = [int(caller.communicate(timeout=60)[0]) for caller in callers]
    finally:
        for caller in callers:
            caller.kill()
            caller.communicate()
    assert sum(admitted) == POLICY.requests, admitted


async def test_a_database_that_stays_locked_is_an_error_and_not_an_open_door(
    database: Database, database_url: str
) -> None:
    """The API answers errors of the database with 503."""
    impatient = Database(DatabaseSettings(url=database_url, busy_timeout_seconds=0.2))
    log, key_id = DatabaseRateLog(impatient), uuid.uuid4()
    await log.hit(key_id, POLICY)
    with database.transaction() as holder:
        holder.execute(text("UPDATE rate_window SET policy = policy"))
        with pytest.raises(DBAPIError):
            await log.hit(key_id, POLICY)
    assert (await log.hit(key_id, POLICY)).remaining == 18
    impatient.close()


async def test_a_call_whose_turn_does_not_come_is_told_that_the_service_is_busy(tmp_path: Path) -> None:
    queue = Database(DatabaseSettings(url=f"sqlite:///{tmp_path}/x.db", busy_timeout_seconds=0.2))
    begun = threading.Event()

    def work(_: object) -> None:
        begun.set()
        time.sleep(0.5)

    working = asyncio.create_task(queue.write(work))
    await asyncio.to_thread(begun.wait, 30)
    with pytest.raises(EXPECTED) as refusal:
        await DatabaseRateLog(queue).hit(uuid.uuid4(), POLICY)
    await working
    assert as_tryon_error(refusal.value).code == "busy"
    queue.close()


async def test_a_relaxed_commit_does_not_wait_for_the_disk(database: Database, database_url: str) -> None:
    question, relaxed, durable = (
        ("PRAGMA synchronous", 1, 2) if database_url.startswith("sqlite") else ("SHOW synchronous_commit", "off", "on")
    )
    for _ in range(2):  # one connection after the other way
        assert await database.write_relaxed(lambda session: session.scalar(text(question))) == relaxed
        assert await database.write(lambda session: session.scalar(text(question))) == durable
