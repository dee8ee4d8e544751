from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from alembic import command
from sqlalchemy import text, update

from cli.diagnosis import stores as probe
from cli.diagnosis.findings import Case, Subject
from domain import migrations
from domain.access.keys import KeyDigester
from domain.tables import Allowance
from runtime.database import Database
from runtime.settings import DatabaseSettings, Settings
from tests.cli.diagnosis.conftest import findings_of, levels_of, the
from tests.factories import create_caller, create_job
from tests.servers.processes import free_port

pytestmark = pytest.mark.databases("sqlite", "postgresql")


async def test_a_sound_database(case: Case, own_database: Database) -> None:
    levels = await levels_of(probe.look_at_database, case)
    clock = levels.pop("clock of the database")
    assert levels.pop("operators") == "warning", "nobody was made one yet"
    assert set(levels.values()) == {"ok"}, levels
    assert clock == ("skipped" if "sqlite" in case.settings.database.url else "ok")


async def test_no_server(case: Case, settings: Settings) -> None:
    settings.database = DatabaseSettings(url=f"postgresql://tryon:secret@127.0.0.1:{free_port()}/tryon")
    findings = await findings_of(probe.look_at_database, case)
    assert "TRYON_DATABASE_URL" in (the(findings, "database", "error").remedy or "")
    assert {finding.level for finding in findings[1:]} == {"skipped"}
    assert "secret" not in repr(findings)


async def test_no_file_and_none_is_made(case: Case, settings: Settings, tmp_path: Path) -> None:
    settings.database = DatabaseSettings(url=f"sqlite:///{tmp_path}/none.db")
    assert the(await findings_of(probe.look_at_database, case), "database", "error").remedy
    assert not list(tmp_path.glob("none*"))


async def test_tables_of_an_older_version(case: Case, settings: Settings, empty_database_url: str) -> None:
    settings.database = DatabaseSettings(url=empty_database_url)
    database = Database(settings.database)
    with database.engine.begin() as connection:
        command.upgrade(migrations._config(connection), "0001")
    database.close()
    findings = await findings_of(probe.look_at_database, case)
    assert the(findings, "migrations", "error").remedy == "tryon db upgrade"
    assert the(findings, "outbox", "skipped")


async def test_a_database_without_tables(case: Case, settings: Settings, empty_database_url: str) -> None:
    settings.database = DatabaseSettings(url=empty_database_url)
    assert the(await findings_of(probe.look_at_database, case), "migrations", "error")


async def test_a_database_that_takes_no_writes(case: Case, own_database: Database) -> None:
    if "sqlite" in case.settings.database.url:
        with own_database.transaction() as session:
            session.connection()  # somebody holds the one write lock
            findings = await findings_of(probe.look_at_database, case)
    else:
        with own_database.transaction() as session:
            name = session.scalar(text("SELECT current_database()"))
            session.execute(text(f"ALTER DATABASE {name} SET default_transaction_read_only = on"))
        findings = await findings_of(probe.look_at_database, case)
    refusal = the(findings, "database", "error").sentence
    assert refusal in (
        "it cannot be written: database is locked",
        "it takes no writes: it is a standby, or set to be read only",
    )
    assert the(findings, "outbox", "ok")


@pytest.mark.parametrize(
    ("version", "level"),
    [("3.7.0", "error"), ("3.45.1", "error"), ("3.51.2", "error"), ("3.51.3", "ok"), ("3.53.1", "ok")],
)
def test_versions_of_sqlite_that_corrupt_their_log(version: str, level: str) -> None:
    assert probe.judged_version("SQLite", version, "here").level == level
    assert probe.judged_version("PostgreSQL", version, "here").level == "ok"


async def test_a_job_that_nobody_hands_to_temporal(case: Case, own_database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(own_database, digester)
    await create_job(own_database, caller, age=timedelta(seconds=10))
    assert (await levels_of(probe.look_at_database, case))["outbox"] == "ok"
    await create_job(own_database, caller, age=timedelta(minutes=1))
    stuck = the(await findings_of(probe.look_at_database, case), "outbox", "error")
    assert stuck.sentence.startswith("1 accepted job not handed to Temporal")
    assert "worker_cpu" in (stuck.remedy or "")


async def test_a_job_past_its_deadline(case: Case, own_database: Database, digester: KeyDigester) -> None:
    caller = await create_caller(own_database, digester)
    await create_job(own_database, caller, age=timedelta(minutes=6))
    assert (await levels_of(probe.look_at_database, case))["deadlines"] == "ok"
    job_id = await create_job(own_database, caller, age=timedelta(minutes=8))
    assert str(job_id) in the(await findings_of(probe.look_at_database, case), "deadlines", "error").sentence


async def test_the_ledger_only_on_request(
    case: Case, settings: Settings, own_database: Database, digester: KeyDigester
) -> None:
    assert [finding.level for finding in await findings_of(probe.look_at_ledger, case)] == ["skipped"]
    asked = Case(settings, ledger=True)
    await create_job(own_database, await create_caller(own_database, digester))
    assert [finding.level for finding in await findings_of(probe.look_at_ledger, asked)] == ["ok"]
    with own_database.transaction() as session:
        session.execute(update(Allowance).values(reserved=2))
    assert the(await findings_of(probe.look_at_ledger, asked), "ledger", "error").remedy


@pytest.mark.parametrize(
    ("seconds", "level"), [(0, "ok"), (4, "ok"), (-4, "ok"), (6, "warning"), (-6, "warning"), (301, "error")]
)
def test_clocks(seconds: float, level: str) -> None:
    now = datetime.now(UTC)
    found = probe.judged_clock(Subject("a clock"), now + timedelta(seconds=seconds), now, now)
    assert found.level == level
    assert level == "ok" or ("ahead" if seconds > 0 else "behind") in found.sentence
