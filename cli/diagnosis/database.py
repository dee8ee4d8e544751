"""The database: reachable, writable, of a sound version, migrated; and whether jobs or mail in it stand still."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import closing
from datetime import UTC, datetime, timedelta

from sqlalchemy import make_url, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from cli.diagnosis.findings import Case, Finding, Subject, counted, in_one_line, judged_clock
from domain import erasure, mails, migrations
from domain.jobs import jobs
from domain.money.ledger import check_ledger
from domain.operation import operators
from runtime.database import Database
from runtime.settings import MailSettings
from workflows.queues import erasure_workflow_id

DATABASE = Subject("database")
MIGRATIONS = Subject("migrations")
CLOCK = Subject("clock of the database")
OUTBOX = Subject("outbox")
DEADLINES = Subject("deadlines")

FIRST_WAL_RESET, LAST_WAL_RESET = (3, 7, 0), (3, 51, 2)
"""Versions of SQLite whose write-ahead log can be corrupted when two processes checkpoint at once."""

STUCK_AFTER = timedelta(seconds=30)  # the relay hands a job over within seconds
OVERDUE_AFTER = timedelta(minutes=2)
"""The reconciler releases a job half a minute after its deadline, and comes every minute."""

MOST = 10_000  # so many are counted; there is no need to know how many more there are
MAIL = Subject("mail")
ERASURES = Subject("erasures")
OPERATORS = Subject("operators")
NEEDING_TABLES = (OUTBOX, DEADLINES, MAIL, ERASURES, OPERATORS)

MAIL_STUCK_AFTER = timedelta(minutes=10)
"""A person who signs up sits there and waits; a server that says "later" (greylisting) means some minutes."""

ERASURE_STUCK_AFTER = timedelta(hours=1)  # an erasure takes minutes, and is begun anew by the reconciler
LEDGER = Subject("ledger")


async def look(case: Case) -> AsyncGenerator[Finding, None]:
    """Ask the database of the settings; nothing is written."""
    url, file = make_url(case.settings.database.url), case.settings.database.file()
    kind = "SQLite" if url.get_backend_name() == "sqlite" else "PostgreSQL"
    place = url.render_as_string(hide_password=True)
    away = (
        "Look at TRYON_DATABASE_URL; a new database is made by: tryon db upgrade"
        if kind == "SQLite"
        else "Look at TRYON_DATABASE_URL and whether the server runs: pg_isready -h HOST -p PORT"
    )
    if file and not file.is_file():  # connecting would make an empty one
        yield DATABASE.error(f"there is no file {file}", away)
        for subject in (MIGRATIONS, CLOCK, *NEEDING_TABLES):
            yield subject.skipped("there is no database")
        return
    with closing(Database(case.settings.database)) as database:
        question = "SELECT sqlite_version()" if kind == "SQLite" else "SHOW server_version"
        try:
            version = await database.read(lambda session: session.scalar(text(question)))
        except (SQLAlchemyError, OSError) as error:
            yield DATABASE.error(f"{place} does not answer: {in_one_line(error)}", away)
            for subject in (MIGRATIONS, CLOCK, *NEEDING_TABLES):
                yield subject.skipped("the database does not answer")
            return
        yield judged_version(kind, str(version), place)
        yield await _writable(database)
        if kind == "SQLite":
            yield CLOCK.skipped("SQLite has no clock of its own")
        else:
            before = datetime.now(UTC)
            theirs = await database.read(lambda session: session.scalar(text("SELECT clock_timestamp()")))
            yield judged_clock(CLOCK, theirs, before, datetime.now(UTC))
        if not await asyncio.to_thread(migrations.is_current, database.reading_engine):
            yield MIGRATIONS.error("the tables are not those of this version", "tryon db upgrade")
            for subject in NEEDING_TABLES:
                yield subject.skipped("the tables are of another version")
            return
        yield MIGRATIONS.ok("the tables are those of this version")
        now = datetime.now(UTC)
        yield await database.read(_outbox, now)
        yield await database.read(_deadlines, now)
        yield await database.read(_mail, case.settings.mail, now)
        yield await database.read(_erasures, now)
        yield await database.read(_operators)


def judged_version(kind: str, version: str, place: str) -> Finding:
    """Whether this version of the database may be used."""
    numbers = tuple(int(part) for part in version.split(".")[:3] if part.isdecimal())
    if kind == "SQLite" and FIRST_WAL_RESET <= numbers <= LAST_WAL_RESET:
        return DATABASE.error(
            f"SQLite {version} at {place} can corrupt its write-ahead log when two processes write",
            "Install a fixed one into this environment: pip install --upgrade 'pysqlite3>=0.6.1'",
        )
    return DATABASE.ok(f"{kind} {version} at {place}")


async def _writable(database: Database) -> Finding:
    """Whether a transaction that may write can begin; on SQLite that takes its one write lock."""

    def read_only(session: Session) -> bool:
        session.connection()  # which begins the transaction
        on_server = session.get_bind().dialect.name == "postgresql"
        return on_server and session.scalar(text("SHOW transaction_read_only")) == "on"

    try:
        refused = await database.write(read_only)
    except (SQLAlchemyError, OSError) as error:
        return DATABASE.error(
            f"it cannot be written: {in_one_line(error)}",
            "See who holds it (a stopped process, a backup), whether the disk is full, and whose the file is.",
        )
    if refused:
        return DATABASE.error(
            "it takes no writes: it is a standby, or set to be read only", "Point TRYON_DATABASE_URL at the primary."
        )
    return DATABASE.ok("it can be written")


def _outbox(session: Session, now: datetime) -> Finding:
    waiting = jobs.list_unstarted(session, older_than=STUCK_AFTER, limit=MOST)
    if not waiting:
        return OUTBOX.ok("no job waits to be handed to Temporal")
    age = now - waiting[0].created_at
    return OUTBOX.error(
        f"{counted(len(waiting), 'accepted job')} not handed to Temporal, the oldest for {age.total_seconds():.0f} s",
        "Start a CPU worker that reaches Temporal (python -m worker_cpu.main); its log says `relay waits` and why.",
    )


def _deadlines(session: Session, now: datetime) -> Finding:
    open_jobs = jobs.list_open(session, older_than=timedelta(0), limit=MOST)
    overdue = [job for job in open_jobs if job.deadline_at + OVERDUE_AFTER <= now]
    if not overdue:
        return DEADLINES.ok(f"{counted(len(open_jobs), 'job')} in progress, none past its deadline")
    return DEADLINES.error(
        f"{counted(len(overdue), 'job')} past the deadline and not released, such as {overdue[0].id}",
        "See that a CPU worker polls and the schedule runs: temporal schedule trigger --schedule-id tryon-reconcile",
    )


def _mail(session: Session, settings: MailSettings, now: datetime) -> Finding:
    if settings.host is None:
        kept = mails.list_waiting(session, written_before=now, limit=MOST)
        return MAIL.ok(f"{counted(len(kept), 'message')} to be read with `tryon mail list`: there is no mail server")
    late = mails.list_waiting(session, written_before=now - MAIL_STUCK_AFTER, limit=MOST)
    if late:
        minutes = f"{MAIL_STUCK_AFTER.total_seconds() / 60:.0f} minutes"
        return MAIL.error(
            f"{counted(len(late), 'message')} waiting for more than {minutes}",
            "Look at TRYON_MAIL_… of the CPU worker; its log, and the run tryon-mail-ID in Temporal, say what the "
            "server answers.",
        )
    refused = mails.count_refused(session)
    if refused:
        return MAIL.warning(
            f"{counted(refused, 'message')} of the last week refused for good by the mail server",
            "See to whom with `tryon mail list`; if it is everybody, the server does not take TRYON_MAIL_SENDER.",
        )
    return MAIL.ok("none waits, none was refused")


def _erasures(session: Session, now: datetime) -> Finding:
    stuck = erasure.list_unfinished(session, older_than=ERASURE_STUCK_AFTER, now=now, limit=MOST)
    if not stuck:
        return ERASURES.ok("no account waits to be erased")
    return ERASURES.error(
        f"{counted(len(stuck), 'account')} to be erased for more than an hour, such as {stuck[0]}",
        f"See why its run does not end: temporal workflow describe -w {erasure_workflow_id(str(stuck[0]))}",
    )


def _operators(session: Session) -> Finding:
    found = operators.list_operators(session)
    if not found:
        return OPERATORS.warning(
            "nobody sees the admin pages, so nobody approves payments there", "tryon operator add EMAIL"
        )
    return OPERATORS.ok(counted(len(found), "operator"))


async def look_at_ledger(case: Case) -> AsyncGenerator[Finding, None]:
    """Recompute every balance, in one reading transaction."""
    if not case.ledger:
        yield LEDGER.skipped("it is recomputed hourly; --ledger does it now")
        return
    file = case.settings.database.file()
    if file and not file.is_file():
        yield LEDGER.skipped("there is no database")
        return
    with closing(Database(case.settings.database)) as database:
        disagreements = await database.read(check_ledger)
    if disagreements:
        yield LEDGER.error(f"{counted(len(disagreements), 'disagreement')}", "See them all: tryon ledger check")
    else:
        yield LEDGER.ok("counters, ledger and jobs agree")
