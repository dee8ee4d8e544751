"""``tryon db``, and what commands on the database share: transactions, and accounts by any name."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Annotated

import typer
from sqlalchemy.orm import Session

from cli.answers import failing_on
from domain import accounts, migrations
from runtime.database import Database
from runtime.settings import Settings, load_settings

AccountName = Annotated[str, typer.Option("--account", help="Account id or e-mail address.")]

app = typer.Typer(no_args_is_help=True, help="The database.")


@app.callback()
def callback() -> None:
    """Keep ``upgrade`` a command of its own."""


@app.command("upgrade")
def upgrade() -> None:
    """Bring the tables to the newest version; safe at any time."""
    with closing(Database(load_settings().database)) as database:
        migrations.upgrade(database.engine)
    typer.echo("The database is up to date.")


@contextmanager
def transaction(settings: Settings) -> Iterator[Session]:
    """One transaction of a migrated database; a `ValueError` becomes a message and exit code 1."""
    with migrated_database(settings) as database, database.transaction() as session:
        yield session


@contextmanager
def reading(settings: Settings) -> Iterator[Session]:
    """Like `transaction`, for work that only reads: it waits for no writer, unless there is something to migrate."""
    with migrated_database(settings) as database, database.reading() as session:
        yield session


@contextmanager
def migrated_database(settings: Settings) -> Iterator[Database]:
    """The database with its newest tables; a `ValueError` becomes a message and exit code 1."""
    with closing(Database(settings.database)) as database, failing_on(ValueError):
        # Migrating takes the write lock even where there is nothing to do, so a connection that reads looks first.
        if not migrations.is_current(database.reading_engine):
            migrations.upgrade(database.engine)
        yield database


def account_named(session: Session, name: str) -> uuid.UUID:
    """The account with this id or e-mail address.

    Raises:
        ValueError: There is none.
    """
    account = accounts.find_account_named(session, name=name)
    if account is None:
        raise ValueError(f"there is no account {name}")
    return account.id
