"""Backups whose database is of an older or a newer service."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

import pysqlite3.dbapi2 as fixed_sqlite
import pytest
from alembic import command

from domain import migrations
from runtime.database import Database
from runtime.settings import DatabaseSettings
from tests.cli.backups.scene import Scene, made, tryon


def at_revision(database_file: Path, revision: str) -> None:
    """An empty database as an older service left it."""

    with (
        closing(Database(DatabaseSettings(url=f"sqlite:///{database_file}"))) as database,
        database.engine.begin() as connection,
    ):
        command.upgrade(migrations._config(connection), revision)


@pytest.mark.parametrize("revision", ["0001", "0002"])
def test_an_older_database_is_migrated_forward(scene: Scene, monkeypatch: pytest.MonkeyPatch, revision: str) -> None:
    at_revision(scene.data_dir / "tryon.db", revision)
    assert "by version" in tryon("backup", "check", str(made(scene))).output
    monkeypatch.setenv("TRYON_DATA_DIR", str(scene.folder / "elsewhere"))
    done = tryon("backup", "restore", str(scene.backup))
    assert done.exit_code == 0, done.output

    async def is_current() -> bool:
        database = scene.database(scene.folder / "elsewhere")
        try:
            return migrations.is_current(database.engine)
        finally:
            database.close()

    assert asyncio.run(is_current())


def test_a_newer_database_is_refused(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    at_revision(scene.data_dir / "tryon.db", "head")
    with closing(fixed_sqlite.connect(str(scene.data_dir / "tryon.db"))) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    made(scene)
    monkeypatch.setenv("TRYON_DATA_DIR", str(scene.folder / "elsewhere"))
    refused = tryon("backup", "restore", str(scene.backup))
    assert refused.exit_code == 1
    assert "migration 9999, which this service does not know" in " ".join(refused.output.split())
    assert not list((scene.folder / "elsewhere").glob("*.db"))
