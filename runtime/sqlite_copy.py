"""A copy of a SQLite database that others are writing to."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import pysqlite3.dbapi2 as fixed_sqlite

WAIT_SECONDS = 30.0
"""For a writer that holds the file."""


class DamagedDatabaseError(Exception):
    """SQLite finds fault with the file."""


def copy_sqlite(source: Path, target: Path) -> None:
    """Copy the database as it is at one moment, through SQLite itself; writers are not held up.

    The target is one file that only its owner may read, without a write-ahead log beside it.

    Raises:
        FileNotFoundError: There is no such database.
        DamagedDatabaseError: The copy is not sound, so the original is not.
    """
    if not source.is_file():
        raise FileNotFoundError(f"there is no database {source}")
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with (
        closing(fixed_sqlite.connect(str(source), timeout=WAIT_SECONDS)) as original,
        closing(fixed_sqlite.connect(str(target), isolation_level=None)) as copy,
    ):
        original.backup(copy, pages=-1)  # in one go: a copy in pieces begins again whenever somebody writes
        copy.execute("PRAGMA journal_mode=DELETE")
    check_sqlite(target)


def check_sqlite(database: Path) -> None:
    """Have SQLite look through every page and index.

    Raises:
        DamagedDatabaseError: It found something wrong.
    """
    with closing(fixed_sqlite.connect(str(database))) as connection:
        try:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check(5)")]
        except fixed_sqlite.DatabaseError as error:
            found = [str(error)]
    if found != ["ok"]:
        raise DamagedDatabaseError(f"{database} is damaged: {'; '.join(found)}"[:500])
