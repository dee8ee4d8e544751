"""What keeps the data: the database, whether jobs or mail in it stand still, the object store, and who counts calls.

Each is asked as the service asks it; an object that is written as a probe is deleted again.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
from sqlalchemy import make_url, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from api.rate_limit import ValkeyRateLog
from cli.diagnosis.findings import Case, Finding, Stop, Subject, counted, in_one_line, options_of
from domain import erasure, mails, migrations
from domain.jobs import jobs
from domain.money.ledger import check_ledger
from domain.operation import operators
from runtime.database import Database
from runtime.object_store import ObjectStoreUnavailableError, S3ObjectStore
from runtime.settings import MailSettings, Settings
from workflows.queues import erasure_workflow_id

DATABASE = Subject("database")
MIGRATIONS = Subject("migrations")
DATABASE_CLOCK = Subject("clock of the database")
OUTBOX = Subject("outbox")
DEADLINES = Subject("deadlines")
MAIL = Subject("mail")
ERASURES = Subject("erasures")
OPERATORS = Subject("operators")
NEEDING_TABLES = (OUTBOX, DEADLINES, MAIL, ERASURES, OPERATORS)
NEEDING_A_DATABASE = (MIGRATIONS, DATABASE_CLOCK, *NEEDING_TABLES)
LEDGER = Subject("ledger")
STORE = Subject("object store")
STORE_CLOCK = Subject("clock of the object store")
BUCKET = Subject("bucket")
OBJECTS = Subject("objects")
RATE_LIMIT = Subject("rate limit")

FIRST_WAL_RESET, LAST_WAL_RESET = (3, 7, 0), (3, 51, 2)
"""Versions of SQLite whose write-ahead log can be corrupted when two processes checkpoint at once."""

STUCK_AFTER = timedelta(seconds=30)  # the relay hands a job over within seconds
OVERDUE_AFTER = timedelta(minutes=2)  # the reconciler runs every minute, and waits half a minute after a deadline
MAIL_STUCK_AFTER = timedelta(minutes=10)  # a server that says "later" (greylisting) means some minutes
ERASURE_STUCK_AFTER = timedelta(hours=1)  # an erasure takes minutes, and the reconciler starts it again
MOST = 10_000  # rows are counted up to this number

CONNECT_SECONDS = 2.0
READ_SECONDS = 5.0  # shorter than the service's own: a person waits for the doctor's answer
PREFIX = "doctor/"  # probe objects lie below it, for as long as the probe takes
BODY = b"tryon doctor"

WORTH_A_WORD = timedelta(seconds=5)
"""Deadlines, rates and expiry depend on the clocks of several hosts; a few seconds do no harm."""

TOO_FAR = timedelta(minutes=5)  # as long as a job may take; an S3 service refuses signatures that are 15 minutes off


async def look_at_database(case: Case) -> AsyncGenerator[Finding, None]:
    """Ask the database of the settings; nothing is written."""
    url, file = make_url(case.settings.database.url), case.settings.database.file()
    sqlite = url.get_backend_name() == "sqlite"
    place, away = url.render_as_string(hide_password=True), "Look at TRYON_DATABASE_URL"
    away += (
        "; a new database is made by: tryon db upgrade"
        if sqlite
        else " and whether the server runs: pg_isready -h HOST -p PORT"
    )
    if file and not file.is_file():  # connecting would make an empty one
        raise Stop(DATABASE.error(f"there is no file {file}", away), "there is no database", NEEDING_A_DATABASE)
    with closing(Database(case.settings.database)) as database:
        try:
            version = await database.read(_answer_to, "SELECT sqlite_version()" if sqlite else "SHOW server_version")
        except (SQLAlchemyError, OSError) as error:
            silent = DATABASE.error(f"{place} does not answer: {in_one_line(error)}", away)
            raise Stop(silent, "the database does not answer", NEEDING_A_DATABASE) from None
        yield judged_version("SQLite" if sqlite else "PostgreSQL", str(version), place)
        yield await _writable(database)
        if sqlite:
            yield DATABASE_CLOCK.skipped("SQLite has no clock of its own")
        else:
            before = datetime.now(UTC)
            theirs = await database.read(_answer_to, "SELECT clock_timestamp()")
            yield judged_clock(DATABASE_CLOCK, theirs, before, datetime.now(UTC))
        if not await asyncio.to_thread(migrations.is_current, database.reading_engine):
            old = MIGRATIONS.error("the tables are not those of this version", "tryon db upgrade")
            raise Stop(old, "the tables are of another version", NEEDING_TABLES)
        yield MIGRATIONS.ok("the tables are those of this version")
        for finding in await database.read(_standing, case.settings, datetime.now(UTC)):
            yield finding


def _answer_to(session: Session, question: str) -> Any:
    return session.scalar(text(question))


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
        return on_server and _answer_to(session, "SHOW transaction_read_only") == "on"

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


def _standing(session: Session, settings: Settings, now: datetime) -> list[Finding]:
    """Whether jobs, mail or erasures stand still, and whether there is an operator."""
    waiting = jobs.list_unstarted(session, older_than=STUCK_AFTER, limit=MOST)
    outbox = OUTBOX.ok("no job waits to be handed to Temporal")
    if waiting:
        age = (now - waiting[0].created_at).total_seconds()
        outbox = OUTBOX.error(
            f"{counted(len(waiting), 'accepted job')} not handed to Temporal, the oldest for {age:.0f} s",
            "Start a CPU worker that reaches Temporal (python -m worker_cpu.main); its log says `relay waits` and why.",
        )
    open_jobs = jobs.list_open(session, older_than=timedelta(0), limit=MOST)
    overdue = [job for job in open_jobs if job.deadline_at + OVERDUE_AFTER <= now]
    deadlines = DEADLINES.ok(f"{counted(len(open_jobs), 'job')} in progress, none past its deadline")
    if overdue:
        deadlines = DEADLINES.error(
            f"{counted(len(overdue), 'job')} past the deadline and not released, such as {overdue[0].id}",
            "See that a CPU worker polls and the schedule runs: "
            f"temporal schedule trigger {options_of(settings.temporal)} --schedule-id tryon-reconcile",
        )
    stuck = erasure.list_unfinished(session, older_than=ERASURE_STUCK_AFTER, now=now, limit=MOST)
    erasures = ERASURES.ok("no account waits to be erased")
    if stuck:
        erasures = ERASURES.error(
            f"{counted(len(stuck), 'account')} to be erased for more than an hour, such as {stuck[0]}",
            "See why its run does not end: "
            f"temporal workflow describe {options_of(settings.temporal)} -w {erasure_workflow_id(str(stuck[0]))}",
        )
    found = operators.list_operators(session)
    admins = OPERATORS.ok(counted(len(found), "operator"))
    if not found:
        admins = OPERATORS.warning(
            "nobody sees the admin pages, so nobody approves payments there", "tryon operator add EMAIL"
        )
    return [outbox, deadlines, _mail(session, settings.mail, now), erasures, admins]


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


async def look_at_object_store(case: Case) -> AsyncGenerator[Finding, None]:
    """Ask the store of the settings; what is written is deleted again."""
    settings = case.settings.object_store
    before = datetime.now(UTC)
    timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    try:
        async with httpx.AsyncClient(timeout=timeout, trust_env=False) as client:
            answer = await client.get(settings.endpoint)
    except httpx.HTTPError as error:
        away = STORE.error(
            f"{settings.endpoint} does not answer: {type(error).__name__} {in_one_line(error)}",
            "Look at TRYON_S3_ENDPOINT and whether the store runs: curl -i $TRYON_S3_ENDPOINT",
        )
        raise Stop(away, "the object store does not answer", (STORE_CLOCK, BUCKET, OBJECTS)) from None
    yield STORE.ok(f"{settings.endpoint} answers")
    date = answer.headers.get("Date")
    if date is None:
        yield STORE_CLOCK.skipped("it does not tell the time in its answers")
    else:
        yield judged_clock(STORE_CLOCK, parsedate_to_datetime(date).astimezone(UTC), before, datetime.now(UTC))
    hurried = {"connect_timeout_seconds": CONNECT_SECONDS, "read_timeout_seconds": READ_SECONDS}
    store = S3ObjectStore(settings.model_copy(update=hurried))
    try:
        await store.list_keys(PREFIX)
    except ObjectStoreUnavailableError as error:
        closed = BUCKET.error(
            f"{store.bucket} cannot be listed: {in_one_line(error)}",
            "See that TRYON_S3_BUCKET exists (the API and `tryon up` make it at start) and that TRYON_S3_ACCESS_KEY "
            "and TRYON_S3_SECRET_KEY may use it.",
        )
        raise Stop(closed, "the bucket cannot be used", [OBJECTS]) from None
    yield BUCKET.ok(f"{store.bucket} is there, and our key may list it")
    yield await _objects(store)


async def _objects(store: S3ObjectStore) -> Finding:
    key = PREFIX + secrets.token_hex(8)
    try:
        await store.put(key, BODY, "text/plain")
        same = await store.get(key) == BODY
        await store.delete_prefix(key)
        gone = not await store.list_keys(key)
    except ObjectStoreUnavailableError as error:
        return OBJECTS.error(
            f"put, get or delete failed: {in_one_line(error)}",
            "Look at the store's log and disk, and at what the key may do: it has to put, get, list and delete.",
        )
    if not same or not gone:
        wrong = "an object came back changed" if not same else "a deleted object is still there"
        return OBJECTS.error(wrong, "Do not use this store before its own log or its maker explains that.")
    return OBJECTS.ok("put, read and deleted one")


async def look_at_rate_limit(case: Case) -> AsyncGenerator[Finding, None]:
    """Ask the server that counts calls, where the settings name one."""
    url = case.settings.rate_limit.url
    if url is None:
        yield RATE_LIMIT.skipped("calls are counted in the database")
        return
    try:
        log = ValkeyRateLog(url.get_secret_value())
    except ValueError as error:
        yield RATE_LIMIT.error(str(error), "Set it, then run `tryon doctor` again.")
        return
    try:
        await log.ping()
    except Exception as error:  # noqa: BLE001  # the client's library has kinds of its own
        yield RATE_LIMIT.error(
            f"the server that counts calls does not answer: {type(error).__name__} {in_one_line(error)}",
            "Look at TRYON_RATE_LIMIT_URL and whether it runs: docker compose ps valkey",
        )
    else:
        yield RATE_LIMIT.ok("the server that counts calls answers")
    finally:
        await log.close()


def judged_clock(subject: Subject, theirs: datetime, before: datetime, after: datetime) -> Finding:
    """How far a clock is from ours, which was read before and after it was asked."""
    skew = theirs - (before + (after - before) / 2)
    off = f"{abs(skew).total_seconds():.1f} s {'ahead of' if skew > timedelta(0) else 'behind'} this host's"
    if abs(skew) < WORTH_A_WORD:
        return subject.ok("agrees with this host's within seconds")
    level = subject.error if abs(skew) >= TOO_FAR else subject.warning
    return level(f"is {off}", "Keep every host's clock with NTP; look here with: timedatectl status")
