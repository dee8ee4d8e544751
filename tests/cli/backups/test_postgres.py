"""PostgreSQL's own tools, as docs/backup.md uses them, and a password that changes under running processes."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import make_url, text
from sqlalchemy.exc import DBAPIError
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment

from activities.reconciling import ReconcilingActivities
from cli.backup import release_open_jobs
from domain import migrations
from domain.access.keys import KeyDigester, find_owner
from domain.jobs import jobs
from domain.money.ledger import check_ledger
from gateway.temporal import TemporalGateway
from runtime.database import Database
from runtime.settings import DatabaseSettings
from tests.factories import create_caller, create_job
from tests.ledger_entries import entries_of_job
from tests.memory_store import MemoryObjectStore
from tests.servers.postgres import find_binaries
from workflows.contracts import SweepInput

TTL = timedelta(hours=1)


def run(tool: str, url: str, *arguments: str) -> None:
    """One of PostgreSQL's tools against the server of this address."""
    program, parts = find_binaries() / tool, make_url(url)
    if not program.exists():
        pytest.skip(f"{tool} is not installed beside the server")
    address = ["--host", str(parts.host), "--port", str(parts.port), "--username", str(parts.username)]
    subprocess.run([program, *address, *arguments], check=True, capture_output=True, timeout=60)


@pytest.fixture
async def databases(postgres_url: str) -> AsyncIterator[tuple[Database, Database]]:
    """Two of their own on the shared server: ``original``, migrated, and ``restored``, empty."""
    found = []
    for name in ("original", "restored"):
        run("createdb", postgres_url, name)
        found.append(Database(DatabaseSettings(url=postgres_url.replace("/postgres", f"/{name}"))))
    migrations.upgrade(found[0].engine)
    yield found[0], found[1]
    for database, name in zip(found, ("original", "restored"), strict=True):
        database.close()
        run("dropdb", postgres_url, "--force", name)


async def test_a_dump_made_in_mid_job_is_restored_and_bills_nothing_twice(
    postgres_url: str,
    databases: tuple[Database, Database],
    digester: KeyDigester,
    idle_temporal: Client,
    tmp_path: Path,
) -> None:
    original, restored = databases
    caller = await create_caller(original, digester)
    done, overdue, young = [await create_job(original, caller) for _ in range(3)]
    with original.transaction() as session:
        for job_id in (done, overdue, young):
            jobs.mark_started(session, job_id=job_id)
        jobs.complete_job(
            session, job_id=done, result_key="results/x.jpg", engine="warp", report={}, keep=TTL, now=datetime.now(UTC)
        )
        job = jobs.get_job(session, job_id=overdue)
        job.created_at = datetime.now(UTC) - timedelta(minutes=10)
        job.deadline_at = datetime.now(UTC) - jobs.OVERDUE_GRACE
    dump = str(tmp_path / "tryon.dump")
    await asyncio.to_thread(run, "pg_dump", postgres_url, "--format=custom", "--no-owner", f"--file={dump}", "original")
    flags = ("--dbname=restored", "--no-owner", "--single-transaction", "--exit-on-error")
    await asyncio.to_thread(run, "pg_restore", postgres_url, *flags, dump)

    assert migrations.is_current(restored.engine)
    assert migrations.differences(restored.engine) == []
    assert await restored.read(lambda session: find_owner(session, digester, key=caller.key)) is not None
    with pytest.raises(DBAPIError), restored.transaction() as session:
        session.execute(text("DELETE FROM ledger"))
    # Temporal knows none of the jobs. Whoever starts the service right away waits for their deadlines …
    reconciling = ReconcilingActivities(restored, MemoryObjectStore(), TemporalGateway(idle_temporal), TTL)
    assert (await ActivityEnvironment().run(reconciling.reconcile, SweepInput())).released == 1
    # … and whoever does not want to wait releases them first.
    assert release_open_jobs(restored, TTL) == 1
    with restored.reading() as session:
        assert entries_of_job(session, job_id=done) == ["reserve", "settle"]
        for job_id in (overdue, young):
            assert entries_of_job(session, job_id=job_id) == ["reserve", "release"]
        assert check_ledger(session) == []


@pytest.fixture
async def admin(postgres_url: str) -> AsyncIterator[Database]:
    """The server's superuser, while ``service`` and ``service_b`` need passwords."""
    admin = Database(DatabaseSettings(url=postgres_url))
    access = Path(await _asked(admin, "SHOW data_directory")) / "pg_hba.conf"
    before = access.read_text()
    await _told(admin, "CREATE ROLE service LOGIN PASSWORD 'old'")
    access.write_text("host all service,service_b 127.0.0.1/32 scram-sha-256\n" + before)
    await _told(admin, "SELECT pg_reload_conf()")
    yield admin
    access.write_text(before)
    await _told(admin, "SELECT pg_reload_conf()")
    await _told(admin, "DROP OWNED BY service")
    await _told(admin, "DROP ROLE IF EXISTS service_b")
    await _told(admin, "DROP ROLE service")
    admin.close()


async def test_a_role_gets_another_password_while_the_service_runs(postgres_url: str, admin: Database) -> None:
    """Connections that are open stay open; only new ones need the new password."""
    old, late, new = (_as_role(postgres_url, "service", password) for password in ("old", "old", "new"))
    assert await _asked(old, "SELECT current_user") == "service"
    await _told(admin, "ALTER ROLE service PASSWORD 'new'")
    assert await _asked(old, "SELECT current_user") == "service"
    with pytest.raises(Exception, match="password authentication failed"):
        await late.ping()
    assert await _asked(new, "SELECT current_user") == "service"
    for database in (old, late, new):
        database.close()


async def test_a_second_role_takes_over_without_a_gap(postgres_url: str, admin: Database) -> None:
    """What it makes belongs to the first, which may lose its password then."""
    first, second = _as_role(postgres_url, "service", "old"), _as_role(postgres_url, "service_b", "new")
    await _told(admin, "GRANT CREATE ON SCHEMA public TO service")
    await _told(first, "CREATE TABLE made_before (n integer)")
    await _told(admin, "CREATE ROLE service_b LOGIN PASSWORD 'new' IN ROLE service")
    await _told(admin, "ALTER ROLE service_b SET role = 'service'")
    await _told(second, "ALTER TABLE made_before ADD COLUMN m integer")
    await _told(admin, "ALTER ROLE service PASSWORD NULL")
    first.close()
    again = _as_role(postgres_url, "service", "old")
    with pytest.raises(Exception, match="password authentication failed"):
        await again.ping()
    await _told(second, "CREATE TABLE made_after (n integer)")
    owner = "SELECT tableowner FROM pg_tables WHERE tablename = 'made_after'"
    assert await _asked(second, owner) == "service"
    for database in (again, second):
        database.close()


def _as_role(url: str, role: str, password: str) -> Database:
    address = make_url(url).set(username=role, password=password)
    return Database(DatabaseSettings(url=address.render_as_string(hide_password=False)))


async def _asked(database: Database, question: str) -> str:
    with database.transaction() as session:
        return str(session.scalar(text(question)))


async def _told(database: Database, statement: str) -> None:
    with database.transaction() as session:
        session.execute(text(statement))
