"""``tryon backup``: making a backup of the embedded stack, up or down, and restoring one.

The database is copied before the objects, so every object that its rows name exists when the objects are copied. No row
of the copy names an object that is written later. The objects that are deleted meanwhile are not needed for long:
results past their time, pictures that a product no longer has.

A restore is assembled in a folder beside the data folder and then takes its place.
"""

from __future__ import annotations

import asyncio
import json
import mimetypes
import shutil
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import SecretStr

from cli.answers import AsJson, failing_on, show
from cli.archive import (
    DATABASE,
    OBJECTS,
    SECRETS,
    ArchiveReader,
    BackupError,
    Manifest,
    check_sqlite,
    copy_sqlite,
    new_archive,
    read_archive,
)
from cli.embedded import kept_environment, store_alone
from cli.service import Service
from domain import migrations
from domain.counts import count_rows, newest_job, referenced_keys
from domain.errors import ErrorCode
from domain.jobs import jobs
from domain.money.ledger import Disagreement, check_ledger
from domain.object_keys import ACCOUNTS, BACKFILLS, PRODUCTS, RESULTS
from runtime.database import Database
from runtime.embedded.record import (
    LOCK_FILE,
    FolderInUseError,
    StackRecord,
    has_secrets,
    sole_use,
    stack_secrets,
    stop_leftovers,
    write_environment,
)
from runtime.embedded.servers import PortInUseError
from runtime.embedded.supervisor import ChildFailedError
from runtime.object_store import ObjectMissingError, ObjectStore, ObjectStoreUnavailableError, S3ObjectStore
from runtime.settings import EMBEDDED_FILE, DatabaseSettings, Settings, load_settings

app = typer.Typer(no_args_is_help=True, help="Backups of the embedded stack.")

EXPECTED = (
    BackupError,
    ChildFailedError,
    FolderInUseError,
    ObjectStoreUnavailableError,
    OSError,
    PortInUseError,
)

CONSEQUENCES = """\
A restore goes back to {moment}:
- Jobs accepted since then are unknown: polls are 404, nothing is billed, and a POST that is repeated makes a new job.
- Jobs in progress at that moment are failed and not billed, also where they were completed since.
- Products, accounts, keys, sign-ins, orders and top-ups since then are lost.
- What was withdrawn since then counts again: keys that were revoked, pictures and accounts that were erased.
- Webhooks and mail that waited at that moment are sent, some of them for the second time.
- Backfills do not go on. Start them again under their names: items that are done are skipped."""

WARNING = "It holds the stack's secrets and customers' pictures: keep it where only you can read it."

KEPT = (ACCOUNTS, PRODUCTS, RESULTS, BACKFILLS)
"""The prefixes that a backup keeps; not the inputs and work files of jobs, since no job outlives a restore."""

STAMP = "%Y%m%dT%H%M%SZ"

RELEASED_AS: ErrorCode = "generation_failed"
"""The error code of jobs that were in progress; it tells callers to try again."""

AT_ONCE = 200  # jobs released in one transaction


Archive = Annotated[Path, typer.Argument(help="The backup.")]


@app.command("create")
def create(
    target: Annotated[Path, typer.Argument(help="The file to write, or a folder to write it to.")],
    results: Annotated[
        bool, typer.Option(help="Keep results that callers can still fetch: customers' pictures.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Write a backup, whether the stack is up or down: database, secrets, and the pictures worth keeping."""
    settings = load_settings()
    path = target / f"tryon-{datetime.now(UTC):{STAMP}}.tar" if target.is_dir() else target
    with failing_on(*EXPECTED):
        manifest = asyncio.run(make_backup(settings, path, results=results))
    show({"file": str(path), **_facts(manifest)}, f"{path}\n{_told(manifest)}\n{WARNING}", as_json=as_json)


@app.command("check")
def check(archive: Archive, as_json: AsJson = False) -> None:
    """Compare every part of a backup with its SHA-256."""
    with failing_on(*EXPECTED), read_archive(archive) as backup:
        manifest = backup.manifest
    consequences = CONSEQUENCES.format(moment=manifest.made_at)
    show(_facts(manifest), f"{archive} is whole.\n{_told(manifest)}", consequences, as_json=as_json)


@app.command("restore")
def restore_backup(
    archive: Archive,
    replace: Annotated[bool, typer.Option("--replace", help="Move a data folder that is not empty aside.")] = False,
) -> None:
    """Put a backup into the data folder (TRYON_DATA_DIR), all of it or nothing."""
    settings = Settings()
    with failing_on(*EXPECTED):
        done = asyncio.run(restore(settings, archive, replace=replace))
    # Commands find the database and the secrets before the stack has been started there.
    write_environment(settings.stack.data_dir / EMBEDDED_FILE, kept_environment(settings))
    typer.echo(f"Restored to {settings.stack.data_dir}.\n{_told(done.manifest)}")
    typer.echo(CONSEQUENCES.format(moment=done.manifest.made_at))
    typer.echo(f"{done.released} jobs were in progress; they are released and not billed.")
    if done.set_aside:
        typer.echo(f"The earlier data folder is now {done.set_aside}.")
    for each in done.disagreements:
        typer.echo(f"{each.account_id}  {each.subject}: counted {each.counted}; recomputed {each.recomputed}", err=True)
    typer.echo("Counters, ledger and jobs agree." if not done.disagreements else "The ledger does not add up.")
    typer.echo("Start it with tryon up.")
    if done.disagreements:
        raise typer.Exit(1)


@app.command("release-open")
def release_open(
    stopped: Annotated[
        bool, typer.Option("--nothing-runs", help="Say that neither API nor workers run on this database.")
    ] = False,
) -> None:
    """After a restore by other means (pg_restore): release every job in progress, before anything is started.

    Says what such a restore loses, and which objects are not in the bucket though rows speak of them.
    """
    if not stopped:
        typer.echo("This also releases jobs that workers are busy with. Stop everything, then add --nothing-runs.")
        raise typer.Exit(1)
    service = Service()
    with service.database() as database:
        with database.reading() as session:
            newest, referenced = newest_job(session), referenced_keys(session.connection())
        released = release_open_jobs(database, timedelta(seconds=service.settings.jobs.result_ttl_seconds))
    accepted = f"its newest job was accepted at {newest.isoformat(timespec='seconds')}" if newest else "it has no jobs"
    typer.echo(CONSEQUENCES.format(moment=f"the moment of the dump; {accepted}"))
    try:
        there = asyncio.run(_keys_in(service.store))
    except ObjectStoreUnavailableError as error:
        typer.echo(f"The bucket was not looked at, so objects may be missing: {error}")
    else:
        typer.echo(_told_missing(sorted(referenced - there)) or "Every object that rows speak of is in the bucket.")
    typer.echo(f"{released} jobs were in progress; they are released and not billed.")


def _facts(manifest: Manifest) -> dict[str, Any]:
    return manifest.model_dump(exclude={"parts"}) | {"bytes": sum(part.size for part in manifest.parts.values())}


def _told(manifest: Manifest) -> str:
    counts = ", ".join(f"{number} {name}" for name, number in manifest.counts.items())
    size = _facts(manifest)["bytes"]
    told = f"Made at {manifest.made_at} by version {manifest.service_version}: {counts}; {size:,} bytes."
    missing = _told_missing(manifest.missing)
    return f"{told}\n{missing}" if missing else told


def _told_missing(missing: Sequence[str]) -> str:
    listed = ", ".join(missing[:5])
    return f"{len(missing)} objects that rows speak of were not in the store: {listed}" if missing else ""


async def _keys_in(store: ObjectStore, prefixes: Sequence[str] = KEPT) -> set[str]:
    return {key for prefix in prefixes for key in await store.list_keys(prefix)}


async def make_backup(settings: Settings, path: Path, *, results: bool) -> Manifest:
    """Write a backup of the embedded stack, with the results that callers can still fetch or without.

    Raises:
        BackupError: It is no embedded stack, or there is such a file.
        FolderInUseError: The stack is just starting or stopping.
        ObjectStoreUnavailableError: The store of the running stack did not answer.
    """
    data_dir, database_file = settings.stack.data_dir, sqlite_file(settings.database)
    if not has_secrets(data_dir) or not database_file.is_file():
        raise BackupError(f"no stack has run in {data_dir}")
    pepper, previous = settings.security.peppers()
    secrets = {"s3_secret_key": settings.object_store.secret_key.get_secret_value(), "key_pepper": pepper}
    secrets |= {"key_pepper_previous": ",".join(previous)} if previous else {}
    secrets |= {name: text for name, text in stack_secrets(data_dir).items() if name.startswith("signing_")}
    kept = tuple(prefix for prefix in KEPT if results or prefix != RESULTS)
    made_at, objects = datetime.now(UTC), set()
    async with _store_of(settings, data_dir) as store:
        with (
            tempfile.TemporaryDirectory(prefix=".tryon-backup-", dir=path.parent) as scratch,
            new_archive(path) as archive,
        ):
            copy = Path(scratch) / DATABASE
            copy_sqlite(database_file, copy)
            archive.add(DATABASE, copy)
            archive.add(SECRETS, json.dumps(secrets, indent=2).encode())
            for key in sorted(await _keys_in(store, kept)):
                try:
                    archive.add(OBJECTS + key, await store.get(key))
                except ObjectMissingError:
                    continue  # deleted since it was listed
                objects.add(key)
            with closing(Database(DatabaseSettings(url=f"sqlite:///{copy}"))) as database:
                revision = migrations.revision(database.engine)
                with database.engine.connect() as connection:
                    counts, referenced = count_rows(connection), referenced_keys(connection)
            return archive.close(
                {
                    "service_version": metadata.version("tryon-service"),
                    "made_at": made_at.isoformat(timespec="seconds"),
                    "schema_revision": revision,
                    "counts": counts | {"objects": len(objects)},
                    "missing": sorted(key for key in referenced - objects if key.startswith(kept)),
                }
            )


def sqlite_file(settings: DatabaseSettings) -> Path:
    """The file of the embedded stack's database.

    Raises:
        BackupError: The database is a server.
    """
    file = settings.file()
    if file is None:
        raise BackupError(
            "this is for the embedded stack, whose database is a SQLite file, and TRYON_DATABASE_URL names another; "
            "docs/backup.md has the commands for PostgreSQL and S3"
        )
    return file


@asynccontextmanager
async def _store_of(settings: Settings, data_dir: Path) -> AsyncIterator[ObjectStore]:
    record = StackRecord.read(data_dir)
    if record and record.supervisor.find():
        yield S3ObjectStore(settings.object_store)
        return
    with sole_use(data_dir):
        stop_leftovers(data_dir, StackRecord.read(data_dir))
        async with store_alone(settings, data_dir) as store:
            yield store


@dataclass(frozen=True)
class Restored:
    """What was done: jobs that are not billed, what the ledger check finds, and where the earlier folder is now."""

    manifest: Manifest
    released: int
    disagreements: list[Disagreement]
    set_aside: Path | None


async def restore(settings: Settings, archive: Path, *, replace: bool) -> Restored:
    """Put a backup in the place of the data folder; one that is not empty is set aside (``replace``) or refused.

    Raises:
        BackupError: The backup is not whole, or newer than this service, the folder is not empty, or the settings name
            another database. Nothing was changed.
        FolderInUseError: A stack runs in the folder.
    """
    data_dir = settings.stack.data_dir.resolve()
    if "url" in settings.database.model_fields_set:
        file = sqlite_file(settings.database)
        if file.parent.resolve() / file.name != data_dir / DATABASE:
            raise BackupError(
                f"TRYON_DATABASE_URL is set, and the stack would go on with that database: unset it, or name "
                f"{data_dir / DATABASE}"
            )
    with read_archive(archive) as backup, sole_use(data_dir):
        record = StackRecord.read(data_dir)
        if record and record.supervisor.find():
            raise BackupError(f"the stack in {data_dir} is up: tryon down")
        occupied = any(entry.name != LOCK_FILE for entry in data_dir.iterdir())
        if occupied and not replace:
            raise BackupError(f"{data_dir} is not empty; --replace sets it aside")
        beside = data_dir.with_name(data_dir.name + ".restoring")
        # Otherwise they would run on in the folder that is set aside, or in the one that is deleted.
        stop_leftovers(data_dir, record)
        stop_leftovers(beside, None)
        shutil.rmtree(beside, ignore_errors=True)  # of a restore that was killed
        beside.mkdir(mode=0o700)
        try:
            released, disagreements = await _assemble(settings, backup, beside)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
        # Two renames on one disk: a restore is never there by half.
        aside = data_dir.with_name(f"{data_dir.name}.before-{datetime.now(UTC):{STAMP}}")
        data_dir.rename(aside)
        beside.rename(data_dir)
        if not occupied:
            shutil.rmtree(aside)
        return Restored(backup.manifest, released, disagreements, aside if occupied else None)


async def _assemble(settings: Settings, backup: ArchiveReader, folder: Path) -> tuple[int, list[Disagreement]]:
    backup.extract(DATABASE, folder / DATABASE)
    backup.extract(SECRETS, folder / "secrets.json")
    check_sqlite(folder / DATABASE)
    with closing(Database(DatabaseSettings(url=f"sqlite:///{folder / DATABASE}"))) as database:
        if not migrations.is_known(database.engine):
            raise BackupError(
                f"the backup's database has seen migration {migrations.revision(database.engine)}, which this "
                f"service does not know: it needs version {backup.manifest.service_version} or a newer one"
            )
        migrations.upgrade(database.engine)
        released = release_open_jobs(database, timedelta(seconds=settings.jobs.result_ttl_seconds))
        with database.reading() as session:
            disagreements = check_ledger(session)
    secret = SecretStr(stack_secrets(folder)["s3_secret_key"])
    settings.object_store = settings.object_store.model_copy(update={"secret_key": secret})
    async with store_alone(settings, folder) as store:
        wanted = backup.object_keys
        for key in wanted:
            content_type = mimetypes.guess_type(key)[0] or "application/octet-stream"
            await store.put(key, backup.read(OBJECTS + key), content_type)
        if not set(wanted) <= set(await store.list_keys("")):
            raise BackupError("the object store does not list every object that was written to it")
    return released, disagreements


def release_open_jobs(database: Database, keep: timedelta) -> int:
    """Fail every job in progress and release its reservation: after a restore nobody works on them.

    The reason can be polled for as long as ``keep``. Returns how many there were.
    """
    released = 0
    while True:
        with database.transaction() as session:
            found = jobs.list_open(session, older_than=timedelta(0), limit=AT_ONCE)
            for job in found:
                released += jobs.fail_job(
                    session, job_id=job.id, error_code=RELEASED_AS, keep=keep, now=datetime.now(UTC)
                )
        if len(found) < AT_ONCE:
            return released
