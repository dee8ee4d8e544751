"""``tryon payments``: what owners ordered, and deciding about orders that wait for an operator."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated

import typer
from sqlalchemy.orm import Session

from api.administration import orders
from cli.transactions import AsJson, in_reading, in_transaction
from domain.billing import payments
from domain.billing.payments import OPEN
from domain.money.plans import load_plans
from domain.tables import Payment
from runtime.settings import load_settings

app = typer.Typer(no_args_is_help=True, help="Orders of packs and plans.")

PaymentId = Annotated[uuid.UUID, typer.Argument(help="Id of the order, from `tryon payments list`.")]


@app.command("list")
def list_payments(
    *,
    only_open: Annotated[bool, typer.Option("--open", help="Only unpaid ones.")] = False,
    limit: Annotated[int, typer.Option(min=1)] = 50,
    as_json: AsJson = False,
) -> None:
    """Orders of all accounts, oldest first."""

    def work(session: Session) -> list[tuple[Payment, str]]:
        return payments.page_of_all(session, limit=limit, status=OPEN if only_open else None)

    for payment, email in in_reading(load_settings(), work):
        facts = _facts(payment, email)
        typer.echo(json.dumps(facts) if as_json else "  ".join(str(value) for value in facts.values() if value))


@app.command("approve")
def approve(payment_id: PaymentId) -> None:
    """Credit an order whose payment has arrived."""
    settings = load_settings()

    def work(session: Session) -> bool:
        plans = settings.billing.plans(load_plans)
        return orders.approve(session, plans, payment_id=payment_id, operator_id=None, now=datetime.now(UTC))

    _tell(in_transaction(settings, work), "Credited.")


@app.command("reject")
def reject(
    payment_id: PaymentId, note: Annotated[str, typer.Option(help="Shown to the owner, at most 200 characters.")]
) -> None:
    """Close an order without crediting anything."""

    def work(session: Session) -> bool:
        return orders.reject(session, payment_id=payment_id, note=note, operator_id=None, now=datetime.now(UTC))

    _tell(in_transaction(load_settings(), work), "Rejected.")


def _tell(did: bool, sentence: str) -> None:
    if not did:
        typer.echo("This order was already closed.", err=True)
        raise typer.Exit(1)
    typer.echo(sentence)


def _facts(payment: Payment, email: str) -> dict[str, str | int | None]:
    return {
        "paymentId": str(payment.id),
        "at": payment.created_at.isoformat(timespec="seconds"),
        "account": email,
        "status": payment.status,
        "what": payment.plan or f"{payment.generations} generations",
        "priceUsd": f"{Decimal(payment.price_cents) / 100:.2f}",
        "provider": payment.provider,
        "reference": payment.reference,
    }
