"""The audit log in words, and the reasons that operators give for it."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from fastapi import APIRouter, Request, Response
from sqlalchemy.orm import Session

from api.cursor import cursor_after, read_cursor
from api.dashboard.forms import Form
from api.dashboard.rendering import money, page, query_with
from api.parts import Parts
from domain.accounts import addresses_of, find_account_named
from domain.operation import audit
from domain.operation.audit import Act
from domain.tables import AuditEntry

PER_PAGE = 50

ACTS = {
    Act.ACCOUNT_CREATED: "Made the account",
    Act.ACCOUNT_BLOCKED: "Blocked the account",
    Act.ACCOUNT_UNBLOCKED: "Unblocked the account",
    Act.ACCOUNT_ERASED: "Erased the account",
    Act.PLAN_CHANGED: "Changed the plan",
    Act.TOPPED_UP: "Credited a pack",
    Act.OPERATOR_ADDED: "Made the owner an operator",
    Act.OPERATOR_REMOVED: "Took the admin pages away",
    Act.KEY_CREATED: "Made a key",
    Act.KEY_REVOKED: "Revoked a key",
    Act.PAYMENT_APPROVED: "Approved a payment",
    Act.PAYMENT_REJECTED: "Rejected a payment",
    Act.LEDGER_CHECK_STARTED: "Started a ledger check",
}

DETAILS = {
    "reason": "Reason",
    "plan": "Plan",
    "generations": "Try-ons",
    "included": "Included",
    "dailyCap": "Daily cap",
    "monthlyCents": "Per month",
    "extraCents": "Per extra try-on",
    "priceCents": "Price",
    "paymentId": "Order",
    "keyId": "Key",
    "mode": "Mode",
}

router = APIRouter()


@dataclass(frozen=True)
class Line:
    """An entry as it is shown.

    Attributes:
        operator: Who did it, in a word or by address.
        account: The address of whom it was done to, as it is now; empty for nobody.
        details: Pairs of a name and a value.
    """

    id: uuid.UUID
    created_at: datetime
    act: str
    operator: str
    account_id: uuid.UUID | None
    account: str
    details: Sequence[tuple[str, str]]


class FieldRefusedError(ValueError):
    """A field of a form that cannot be used; the sentence is for the operator."""


def reason_of(form: Form, longest: int) -> str:
    """Why something is done.

    Raises:
        FieldRefusedError: It is empty or too long.
    """
    reason = form.text("reason")
    if not 1 <= len(reason) <= longest:
        raise FieldRefusedError(f"Give a reason of at most {longest} characters.")
    return reason


def lines_of(session: Session, entries: Sequence[AuditEntry]) -> list[Line]:
    """Entries with the addresses of the accounts that they name."""
    named = {each for entry in entries for each in (entry.operator_id, entry.account_id) if each is not None}
    addresses = addresses_of(session, account_ids=named)
    return [_line(entry, addresses) for entry in entries]


@router.get("/admin/audit")
async def list_entries(request: Request, parts: Parts) -> Response:
    """Entries, newest first, of all accounts or of one."""
    query = request.query_params
    name = query.get("account", "").strip()[:320]
    before = read_cursor(query["before"]) if query.get("before") else None

    def look(session: Session) -> tuple[list[Line], bool]:
        account_id = _account_named(session, name)
        if name and account_id is None:
            return [], False
        found = audit.page(session, limit=PER_PAGE + 1, account_id=account_id, after=before)
        return lines_of(session, found[:PER_PAGE]), len(found) > PER_PAGE

    lines, more = await parts.database.read(look)
    return page(
        request,
        "admin/audit.html",
        lines=lines,
        name=name,
        newest=query_with(query, "/admin/audit", before=None) if before else None,
        older=query_with(query, "/admin/audit", before=cursor_after(lines[-1])) if more else None,
    )


def _account_named(session: Session, name: str) -> uuid.UUID | None:
    if not name:
        return None
    try:
        account = find_account_named(session, name=name.replace("\0", ""))
    except ValueError:  # neither an id nor an address
        return None
    return account.id if account else None


def _line(entry: AuditEntry, addresses: Mapping[uuid.UUID, str]) -> Line:
    by, to = entry.operator_id, entry.account_id
    operator = "command line" if by is None else addresses.get(by, str(by))
    return Line(
        id=entry.id,
        created_at=entry.at,
        act=ACTS[Act(entry.action)] if entry.action in set(Act) else entry.action,
        operator="the owner" if by is not None and by == to else operator,
        account_id=to if to in addresses else None,
        account="" if to is None else addresses.get(to, str(to)),
        details=[
            (DETAILS.get(name, name), money(value) if name.endswith("Cents") else str(value))
            for name, value in entry.details.items()
            if value is not None
        ],
    )
