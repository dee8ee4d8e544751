"""``tryon ledger``: what was granted, reserved, settled and released, and the proof that it adds up."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer
from sqlalchemy.orm import Session

from cli.transactions import AccountName, AsJson, account_named, in_reading
from domain.money.ledger import check_ledger, entries_of_account
from domain.tables import LedgerEntry
from runtime.settings import load_settings

app = typer.Typer(no_args_is_help=True, help="The ledger.")


@app.command("check")
def check(as_json: AsJson = False) -> None:
    """Recompute every balance; prints what disagrees, and exits with 1 if anything does."""
    found = in_reading(load_settings(), check_ledger)
    if as_json:
        typer.echo(json.dumps([{**asdict(each), "account_id": str(each.account_id)} for each in found]))
    else:
        for each in found:
            typer.echo(f"{each.account_id}  {each.subject}: counted {each.counted}; recomputed {each.recomputed}")
        typer.echo(f"{len(found)} disagreements." if found else "Counters, ledger and jobs agree.")
    if found:
        raise typer.Exit(1)


@app.command("show")
def show(account: AccountName, limit: Annotated[int, typer.Option(min=1)] = 50, as_json: AsJson = False) -> None:
    """The newest entries of an account."""

    def work(session: Session) -> list[LedgerEntry]:
        account_id = account_named(session, account)
        return list(entries_of_account(session, account_id=account_id, limit=limit))

    for entry in in_reading(load_settings(), work):
        facts = {
            "at": entry.at.isoformat(timespec="seconds"),
            "kind": entry.kind,
            "generations": entry.generations,
            "allowance": str(entry.allowance_id),
            "job": str(entry.job_id) if entry.job_id else None,
        }
        typer.echo(json.dumps(facts) if as_json else "  ".join(str(value or "") for value in facts.values()))
