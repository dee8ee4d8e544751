"""Making a backup, whether the stack runs or not.

The database is copied before the objects: what its rows speak of is then there to be copied, and whatever is written
later is spoken of by no row of the copy. Objects that go meanwhile are those that no row needs for long: results past
their time, pictures that a product no longer has.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from sqlalchemy import make_url

from cli.backups.archive import (
    DATABASE,
    OBJECTS,
    SECRETS,
    ArchiveWriter,
    BackupError,
    Manifest,
    copy_sqlite,
    new_archive,
    store_alone,
)
from domain import migrations
from domain.counts import count_rows, referenced_keys
from domain.object_keys import ACCOUNTS, BACKFILLS, PRODUCTS, RESULTS
from runtime.database import Database
from runtime.embedded.record import StackRecord, has_secrets, sole_use, stop_leftovers
from runtime.object_store import ObjectMissingError, ObjectStore, S3ObjectStore
from runtime.settings import DatabaseSettings, Settings

KEPT = (ACCOUNTS, PRODUCTS, RESULTS, BACKFILLS)
"""The part of the bucket that is worth keeping. Inputs and work files of jobs are not: no job outlives a restore."""

STAMP = "%Y%m%dT%H%M%SZ"


async def make_backup(settings: Settings, target: Path, *, results: bool = True) -> tuple[Path, Manifest]:
    """Write a backup of the embedded stack.

    Args:
        settings: Those of the stack.
        target: The file, or a folder that gets a file named after the moment.
        results: Whether pictures that callers can still fetch are kept; they would outlive their hour here.

    Returns:
        The file, and what it holds.

    Raises:
        BackupError: It is no embedded stack, or there is such a file.
        FolderInUseError: The stack is just starting or stopping.
        ObjectStoreUnavailableError: The store of the running stack did not answer.
    """
    data_dir, database_file = settings.stack.data_dir, sqlite_file(settings.database)
    if not has_secrets(data_dir) or not database_file.is_file():
        raise BackupError(f"no stack has run in {data_dir}")
    now = datetime.now(UTC)
    path = _file_of(target, now)
    async with _store_of(settings, data_dir) as store:
        with (
            tempfile.TemporaryDirectory(prefix=".tryon-backup-", dir=path.parent) as scratch,
            new_archive(path) as archive,
        ):
            copy = Path(scratch) / DATABASE
            copy_sqlite(database_file, copy)
            facts = _facts_of(copy)
            archive.add_file(DATABASE, copy)
            archive.add_bytes(SECRETS, json.dumps(_secrets_of(settings), indent=2).encode())
            kept = tuple(prefix for prefix in KEPT if results or prefix != RESULTS)
            objects = await _add_objects(archive, store, kept)
            missing = sorted(key for key in facts.pop("referenced") - objects if key.startswith(kept))
            facts["counts"] |= {"objects": len(objects)}
            manifest = archive.close({**facts, "made_at": now.isoformat(timespec="seconds"), "missing": missing})
    return path, manifest


def sqlite_file(settings: DatabaseSettings) -> Path:
    """The file of the embedded stack's database.

    Raises:
        BackupError: The database is a server.
    """
    url = make_url(settings.url)
    if not url.drivername.startswith("sqlite") or not url.database:
        raise BackupError(
            "this is for the embedded stack, whose database is a SQLite file, and TRYON_DATABASE_URL names another; "
            "docs/backup.md has the commands for PostgreSQL and S3"
        )
    return Path(url.database)


def _file_of(target: Path, now: datetime) -> Path:
    return target / f"tryon-{now:{STAMP}}.tar" if target.is_dir() else target


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


def _facts_of(copy: Path) -> dict[str, Any]:
    with closing(Database(DatabaseSettings(url=f"sqlite:///{copy}"))) as database:
        revision = migrations.revision(database.engine)
        with database.engine.connect() as connection:
            return {
                "service_version": metadata.version("tryon-service"),
                "schema_revision": revision,
                "counts": count_rows(connection),
                "referenced": referenced_keys(connection),
            }


def _secrets_of(settings: Settings) -> dict[str, str]:
    pepper, previous = settings.security.peppers()
    secrets = {"s3_secret_key": settings.object_store.secret_key.get_secret_value(), "key_pepper": pepper}
    return secrets | ({"key_pepper_previous": ",".join(previous)} if previous else {})


async def _add_objects(archive: ArchiveWriter, store: ObjectStore, prefixes: Iterable[str]) -> set[str]:
    added = set()
    for prefix in prefixes:
        for key in await store.list_keys(prefix):
            try:
                data = await store.get(key)
            except ObjectMissingError:
                continue  # deleted since it was listed
            archive.add_bytes(OBJECTS + key, data)
            added.add(key)
    return added
