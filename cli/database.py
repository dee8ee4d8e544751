"""``tryon db``, and what commands share: transactions, accounts by any name, answers as text or JSON, failing."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Annotated, NoReturn

import typer
from sqlalchemy.orm import Session

from domain import accounts, migrations
from runtime.database import Database
from runtime.settings import Settings, load_settings

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
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


def show(facts: object, *lines: str, as_json: bool) -> None:
    """Print facts as JSON, or lines for people."""
    for line in [json.dumps(facts)] if as_json else lines:
        typer.echo(line)


def fail(sentence: str) -> NoReturn:
    """End the command with a sentence on standard error and exit code 1."""
    typer.echo(sentence, err=True)
    raise typer.Exit(1)


@contextmanager
def failing_on(*errors: type[Exception]) -> Iterator[None]:
    """`fail` with what an error of these kinds says, instead of a traceback."""
    try:
        yield
    except errors as error:
        sentence = str(error)
    else:
        return
    fail(sentence)
