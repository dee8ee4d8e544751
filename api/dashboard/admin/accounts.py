"""Accounts: the list with its search, and everything about one of them."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response
from sqlalchemy.orm import Session

from api.dashboard.admin.audit import Line, lines_of
from api.dashboard.admin.request import identifier
from api.dashboard.forms import PageRefused
from api.dashboard.rendering import page, plan_label, query_with
from api.parts import parts_of
from domain.accounts import find_account
from domain.billing import payments
from domain.jobs.job_history import ListedJob, list_jobs
from domain.money.plans import PlanBook
from domain.money.quota import Usage, usage_of
from domain.operation import audit
from domain.operation.operators import login_of, search_accounts, standing_of
from domain.tables import Account, Login, Payment
from workflows.queues import tryon_workflow_id

PER_PAGE = 50
NEWEST = 20
"""Jobs, orders and audit entries that are shown of one account."""

router = APIRouter()


@dataclass(frozen=True)
class AccountFacts:
    """What the page of one account shows.

    Attributes:
        usage: None where its plan is none of the service's any more.
    """

    account: Account
    standing: str
    login: Login | None
    usage: Usage | None
    jobs: Sequence[ListedJob]
    orders: Sequence[Payment]
    entries: Sequence[Line]


@router.get("/admin")
@router.get("/admin/accounts")
async def list_accounts(request: Request) -> Response:
    """The list, by the beginning of the address or by id."""
    query = request.query_params
    text, after = query.get("q", "")[:320], query.get("after", "")[:320] or None
    found = await parts_of(request).database.read(search_accounts, text=text, limit=PER_PAGE + 1, after=after)
    more = len(found) > PER_PAGE
    found = found[:PER_PAGE]
    return page(
        request,
        "admin/accounts.html",
        text=text,
        accounts=found,
        first=query_with(query, after=None) if after else None,
        older=query_with(query, after=found[-1].email) if more else None,
    )


@router.get("/admin/accounts/{accountId}")
async def show_account(request: Request, accountId: str) -> Response:
    """One account."""
    return await account_page(request, identifier(accountId, "account"))


async def account_page(request: Request, account_id: uuid.UUID, status: int = 200, error: str = "") -> Response:
    """The page of one account, with a sentence about what was refused, if anything was.

    Raises:
        PageRefused: 404: there is none.
    """
    parts = parts_of(request)
    facts = await parts.database.read(_facts, parts.plans, account_id)
    if facts is None:
        raise PageRefused(404, "There is no such account.")
    temporal = parts.settings.temporal
    return page(
        request,
        "admin/account.html",
        status,
        facts=facts,
        plans=[(name, plan_label(name)) for name, plan in parts.plans.plans.items() if plan.trial_days is None],
        packs=[(str(size), f"{size:,} try-ons") for size in parts.plans.topup_packs],
        run_url=lambda job_id: temporal.run_url(tryon_workflow_id(str(job_id))),
        error=error,
    )


def _facts(session: Session, plans: PlanBook, account_id: uuid.UUID) -> AccountFacts | None:
    account = find_account(session, account_id=account_id)
    if account is None:
        return None
    try:
        usage = usage_of(session, plans, account_id=account_id, now=datetime.now(UTC))
    except ValueError:
        usage = None
    return AccountFacts(
        account=account,
        standing=standing_of(account),
        login=login_of(session, account_id=account_id),
        usage=usage,
        jobs=list_jobs(session, account_id=account_id, limit=NEWEST),
        orders=payments.page_of_account(session, account_id=account_id, limit=NEWEST),
        entries=lines_of(session, audit.page(session, account_id=account_id, limit=NEWEST)),
    )
