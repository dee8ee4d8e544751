"""Alembic runs this around every migration; the connection is handed in by `domain.migrations.upgrade`."""

from typing import Literal

from alembic import context
from alembic.autogenerate.api import AutogenContext
from sqlalchemy import text

from domain.tables import Table, UtcDateTime


def render_plainly(kind: str, item: object, _context: AutogenContext) -> str | Literal[False]:
    """Migrations use plain column types, so that they never change along with the code."""
    return "sa.DateTime(timezone=True)" if kind == "type" and isinstance(item, UtcDateTime) else False


connection = context.config.attributes["connection"]
context.configure(
    connection=connection, target_metadata=Table.metadata, render_as_batch=True, render_item=render_plainly
)
if connection.dialect.name == "postgresql":
    # A migration that cannot get its lock fails instead of queueing every request behind it.
    connection.execute(text("SET LOCAL lock_timeout = '5s'"))
context.run_migrations()
