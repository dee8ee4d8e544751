"""A row that may be there already, on both databases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from domain.tables import Table


def insert_unless_there(
    session: Session, table: type[Table], row: Mapping[str, Any]
) -> sqlite.Insert | postgresql.Insert:
    """An insert that does nothing where another transaction has just made a row that rules this one out.

    On PostgreSQL it waits for that transaction's end.
    """
    if session.get_bind().dialect.name == "sqlite":
        return sqlite.insert(table).values(dict(row)).on_conflict_do_nothing()
    return postgresql.insert(table).values(dict(row)).on_conflict_do_nothing()
