"""Accounts: the list with its search, everything about one of them, and what an operator does to it.

Every act is a form, and is written down in the transaction that does it.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from sqlalchemy.orm import Session

from api.administration import blocking, terms
from api.dashboard.admin.audit import FieldRefusedError, lines_of, reason_of
from api.dashboard.forms import Form, SentForm, read_id
from api.dashboard.rendering import as_sentence, page, plan_label, query_with, redirect
from api.dashboard.visitor import Visitor
from api.errors import PageRefused
from api.parts import ApiParts, Parts
from domain.accounts import OwnTerms, find_account
from domain.billing import payments
from domain.jobs.job_history import list_jobs
from domain.money.plans import PlanBook, RequestRate
from domain.money.quota import usage_of
from domain.operation import audit
from domain.operation.operators import login_of, search_accounts, set_operator, standing_of
from workflows.queues import tryon_workflow_id

PER_PAGE = 50
NEWEST = 20
"""Jobs, orders and audit entries that are shown of one account."""

CANCEL_SECONDS = 2.0
"""For having runs stop whose jobs were ended already; workers find that out by themselves."""

LARGEST_COUNT = 1_000_000_000
LARGEST_PRICE = Decimal(10_000_000)
"""US dollars. Columns hold a little more than both."""

UNKNOWN = "There is no such account."

router = APIRouter()


@router.get("/admin")
@router.get("/admin/accounts")
async def list_accounts(request: Request, parts: Parts) -> Response:
    """The list, by the beginning of the address or by id."""
    query = request.query_params
    text, after = query.get("q", "")[:320], query.get("after", "")[:320] or None
    found = await parts.database.read(search_accounts, text=text, limit=PER_PAGE + 1, after=after)
    more = len(found) > PER_PAGE
    found = found[:PER_PAGE]
    return page(
        request,
        "admin/accounts.html",
        text=text,
        accounts=found,
        first=query_with(query, "/admin/accounts", after=None) if after else None,
        older=query_with(query, "/admin/accounts", after=found[-1].email) if more else None,
    )


@router.get("/admin/accounts/{accountId}")
async def show_account(request: Request, parts: Parts, accountId: str) -> Response:
    """One account."""
    return await account_page(request, parts, read_id(accountId, UNKNOWN))


async def account_page(
    request: Request,
    parts: ApiParts,
    account_id: uuid.UUID,
    status: int = 200,
    error: str = "",
    *,
    form: Form | None = None,
) -> Response:
    """The page of one account; if anything was refused, with a sentence about it and with what its form said.

    Raises:
        PageRefused: 404: there is none.
    """
    facts = await parts.database.read(_facts, parts.plans, account_id)
    if facts is None:
        raise PageRefused(404, UNKNOWN)
    temporal = parts.settings.temporal
    return page(
        request,
        "admin/account.html",
        status,
        facts=facts,
        plans=[(name, plan_label(name)) for name, plan in parts.plans.plans.items() if plan.trial_days is None],
        packs=[(str(size), f"{size:,} try-ons") for size in parts.plans.topup_packs],
        pack_id=uuid.uuid4(),
        run_url=lambda job_id: temporal.run_url(tryon_workflow_id(str(job_id))),
        error=error,
        form=form or Form(),
    )


def _facts(session: Session, plans: PlanBook, account_id: uuid.UUID) -> dict[str, Any] | None:
    account = find_account(session, account_id=account_id)
    if account is None:
        return None
    try:
        usage = usage_of(session, plans, account_id=account_id, now=datetime.now(UTC))
    except ValueError:  # its plan is none of the service's any more
        usage = None
    return {
        "account": account,
        "standing": standing_of(account),
        "login": login_of(session, account_id=account_id),
        "usage": usage,
        "jobs": list_jobs(session, account_id=account_id, limit=NEWEST).jobs,
        "orders": payments.page_of_account(session, account_id=account_id, limit=NEWEST),
        "entries": lines_of(session, audit.page(session, account_id=account_id, limit=NEWEST)),
    }


@dataclass(frozen=True)
class Operation:
    """What an operator does to one account, and with what."""

    request: Request
    form: Form
    parts: ApiParts
    account_id: uuid.UUID
    operator_id: uuid.UUID

    async def write(self, notice: str, work: Callable[[Session, datetime], object]) -> Response:
        """Do it in one transaction, or show the account's page with a sentence that says why not."""
        try:
            await self.parts.database.write(work, datetime.now(UTC))
        except ValueError as error:
            return await self.refuse(error)
        return redirect(f"/admin/accounts/{self.account_id}", notice)

    async def refuse(self, error: ValueError) -> Response:
        """The account's page with a sentence about what was refused, and with the form as it was sent."""
        return await account_page(self.request, self.parts, self.account_id, 422, as_sentence(error), form=self.form)


async def _operation(request: Request, form: SentForm, parts: Parts, visitor: Visitor, accountId: str) -> Operation:
    account_id = read_id(accountId, UNKNOWN)
    account = await parts.database.read(find_account, account_id=account_id)
    if account is None:
        raise PageRefused(404, UNKNOWN)
    if account.erased_at is not None:
        raise PageRefused(400, "This account was erased and can no longer be changed.")
    return Operation(request, form, parts, account_id, visitor.account_id)


Asked = Annotated[Operation, Depends(_operation)]


@router.post("/admin/accounts/{accountId}/block")
async def block(asked: Asked) -> Response:
    """Refuse its calls from now on, and cancel what it has in progress."""
    parts = asked.parts
    try:
        _not_oneself(asked, "You cannot block your own account here.")
        cancelled = await blocking.block(
            parts.database,
            account_id=asked.account_id,
            reason=reason_of(asked.form, blocking.LONGEST_REASON),
            operator_id=asked.operator_id,
            keep=timedelta(seconds=parts.settings.jobs.result_ttl_seconds),
        )
    except ValueError as error:
        return await asked.refuse(error)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(CANCEL_SECONDS):
            for job_id in cancelled:
                await parts.temporal.cancel_job(job_id)
    return redirect(f"/admin/accounts/{asked.account_id}", "account_blocked")


@router.post("/admin/accounts/{accountId}/unblock")
async def unblock(asked: Asked) -> Response:
    """Let it call again."""

    def work(session: Session, now: datetime) -> None:
        blocking.unblock(session, account_id=asked.account_id, operator_id=asked.operator_id, now=now)

    return await asked.write("account_unblocked", work)


@router.post("/admin/accounts/{accountId}/plan")
async def change_plan(asked: Asked) -> Response:
    """Put it on a plan, with terms of its own where some are given; a new period begins."""

    def work(session: Session, now: datetime) -> None:
        terms.change_plan(
            session,
            asked.parts.plans,
            account_id=asked.account_id,
            plan=asked.form.text("plan"),
            own_terms=own_terms_of(asked.form),
            operator_id=asked.operator_id,
            now=now,
        )

    return await asked.write("plan_changed", work)


@router.post("/admin/accounts/{accountId}/credit")
async def credit(asked: Asked) -> Response:
    """Credit a pack; a form that is sent twice credits once."""

    def work(session: Session, now: datetime) -> None:
        plans, size, pack_id = asked.parts.plans, asked.form.text("generations"), asked.form.identifier("pack")
        if pack_id is None:
            raise FieldRefusedError("The form is not complete. Send it again.")
        if size not in map(str, plans.topup_packs):
            raise FieldRefusedError("There is no pack of this size.")
        terms.credit_pack(
            session,
            plans,
            account_id=asked.account_id,
            generations=int(size),
            reason=reason_of(asked.form, blocking.LONGEST_REASON),
            operator_id=asked.operator_id,
            now=now,
            pack_id=pack_id,
        )

    return await asked.write("pack_credited", work)


@router.post("/admin/accounts/{accountId}/operator")
async def change_operator(asked: Asked) -> Response:
    """Open these pages to its owner, or close them."""

    def work(session: Session, now: datetime) -> None:
        _not_oneself(asked, "You cannot take your own operator rights away. Another operator can.")
        operator = asked.form.text("operator") == "yes"
        set_operator(session, account_id=asked.account_id, operator=operator, now=now, by=asked.operator_id)

    return await asked.write("operator_changed", work)


def _not_oneself(asked: Operation, sentence: str) -> None:
    if asked.account_id == asked.operator_id:
        raise FieldRefusedError(sentence)


def own_terms_of(form: Form) -> OwnTerms:
    """What is agreed with one account alone; an empty field leaves what the plan says.

    Raises:
        FieldRefusedError: A field is no count or no amount.
    """
    requests = _count(form, "requests", "Requests")
    try:
        rate = RequestRate.of(requests, _count(form, "window_seconds", "The window of requests"))
    except ValueError as error:
        raise FieldRefusedError(as_sentence(error)) from None
    return OwnTerms(
        request_rate=rate,
        included=_count(form, "included", "Included try-ons"),
        daily_cap=_count(form, "daily_cap", "The daily cap"),
        monthly_price=_dollars(form, "monthly_price", "The monthly price"),
        extra_price=_dollars(form, "extra_price", "The price of an extra try-on"),
    )


def _count(form: Form, name: str, called: str) -> int | None:
    text = form.text(name).replace(",", "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit()) or len(text) > 10 or int(text) > LARGEST_COUNT:
        raise FieldRefusedError(f"{called} must be a whole number up to {LARGEST_COUNT:,}.")
    return int(text)


def _dollars(form: Form, name: str, called: str) -> Decimal | None:
    text = form.text(name).removeprefix("$").replace(",", "")
    if not text:
        return None
    try:
        amount = Decimal(text)
        fits = amount.is_finite() and 0 <= amount <= LARGEST_PRICE and amount == amount.quantize(Decimal("0.01"))
    except InvalidOperation:
        fits = False
    if not fits:
        raise FieldRefusedError(f"{called} must be an amount of US dollars up to {LARGEST_PRICE:,}, such as 149.00.")
    return amount
