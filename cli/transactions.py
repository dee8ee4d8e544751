"""What commands that work on the database share: their transactions, and accounts by any name."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Annotated, TypeVar

import typer
from sqlalchemy.orm import Session

from domain import accounts, migrations
from runtime.database import Database
from runtime.settings import Settings

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AccountName = Annotated[str, typer.Option("--account", help="Account id or e-mail address.")]
Answer = TypeVar("Answer")


def in_transaction(settings: Settings, work: Callable[[Session], Answer]) -> Answer:
    """Run ``work`` in one transaction of a migrated database; a `ValueError` becomes a message and exit code 1."""
    with migrated_database(settings) as database, database.transaction() as session:
        return work(session)


def in_reading(settings: Settings, work: Callable[[Session], Answer]) -> Answer:
    """Like `in_transaction`, for work that only reads: it waits for no writer, unless there is something to migrate."""
    with migrated_database(settings) as database, database.reading() as session:
        return work(session)


@contextmanager
def migrated_database(settings: Settings) -> Iterator[Database]:
    """The database with its newest tables; a `ValueError` becomes a message and exit code 1."""
    with closing(Database(settings.database)) as database:
        try:
            # Migrating takes the write lock even where there is nothing to do, so a connection that reads looks first.
            if not migrations.is_current(database.reading_engine):
                migrations.upgrade(database.engine)
            yield database
        except ValueError as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(1) from None


def account_named(session: Session, name: str) -> uuid.UUID:
    """The account with this id or e-mail address.

    Raises:
        ValueError: There is none.
    """
    account = accounts.find_account_named(session, name=name)
    if account is None:
        raise ValueError(f"there is no account {name}")
    return account.id
