"""Restoring a backup: everything is put together in a folder beside the wanted one, which then takes its place."""

from __future__ import annotations

import mimetypes
import shutil
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pydantic import SecretStr

from cli.backups.archive import (
    DATABASE,
    SECRETS,
    ArchiveReader,
    BackupError,
    Manifest,
    check_sqlite,
    read_archive,
    store_alone,
)
from cli.backups.making import STAMP, sqlite_file
from domain import migrations
from domain.errors import ErrorCode
from domain.jobs import jobs
from domain.money.ledger import Disagreement, check_ledger
from runtime.database import Database
from runtime.embedded.record import LOCK_FILE, StackRecord, sole_use, stack_secrets, stop_leftovers
from runtime.settings import DatabaseSettings, Settings

RELEASED_AS: ErrorCode = "generation_failed"
"""What callers are told of jobs that were in progress: that they may try again."""

AT_ONCE = 200
"""Jobs released in one transaction."""


@dataclass(frozen=True)
class Restored:
    """What was done.

    Attributes:
        manifest: Of the backup.
        released: Jobs that were in progress and are not billed.
        disagreements: What ``tryon ledger check`` would find.
        set_aside: Where the folder that was there before is now.
    """

    manifest: Manifest
    released: int
    disagreements: list[Disagreement]
    set_aside: Path | None


async def restore(settings: Settings, archive: Path, *, replace: bool) -> Restored:
    """Put a backup in the place of the data folder.

    Args:
        settings: From the environment alone; the data folder is where the backup goes.
        archive: The backup.
        replace: Whether a folder that is not empty is set aside; otherwise it is refused.

    Raises:
        BackupError: The backup is not whole, or newer than this service, the folder is not empty, or the settings name
            another database. Nothing was changed.
        FolderInUseError: A stack runs in the folder.
    """
    data_dir = settings.stack.data_dir.resolve()
    _refuse_other_database(settings, data_dir)
    with read_archive(archive) as backup, sole_use(data_dir):
        record = StackRecord.read(data_dir)
        if record and record.supervisor.find():
            raise BackupError(f"the stack in {data_dir} is up: tryon down")
        occupied = any(entry.name != LOCK_FILE for entry in data_dir.iterdir())
        if occupied and not replace:
            raise BackupError(f"{data_dir} is not empty; --replace sets it aside")
        beside = data_dir.with_name(data_dir.name + ".restoring")
        # They would go on in the folder that is set aside, or in the one that is deleted.
        stop_leftovers(data_dir, record)
        stop_leftovers(beside, None)
        shutil.rmtree(beside, ignore_errors=True)  # of a restore that was killed
        beside.mkdir(mode=0o700)
        try:
            released, disagreements = await _assemble(settings, backup, beside)
        except BaseException:
            shutil.rmtree(beside, ignore_errors=True)
            raise
        return Restored(backup.manifest, released, disagreements, _take_place(beside, data_dir, keep=occupied))


def release_open_jobs(database: Database, keep: timedelta) -> int:
    """Fail every job in progress and release its reservation: after a restore nobody works on them.

    Args:
        database: Of a service that does not run.
        keep: How long the reason can be polled.

    Returns:
        How many there were.
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


def _refuse_other_database(settings: Settings, data_dir: Path) -> None:
    if "url" not in settings.database.model_fields_set:
        return
    file = sqlite_file(settings.database)
    if file.parent.resolve() / file.name != data_dir / DATABASE:
        raise BackupError(
            f"TRYON_DATABASE_URL is set, and the stack would go on with that database: unset it, or name "
            f"{data_dir / DATABASE}"
        )


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
            await store.put(key, backup.object(key), mimetypes.guess_type(key)[0] or "application/octet-stream")
        if not set(wanted) <= set(await store.list_keys("")):
            raise BackupError("the object store does not list every object that was written to it")
    return released, disagreements


def _take_place(folder: Path, data_dir: Path, *, keep: bool) -> Path | None:
    """Two renames on one disk: at no moment is there half a restore."""
    aside = data_dir.with_name(f"{data_dir.name}.before-{datetime.now(UTC):{STAMP}}")
    data_dir.rename(aside)
    folder.rename(data_dir)
    if keep:
        return aside
    shutil.rmtree(aside)
    return None
