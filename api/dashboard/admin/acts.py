"""What an operator does to one account. Every act is a form, and is written down in the transaction that does it."""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

from fastapi import APIRouter, Request, Response
from sqlalchemy.orm import Session

from api.administration import blocking, terms
from api.dashboard.admin.accounts import account_page
from api.dashboard.admin.request import FieldRefusedError, identifier, own_terms_of, reason_of
from api.dashboard.forms import Form, PageRefused, read_form
from api.dashboard.rendering import redirect
from api.dashboard.visitor import visitor_of
from api.parts import parts_of
from domain.accounts import find_account
from domain.operation.operators import set_operator

CANCEL_SECONDS = 2.0
"""For having runs stop whose jobs were ended already; workers find that out by themselves."""

router = APIRouter()

Act = Callable[[uuid.UUID, Form], Awaitable[str]]
"""Does something to an account, and says which notice tells so."""


@router.post("/admin/accounts/{accountId}/block")
async def block(request: Request, accountId: str) -> Response:
    """Refuse its calls from now on, and cancel what it has in progress."""

    async def act(account_id: uuid.UUID, form: Form) -> str:
        _not_oneself(request, account_id, "You cannot block your own account here.")
        parts = parts_of(request)
        cancelled = await blocking.block(
            parts.database,
            account_id=account_id,
            reason=reason_of(form, blocking.LONGEST_REASON),
            operator_id=visitor_of(request).account_id,
            keep=timedelta(seconds=parts.settings.jobs.result_ttl_seconds),
        )
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(CANCEL_SECONDS):
                for job_id in cancelled:
                    await parts.temporal.cancel_job(job_id)
        return "account_blocked"

    return await _carried_out(request, accountId, act)


@router.post("/admin/accounts/{accountId}/unblock")
async def unblock(request: Request, accountId: str) -> Response:
    """Let it call again."""

    def work(session: Session, account_id: uuid.UUID, _form: Form, now: datetime) -> None:
        blocking.unblock(session, account_id=account_id, operator_id=visitor_of(request).account_id, now=now)

    return await _in_transaction(request, accountId, "account_unblocked", work)


@router.post("/admin/accounts/{accountId}/plan")
async def change_plan(request: Request, accountId: str) -> Response:
    """Put it on a plan, with terms of its own where some are given; a new period begins."""

    def work(session: Session, account_id: uuid.UUID, form: Form, now: datetime) -> None:
        terms.change_plan(
            session,
            parts_of(request).plans,
            account_id=account_id,
            plan=form.text("plan"),
            own_terms=own_terms_of(form),
            operator_id=visitor_of(request).account_id,
            now=now,
        )

    return await _in_transaction(request, accountId, "plan_changed", work)


@router.post("/admin/accounts/{accountId}/credit")
async def credit(request: Request, accountId: str) -> Response:
    """Credit a pack."""

    def work(session: Session, account_id: uuid.UUID, form: Form, now: datetime) -> None:
        plans, size = parts_of(request).plans, form.text("generations")
        if size not in map(str, plans.topup_packs):
            raise FieldRefusedError("There is no pack of this size.")
        terms.credit_pack(
            session,
            plans,
            account_id=account_id,
            generations=int(size),
            reason=reason_of(form, blocking.LONGEST_REASON),
            operator_id=visitor_of(request).account_id,
            now=now,
        )

    return await _in_transaction(request, accountId, "pack_credited", work)


@router.post("/admin/accounts/{accountId}/operator")
async def change_operator(request: Request, accountId: str) -> Response:
    """Open these pages to its owner, or close them."""

    def work(session: Session, account_id: uuid.UUID, form: Form, now: datetime) -> None:
        _not_oneself(request, account_id, "You cannot take your own operator rights away. Another operator can.")
        operator = form.text("operator") == "yes"
        set_operator(session, account_id=account_id, operator=operator, now=now, by=visitor_of(request).account_id)

    return await _in_transaction(request, accountId, "operator_changed", work)


Work = Callable[[Session, uuid.UUID, Form, datetime], None]


async def _in_transaction(request: Request, account_id: str, notice: str, work: Work) -> Response:
    async def act(identifier: uuid.UUID, form: Form) -> str:
        await parts_of(request).database.write(work, identifier, form, datetime.now(UTC))
        return notice

    return await _carried_out(request, account_id, act)


async def _carried_out(request: Request, text: str, act: Act) -> Response:
    """Do it, or show the account's page with a sentence that says why not."""
    form, account_id = await read_form(request), identifier(text, "account")
    account = await parts_of(request).database.read(find_account, account_id=account_id)
    if account is None:
        raise PageRefused(404, "There is no such account.")
    if account.erased_at is not None:
        raise PageRefused(400, "This account was erased and can no longer be changed.")
    try:
        notice = await act(account_id, form)
    except ValueError as error:
        sentence = str(error)
        return await account_page(request, account_id, 422, sentence[:1].upper() + sentence[1:].rstrip(".") + ".")
    return redirect(f"/admin/accounts/{account_id}", notice)


def _not_oneself(request: Request, account_id: uuid.UUID, sentence: str) -> None:
    if account_id == visitor_of(request).account_id:
        raise FieldRefusedError(sentence)
