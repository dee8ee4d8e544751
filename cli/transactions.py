"""What commands that work on the database share: one transaction, and accounts by any name."""

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

    async def run() -> Answer:
        database = Database(settings.database)
        try:
            await migrations.upgrade(database.engine)
            async with database.transaction() as session:
                return await work(session)
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
    try:
        account = await accounts.find_account(session, account_id=uuid.UUID(name))
    except ValueError:
        account = await accounts.find_account_by_email(session, email=name)
    if account is None:
        raise ValueError(f"there is no account {name}")
    return account.id
