"""``tryon operator``: who sees the admin pages of the dashboard."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from typing import Annotated

import typer
from sqlalchemy.orm import Session

from cli.transactions import AsJson, account_named, in_reading, in_transaction
from domain.operation import operators
from domain.tables import Account, Login
from runtime.settings import load_settings

app = typer.Typer(no_args_is_help=True, help="Operators: owners of accounts who see the admin pages.")

Email = Annotated[str, typer.Argument(help="E-mail address of an account, or its id.")]


@app.command("add")
def add_operator(account: Email) -> None:
    """Open the admin pages to the owner of an account, who signs in anew for that."""
    changed = in_transaction(load_settings(), lambda session: _set(session, account, operator=True))
    typer.echo(f"{account} is an operator{' from now on' if changed else ' already'}.")
    typer.echo('No password yet? Use "Forgot your password" on the sign-in page.')


@app.command("remove")
def remove_operator(account: Email) -> None:
    """Close the admin pages to somebody; the account stays as it is."""
    changed = in_transaction(load_settings(), lambda session: _set(session, account, operator=False))
    typer.echo(f"{account} is no operator{' from now on' if changed else ''}.")


@app.command("list")
def list_operators(as_json: AsJson = False) -> None:
    """Everybody who sees the admin pages."""

    def work(session: Session) -> list[tuple[Account, Login]]:
        return list(operators.list_operators(session))

    found = in_reading(load_settings(), work)
    if as_json:
        typer.echo(json.dumps([_facts(account, login) for account, login in found]))
        return
    for account, login in found:
        typer.echo(f"{account.id}  {account.email}{'' if login.verified_at else '  address not confirmed yet'}")


def _set(session: Session, name: str, *, operator: bool) -> bool:
    account_id: uuid.UUID = account_named(session, name)
    return operators.set_operator(session, account_id=account_id, operator=operator, now=datetime.now(UTC))


def _facts(account: Account, login: Login) -> dict[str, object]:
    return {"accountId": str(account.id), "email": account.email, "confirmed": login.verified_at is not None}
