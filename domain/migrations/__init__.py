"""The history of the tables. `upgrade` brings a database to the newest version; it is safe to call at any time."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncEngine

from domain.tables import Table

_MIGRATION_LOCK = 7246001
"""Key of PostgreSQL's advisory lock, so that processes that start together migrate one after the other."""


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    return config


def _upgrade(connection: Connection) -> None:
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
    command.upgrade(_config(connection), "head")


def _is_current(connection: Connection) -> bool:
    newest = ScriptDirectory.from_config(_config(connection)).get_current_head()
    return MigrationContext.configure(connection).get_current_revision() == newest


def _revision(connection: Connection) -> str | None:
    return MigrationContext.configure(connection).get_current_revision()


def _is_known(connection: Connection) -> bool:
    found = _revision(connection)
    known = {script.revision for script in ScriptDirectory.from_config(_config(connection)).walk_revisions()}
    return found is None or found in known


def _differences(connection: Connection) -> list[object]:
    return list(compare_metadata(MigrationContext.configure(connection), Table.metadata))


async def upgrade(engine: AsyncEngine) -> None:
    """Run every migration that this database has not seen."""
    async with engine.begin() as connection:
        await connection.run_sync(_upgrade)


async def is_current(engine: AsyncEngine) -> bool:
    """Whether the database has seen every migration."""
    async with engine.connect() as connection:
        return await connection.run_sync(_is_current)


async def revision(engine: AsyncEngine) -> str | None:
    """The newest migration that this database has seen."""
    async with engine.connect() as connection:
        return await connection.run_sync(_revision)


async def is_known(engine: AsyncEngine) -> bool:
    """Whether this code knows the database's newest migration; if not, a newer service has used the database."""
    async with engine.connect() as connection:
        return await connection.run_sync(_is_known)


async def differences(engine: AsyncEngine) -> list[object]:
    """What the tables in the code have and the database has not, or the other way round."""
    async with engine.connect() as connection:
        return await connection.run_sync(_differences)
