from __future__ import annotations

import threading
from contextlib import closing
from pathlib import Path

import pysqlite3.dbapi2 as fixed_sqlite
import pytest

from cli.archive import BackupError, check_sqlite, copy_sqlite


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "tryon.db"
    with closing(fixed_sqlite.connect(str(path), isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE plus (n INTEGER)")
        connection.execute("CREATE TABLE minus (n INTEGER, filling TEXT)")
    return path


def test_a_copy_made_while_others_write_is_the_database_at_one_moment(database: Path, tmp_path: Path) -> None:
    written, stop = threading.Event(), threading.Event()

    def write() -> None:
        with closing(fixed_sqlite.connect(str(database), isolation_level=None, timeout=10)) as connection:
            while not stop.is_set():
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("INSERT INTO plus VALUES (1)")
                connection.execute("INSERT INTO minus VALUES (-1, ?)", ("x" * 3000,))
                connection.execute("COMMIT")
                written.set()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert written.wait(10)
        sizes = []
        for number in range(5):
            written.clear()
            copy = tmp_path / f"copy-{number}.db"
            copy_sqlite(database, copy)
            assert written.wait(10), "the writer goes on"
            with closing(fixed_sqlite.connect(str(copy))) as connection:
                question = "SELECT (SELECT count(*) FROM plus), (SELECT count(*) FROM minus)"
                plus, minus = connection.execute(question).fetchone()
                assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
            assert plus == minus > 0
            sizes.append(plus)
    finally:
        stop.set()
        writer.join()
    assert sizes == sorted(sizes)
    assert copy.stat().st_mode & 0o077 == 0
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("copy-") and path.suffix != ".db"]


def test_a_damaged_database_is_told(database: Path, tmp_path: Path) -> None:
    with closing(fixed_sqlite.connect(str(database), isolation_level=None)) as connection:
        connection.executemany("INSERT INTO minus VALUES (1, ?)", [("x" * 3000,)] * 20)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(database.read_bytes())
    data[2 * 4096 : 2 * 4096 + 200] = b"\xff" * 200
    database.write_bytes(data)
    with pytest.raises(BackupError, match="damaged"):
        check_sqlite(database)
    with pytest.raises(BackupError):
        copy_sqlite(database, tmp_path / "copy.db")


def test_no_database_is_made_where_there_was_none(tmp_path: Path) -> None:
    with pytest.raises(BackupError, match="no database"):
        copy_sqlite(tmp_path / "none.db", tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []
