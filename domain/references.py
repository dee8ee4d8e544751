"""What the rows of a database speak of: how many there are, and which objects have to be there for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, Select, func, inspect, select

from domain.jobs.jobs import PROCESSING
from domain.tables import Account, ApiKey, BackfillItem, Job, LedgerEntry, Product, Watermark

_COUNTED = {"accounts": Account, "apiKeys": ApiKey, "products": Product, "jobs": Job, "ledgerEntries": LedgerEntry}


def count_rows(connection: Connection) -> dict[str, int]:
    """Rows by what they are, for people; also of a database that has not seen every migration."""
    counts = {
        name: _number(connection, select(func.count()).select_from(table))
        for name, table in _COUNTED.items()
        if inspect(connection).has_table(table.__tablename__)
    }
    return counts | {"openJobs": _number(connection, select(func.count(Job.id)).where(Job.status == PROCESSING))}


def referenced_keys(connection: Connection) -> set[str]:
    """Keys of the objects that rows speak of, inputs of jobs left out; also of an older database."""
    present = set(inspect(connection).get_table_names())
    found: set[str] = set(_texts(connection, select(Job.result_key)))
    if Product.__tablename__ in present:
        found |= _keys(connection, select(Product.front, Product.back))
    if Watermark.__tablename__ in present:
        found |= _keys(connection, select(Watermark.logo))
    if BackfillItem.__tablename__ in present:
        found |= set(_texts(connection, select(BackfillItem.result_key)))
    return found


def _number(connection: Connection, question: Select[Any]) -> int:
    return int(connection.scalar(question) or 0)


def _texts(connection: Connection, question: Select[Any]) -> Iterable[str]:
    return (text for text in connection.scalars(question) if text)


def _keys(connection: Connection, question: Select[Any]) -> set[str]:
    return {reference["key"] for row in connection.execute(question) for reference in row if reference}
