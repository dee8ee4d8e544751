"""What commands that work on the database share: their transactions, and accounts by any name."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer
from sqlalchemy.ext.asyncio import AsyncSession

from domain import accounts, migrations
from runtime.database import Database
from runtime.settings import Settings

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
AccountName = Annotated[str, typer.Option("--account", help="Account id or e-mail address.")]
Answer = TypeVar("Answer")


def in_transaction(settings: Settings, work: Callable[[AsyncSession], Awaitable[Answer]]) -> Answer:
    """Run ``work`` in one transaction of a migrated database; a `ValueError` becomes a message and exit code 1."""

    async def run(database: Database) -> Answer:
        async with database.transaction() as session:
            return await work(session)

    return in_transactions(settings, run)


def in_transactions(settings: Settings, work: Callable[[Database], Awaitable[Answer]]) -> Answer:
    """Like `in_transaction`, for work that begins transactions of its own, one after the other."""

    async def run(database: Database) -> Answer:
        await migrations.upgrade(database.engine)
        return await work(database)

    return _with_database(settings, run)


def in_reading(settings: Settings, work: Callable[[AsyncSession], Awaitable[Answer]]) -> Answer:
    """Like `in_transaction`, for work that only reads: it waits for no writer, unless there is something to migrate."""

    async def run(database: Database) -> Answer:
        # Migrating takes the write lock even where there is nothing to do, so look first, with a connection that reads.
        async with database.reading() as session:
            reading_engine = (await session.connection()).engine
        if not await migrations.is_current(reading_engine):
            await migrations.upgrade(database.engine)
        async with database.reading() as session:
            return await work(session)

    return _with_database(settings, run)


def _with_database(settings: Settings, work: Callable[[Database], Awaitable[Answer]]) -> Answer:
    async def run() -> Answer:
        database = Database(settings.database)
        try:
            return await work(database)
        finally:
            await database.close()

    try:
        return asyncio.run(run())
    except ValueError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


async def account_named(session: AsyncSession, name: str) -> uuid.UUID:
    """The account with this id or e-mail address.

    Raises:
        ValueError: There is none.
    """
    account = await accounts.find_account_named(session, name=name)
    if account is None:
        raise ValueError(f"there is no account {name}")
    return account.id
