"""The history of the tables. `upgrade` brings a database to the newest version; it is safe to call at any time."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, text

from domain.tables import Table

_MIGRATION_LOCK = 7246001
"""Key of PostgreSQL's advisory lock, so that processes that start together migrate one after the other."""


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    return config


def upgrade(engine: Engine) -> None:
    """Run every migration that this database has not seen."""
    with engine.begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})"))
        command.upgrade(_config(connection), "head")


def is_current(engine: Engine) -> bool:
    """Whether the database has seen every migration."""
    with engine.connect() as connection:
        newest = ScriptDirectory.from_config(_config(connection)).get_current_head()
        return MigrationContext.configure(connection).get_current_revision() == newest


def revision(engine: Engine) -> str | None:
    """The newest migration that this database has seen."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision()


def is_known(engine: Engine) -> bool:
    """Whether this code knows the database's newest migration; if not, a newer service has used the database."""
    with engine.connect() as connection:
        found = MigrationContext.configure(connection).get_current_revision()
        known = {script.revision for script in ScriptDirectory.from_config(_config(connection)).walk_revisions()}
        return found is None or found in known


def differences(engine: Engine) -> list[object]:
    """What the tables in the code have and the database has not, or the other way round."""
    with engine.connect() as connection:
        return list(compare_metadata(MigrationContext.configure(connection), Table.metadata))
