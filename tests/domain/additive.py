"""Whether processes of the last release can go on with tables that a migration has changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, inspect


@dataclass(frozen=True)
class Shape:
    """What the statements of a process depend on.

    Attributes:
        columns: Table to column to what the database says of it.
        unique: Table to the sets of columns that may not repeat.
    """

    columns: dict[str, dict[str, Any]]
    unique: dict[str, set[frozenset[str]]]


def shape_of(connection: Connection) -> Shape:
    """Read it from a database."""
    inspector = inspect(connection)
    tables = [name for name in inspector.get_table_names() if name != "alembic_version"]
    return Shape(
        columns={table: {column["name"]: column for column in inspector.get_columns(table)} for table in tables},
        unique={
            table: {
                frozenset(name for name in found["column_names"] if name is not None)
                for found in [
                    *inspector.get_unique_constraints(table),
                    *(index for index in inspector.get_indexes(table) if index["unique"]),
                ]
            }
            for table in tables
        },
    )


def obstacles(before: Shape, after: Shape) -> list[str]:
    """What a process that knows only the shape before would stumble over, a sentence each.

    It reads and writes the columns that it knows, by name; what it does not know it leaves out.
    """
    found = []
    for table, columns in before.columns.items():
        if table not in after.columns:
            found.append(f"table {table} is gone")
            continue
        for name, column in columns.items():
            now = after.columns[table].get(name)
            found += [f"{table}.{name} is gone"] if now is None else _changes(f"{table}.{name}", column, now)
        for name, column in after.columns[table].items():
            if name not in columns and _has_to_be_given(column):
                found.append(f"{table}.{name} is new and has to be given")
        for repeated in after.unique[table] - before.unique[table]:
            if repeated <= columns.keys():
                found.append(f"{table}: {', '.join(sorted(repeated))} may no longer repeat")
    return found


def _changes(name: str, before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    found = []
    if before["nullable"] and not now["nullable"]:
        found.append(f"{name} may no longer be empty")
    if not _has_to_be_given(before) and _has_to_be_given(now) and not before["nullable"]:
        found.append(f"{name} lost its default")
    if str(before["type"]) != str(now["type"]) and not _is_longer(before["type"], now["type"]):
        found.append(f"{name} is {now['type']} and was {before['type']}")
    return found


def _has_to_be_given(column: dict[str, Any]) -> bool:
    return not column["nullable"] and column.get("default") is None and not column.get("computed")


def _is_longer(before: Any, now: Any) -> bool:
    lengths = getattr(before, "length", None), getattr(now, "length", None)
    return type(before) is type(now) and None not in lengths and lengths[0] < lengths[1]
