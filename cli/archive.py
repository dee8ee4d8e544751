"""The file of a backup: a tar whose last member, the manifest, names every other one with its SHA-256."""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import tarfile
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, Final, cast

import pysqlite3.dbapi2 as fixed_sqlite
from pydantic import BaseModel, ConfigDict, ValidationError

FORMAT: Final = 1  # increased when an older service could not read a newer one's backups
MANIFEST, DATABASE, SECRETS, OBJECTS = "manifest.json", "tryon.db", "secrets.json", "objects/"


class BackupError(Exception):
    """The backup cannot be made or used; the message says why."""


class Part(BaseModel):
    """One member of the archive."""

    model_config = ConfigDict(frozen=True)

    size: int
    sha256: str


class Manifest(BaseModel):
    """What a backup holds.

    Attributes:
        schema_revision: Newest migration that the database has seen.
        counts: Numbers of rows and objects, for people.
        missing: Objects that rows name but the store did not have.
        parts: Every other member by name.
    """

    format: int
    service_version: str
    made_at: str
    schema_revision: str | None
    counts: dict[str, int]
    missing: list[str]
    parts: dict[str, Part]


class ArchiveWriter:
    """Adds parts and remembers their digests."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self.parts: dict[str, Part] = {}

    def add(self, name: str, content: bytes | Path) -> None:
        """Add a part: bytes, or a file of any size."""
        with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.seek(0, io.SEEK_END)
            self._add(name, file, size)
        self.parts[name] = Part(size=size, sha256=digest)

    def close(self, facts: Mapping[str, Any]) -> Manifest:
        """Write the manifest: ``facts``, the format and the parts."""
        manifest = Manifest(format=FORMAT, parts=self.parts, **facts)
        data = json.dumps(manifest.model_dump(), indent=1).encode()
        self._add(MANIFEST, io.BytesIO(data), len(data))
        return manifest

    def _add(self, name: str, file: IO[bytes], size: int) -> None:
        member = tarfile.TarInfo(name)
        member.size, member.mode, member.mtime = size, 0o600, int(time.time())
        file.seek(0)
        self._tar.addfile(member, file)


@contextmanager
def new_archive(path: Path) -> Iterator[ArchiveWriter]:
    """Write a file that only its owner may read; it appears when it is complete.

    Raises:
        BackupError: There is such a file already.
    """
    if path.exists():
        raise BackupError(f"{path} is there already")
    partial = path.with_name(path.name + ".partial")
    partial.unlink(missing_ok=True)
    # Never into an existing file: it would keep its owner and its mode, and a link would lead elsewhere.
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as tar:
                yield ArchiveWriter(tar)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


class ArchiveReader:
    """A backup of which every part has been compared with its digest."""

    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self._members = {member.name: member for member in tar.getmembers()}
        self.manifest = self._read_manifest()
        self._verify()

    @property
    def object_keys(self) -> list[str]:
        """Keys of the objects, in order."""
        return sorted(name.removeprefix(OBJECTS) for name in self.manifest.parts if name.startswith(OBJECTS))

    def read(self, name: str) -> bytes:
        """The content of a part."""
        with self._open(name) as file:
            return file.read()

    def extract(self, name: str, target: Path) -> None:
        """Write a part to a file that only its owner may read."""
        with self._open(name) as file, os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT, 0o600), "wb") as copy:
            shutil.copyfileobj(file, copy)

    def _open(self, name: str) -> io.BufferedReader:
        member = self._members.get(name)
        file = self._tar.extractfile(member) if member else None
        if file is None:
            raise BackupError(f"the backup has no {name}")
        return cast("io.BufferedReader", file)

    def _read_manifest(self) -> Manifest:
        raw = self.read(MANIFEST)
        try:
            found = json.loads(raw)
            if isinstance(found, dict) and found.get("format", FORMAT) > FORMAT:
                raise BackupError(f"the backup has format {found['format']}; this service reads up to {FORMAT}")
            return Manifest.model_validate(found)
        except (ValueError, TypeError, ValidationError) as error:
            raise BackupError(f"the backup's manifest cannot be read: {str(error)[:200]}") from error

    def _verify(self) -> None:
        listed, held = set(self.manifest.parts), set(self._members) - {MANIFEST}
        if listed != held or not {DATABASE, SECRETS} <= listed or len(self._members) != len(self._tar.getmembers()):
            odd = sorted(listed ^ held)[:3] or "twice the same, or no database"
            raise BackupError(f"the backup does not hold what its manifest lists: {odd}")
        for name, part in self.manifest.parts.items():
            with self._open(name) as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
                if (file.tell(), digest) != (part.size, part.sha256):
                    raise BackupError(f"{name} in the backup is not what was written: its SHA-256 differs")


@contextmanager
def read_archive(path: Path) -> Iterator[ArchiveReader]:
    """Open a backup and compare every part with its digest.

    Raises:
        BackupError: It is no backup, or not whole.
    """
    try:
        with tarfile.open(path, "r:") as tar:
            yield ArchiveReader(tar)
    except tarfile.TarError as error:
        raise BackupError(f"{path} is no backup, or not whole: {error}") from error


WAIT_SECONDS = 30.0  # for a writer that holds the file


def copy_sqlite(source: Path, target: Path) -> None:
    """Copy the database as it is at one moment, through SQLite itself; writers are not held up.

    The target is one file that only its owner may read, without a write-ahead log beside it.

    Raises:
        BackupError: There is no such database, or the copy is not sound, so the original is not.
    """
    if not source.is_file():  # connecting would make an empty one
        raise BackupError(f"there is no database {source}")
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with (
        closing(fixed_sqlite.connect(str(source), timeout=WAIT_SECONDS)) as original,
        closing(fixed_sqlite.connect(str(target), isolation_level=None)) as copy,
    ):
        original.backup(copy, pages=-1)  # at once: a copy in pieces starts again at every write
        copy.execute("PRAGMA journal_mode=DELETE")
    check_sqlite(target)


def check_sqlite(database: Path) -> None:
    """Have SQLite look through every page and index.

    Raises:
        BackupError: It found something wrong.
    """
    with closing(fixed_sqlite.connect(str(database))) as connection:
        try:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check(5)")]
        except fixed_sqlite.DatabaseError as error:
            found = [str(error)]
    if found != ["ok"]:
        raise BackupError(f"{database} is damaged: {'; '.join(found)}"[:500])
