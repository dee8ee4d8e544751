"""``tryon db`` and ``tryon bucket``, and what commands work with: the settings and the parts that these name."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from sqlalchemy.orm import Session

from cli.answers import fail, failing_on
from domain import accounts, migrations
from domain.access.keys import KeyDigester
from domain.errors import say_limits
from domain.money.plans import PlanBook, load_plans
from runtime.database import Database
from runtime.object_store import ObjectStoreUnavailableError, S3ObjectStore
from runtime.settings import load_settings

if TYPE_CHECKING:
    from gateway.temporal import TemporalGateway

AccountName = Annotated[str, typer.Option("--account", help="Account id or e-mail address.")]

Answer = TypeVar("Answer")


class Service:
    """The settings of one command, and what they name, opened when the command asks for it.

    A `ValueError` inside one of the blocks on the database becomes a message and exit code 1.
    """

    def __init__(self) -> None:
        """Read the settings, and have errors about pictures say their limits."""
        self.settings = load_settings()
        say_limits(self.settings.images.limits(), self.settings.images.logo_limits())

    @cached_property
    def plans(self) -> PlanBook:
        return self.settings.billing.plans(load_plans)

    @cached_property
    def digester(self) -> KeyDigester:
        return KeyDigester(*self.settings.security.peppers())

    @cached_property
    def store(self) -> S3ObjectStore:
        return S3ObjectStore(self.settings.object_store)

    @contextmanager
    def database(self) -> Iterator[Database]:
        """The database with its newest tables."""
        with closing(Database(self.settings.database)) as database, failing_on(ValueError):
            # Migrating takes the write lock even where there is nothing to do, so a connection that reads looks first.
            if not migrations.is_current(database.reading_engine):
                migrations.upgrade(database.engine)
            yield database

    @contextmanager
    def transaction(self) -> Iterator[Session]:
        """One transaction of the database."""
        with self.database() as database, database.transaction() as session:
            yield session

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Like `transaction`, for work that only reads: it waits for no writer unless tables have to be migrated."""
        with self.database() as database, database.reading() as session:
            yield session

    def ask_temporal(self, work: Callable[[TemporalGateway], Awaitable[Answer]]) -> Answer:
        """Connect to Temporal and run `work` with it.

        Raises:
            TemporalAwayError: There is no connection.
        """
        from gateway.temporal import TemporalGateway  # here, since it loads every workflow

        async def run() -> Answer:
            return await work(await TemporalGateway.connect(self.settings.temporal))

        return asyncio.run(run())


def account_named(session: Session, name: str) -> uuid.UUID:
    """The account with this id or e-mail address.

    Raises:
        ValueError: There is none.
    """
    account = accounts.find_account_named(session, name=name)
    if account is None:
        raise ValueError(f"there is no account {name}")
    return account.id


db_app = typer.Typer(no_args_is_help=True, help="The database.")


@db_app.command("upgrade")
def upgrade() -> None:
    """Bring the tables to the newest version; safe at any time."""
    with closing(Database(load_settings().database)) as database:
        migrations.upgrade(database.engine)
    typer.echo("The database is up to date.")


bucket_app = typer.Typer(no_args_is_help=True, help="The bucket that pictures are kept in.")


@bucket_app.command("create")
def create_bucket() -> None:
    """Create the bucket that the settings name if it is missing; safe at any time."""
    settings = load_settings().object_store
    try:
        asyncio.run(S3ObjectStore(settings).ensure_bucket())
    except ObjectStoreUnavailableError as error:
        fail(f"{settings.endpoint}: {error}")
    typer.echo(f"The bucket {settings.bucket} exists.")
