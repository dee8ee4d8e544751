"""``tryon account`` and ``tryon key``."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer
from sqlalchemy.ext.asyncio import AsyncSession

from domain import accounts, keys, migrations
from runtime.database import Database
from runtime.settings import Settings, load_settings

account_app = typer.Typer(no_args_is_help=True, help="Accounts.")
key_app = typer.Typer(no_args_is_help=True, help="API keys.")

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
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


@account_app.command("create")
def create_account(
    email: Annotated[str, typer.Option(help="E-mail address of the owner.")],
    plan: Annotated[str, typer.Option(help=f"One of {', '.join(accounts.PLANS)}.")] = "trial",
    as_json: AsJson = False,
) -> None:
    """Add an account."""

    async def work(session: AsyncSession) -> str:
        return str((await accounts.create_account(session, email=email, plan=plan)).id)

    account_id = in_transaction(load_settings(), work)
    typer.echo(json.dumps({"accountId": account_id}) if as_json else f"Account {account_id}")


@key_app.command("create")
def create_key(
    account: Annotated[str, typer.Option(help="Account id or e-mail address.")], as_json: AsJson = False
) -> None:
    """Add an API key and show it this once."""
    settings = load_settings()

    async def work(session: AsyncSession) -> tuple[str, str]:
        digester = keys.KeyDigester(settings.security.key_pepper.get_secret_value())
        account_id = await account_named(session, account)
        _, key = await keys.create_key(session, digester, account_id=account_id)
        return str(account_id), key

    account_id, key = in_transaction(settings, work)
    if as_json:
        typer.echo(json.dumps({"accountId": account_id, "apiKey": key}))
    else:
        typer.echo(f"{key}\nKeep it: it is not shown again.")
