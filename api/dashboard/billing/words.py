"""Orders and movements in words, and places in the ledger as a text that links carry."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime

from api.dashboard.rendering import plan_label
from domain.money.ledger import Movement, Place
from domain.tables import Payment

SOURCES = {"trial": "Trial", "included": "Plan", "topup": "Pack"}

MOVEMENTS = {
    "reserve": "Reserved for a job",
    "settle": "Used: the job completed",
    "release": "Returned: the job did not complete",
    "topup": "Pack credited",
    "grant": "Try-ons of the period",
}


def subject_of(payment: Payment) -> str:
    """What an order is for."""
    if payment.plan is not None:
        return f"{plan_label(payment.plan)} plan, first month"
    return f"Pack of {payment.generations:,} try-ons"


def state_of(payment: Payment) -> str:
    """How an order stands, in a word; its colour follows from the word."""
    withdrawn = payment.status == "rejected" and payment.closed_by == payment.account_id
    return "withdrawn" if withdrawn else payment.status


def label_of(movement: Movement) -> str:
    """What happened."""
    if movement.kind == "grant" and movement.source == "trial":
        return "Try-ons of the trial"
    return MOVEMENTS[movement.kind]


def place_text(place: Place) -> str:
    """A place in the ledger, for an address."""
    at, step, entry_id = place
    return f"{at.isoformat()}~{step}~{entry_id.hex}"


def read_place(text: str) -> Place | None:
    """The place that a text names; None for any other text, which shows the newest page."""
    try:
        at, step, entry_id = text.split("~")
        moment = datetime.fromisoformat(at)
        return None if moment.tzinfo is None else (moment.astimezone(UTC), int(step[:3]), uuid.UUID(entry_id))
    except (ValueError, OverflowError):
        return None
