"""``tryon ledger`` and ``tryon payments``: what was granted, used and ordered, and whether it adds up."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated

import typer

from api.administration import orders
from cli.answers import AsJson, show
from cli.service import AccountName, Service, account_named
from domain.billing import payments
from domain.money.ledger import check_ledger, entries_of_account

ledger_app = typer.Typer(no_args_is_help=True, help="The ledger.")
payments_app = typer.Typer(no_args_is_help=True, help="Orders of packs and plans.")

Limit = Annotated[int, typer.Option(min=1)]
ALREADY_CLOSED = "This order was already closed."

PaymentId = Annotated[uuid.UUID, typer.Argument(help="Id of the order, from `tryon payments list`.")]


@ledger_app.command("check")
def check(as_json: AsJson = False) -> None:
    """Recompute every balance; prints what disagrees, and exits with 1 if anything does."""
    with Service().reading() as session:
        found = check_ledger(session)
    facts = [{**asdict(each), "account_id": str(each.account_id)} for each in found]
    lines = [
        f"{each.account_id}  {each.subject}: counted {each.counted}; recomputed {each.recomputed}" for each in found
    ]
    verdict = f"{len(found)} disagreements." if found else "Counters, ledger and jobs agree."
    show(facts, *lines, verdict, as_json=as_json)
    if found:
        raise typer.Exit(1)


@ledger_app.command("show")
def show_ledger(account: AccountName, limit: Limit = 50, as_json: AsJson = False) -> None:
    """The newest entries of an account."""
    with Service().reading() as session:
        entries = entries_of_account(session, account_id=account_named(session, account), limit=limit)
    for entry in entries:
        facts = {
            "at": entry.at.isoformat(timespec="seconds"),
            "kind": entry.kind,
            "generations": entry.generations,
            "allowance": str(entry.allowance_id),
            "job": str(entry.job_id) if entry.job_id else None,
        }
        show(facts, "  ".join(str(value or "") for value in facts.values()), as_json=as_json)


@payments_app.command("list")
def list_payments(
    *,
    only_open: Annotated[bool, typer.Option("--open", help="Only unpaid ones.")] = False,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Orders of all accounts, oldest first."""
    with Service().reading() as session:
        found = payments.page_of_all(session, limit=limit, status=payments.OPEN if only_open else None)
    for payment, email in found:
        facts = {
            "paymentId": str(payment.id),
            "at": payment.created_at.isoformat(timespec="seconds"),
            "account": email,
            "status": payment.status,
            "what": payment.plan or f"{payment.generations} generations",
            "priceUsd": f"{Decimal(payment.price_cents) / 100:.2f}",
            "provider": payment.provider,
            "reference": payment.reference,
        }
        show(facts, "  ".join(str(value) for value in facts.values() if value), as_json=as_json)


@payments_app.command("approve")
def approve(payment_id: PaymentId) -> None:
    """Credit an order whose payment has arrived."""
    service = Service()
    plans = service.plans
    with service.transaction() as session:
        if not orders.approve(session, plans, payment_id=payment_id, operator_id=None, now=datetime.now(UTC)):
            raise ValueError(ALREADY_CLOSED)
    typer.echo("Credited.")


@payments_app.command("reject")
def reject(
    payment_id: PaymentId, note: Annotated[str, typer.Option(help="Shown to the owner, at most 200 characters.")]
) -> None:
    """Close an order without crediting anything."""
    with Service().transaction() as session:
        if not orders.reject(session, payment_id=payment_id, note=note, operator_id=None, now=datetime.now(UTC)):
            raise ValueError(ALREADY_CLOSED)
    typer.echo("Rejected.")
