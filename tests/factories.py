"""Rows that tests start from."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from domain import accounts
from domain.access import keys
from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms
from domain.authentication.passwords import Passwords
from domain.jobs import jobs
from domain.jobs.jobs import NewJob
from domain.money.plans import load_plans
from runtime.database import Database

PLANS = load_plans()

NOBODYS_ID = "6d5f9c1e-0b6f-4a35-9d0c-5f1b9c2c7a11"
"""No row has it. The same in each run: it stands in the names of tests."""


@dataclass(frozen=True)
class Caller:
    """An account with a key."""

    account_id: uuid.UUID
    key_id: uuid.UUID
    key: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


async def create_caller(
    database: Database,
    digester: KeyDigester,
    *,
    plan: str = "starter",
    own_terms: OwnTerms = accounts.PLAN_AS_IT_IS,
    now: datetime | None = None,
    mode: Literal["live", "test"] = "live",
) -> Caller:
    """A new account with a key; ``now`` is when it took its plan."""
    with database.transaction() as session:
        account = accounts.create_account(
            session,
            PLANS,
            email=f"{uuid.uuid4().hex}@example.com",
            plan=plan,
            own_terms=own_terms,
            now=now or datetime.now(UTC),
        )
        row, key = keys.create_key(session, digester, account_id=account.id, mode=mode)
    return Caller(account.id, row.id, key)


def cheap_passwords() -> Passwords:
    """Hashes that cost next to nothing, where it does not matter how hard they are to guess."""
    return Passwords(memory_kib=8, passes=1)


def new_job(caller: Caller, deadline: timedelta = timedelta(minutes=5), **fields: Any) -> NewJob:
    values = {"job_id": uuid.uuid4(), "kind": "single", "workflow_input": {}, **fields}
    return NewJob(account_id=caller.account_id, api_key_id=caller.key_id, deadline=deadline, **values)


async def create_job(
    database: Database, caller: Caller, deadline: timedelta = timedelta(minutes=5), age: timedelta = timedelta(0)
) -> uuid.UUID:
    """A job in progress that was accepted ``age`` ago."""
    new = new_job(caller, deadline)
    with database.transaction() as session:
        job = jobs.accept_job(session, PLANS, new, now=datetime.now(UTC))
        job.created_at -= age
        job.deadline_at -= age
    return new.job_id
