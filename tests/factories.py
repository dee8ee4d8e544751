"""Rows that tests start from."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import timedelta

from domain import accounts, jobs, keys
from domain.keys import KeyDigester
from runtime.database import Database


@dataclass(frozen=True)
class Caller:
    """An account with a key."""

    account_id: uuid.UUID
    key_id: uuid.UUID
    key: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


async def create_caller(database: Database, digester: KeyDigester) -> Caller:
    async with database.transaction() as session:
        account = await accounts.create_account(session, email=f"{uuid.uuid4().hex}@example.com", plan="starter")
        row, key = await keys.create_key(session, digester, account_id=account.id)
    return Caller(account.id, row.id, key)


async def create_job(
    database: Database, caller: Caller, deadline: timedelta = timedelta(minutes=5), age: timedelta = timedelta(0)
) -> uuid.UUID:
    """A job in progress that was accepted ``age`` ago."""
    job_id = uuid.uuid4()
    async with database.transaction() as session:
        job = await jobs.accept_job(
            session,
            job_id=job_id,
            account_id=caller.account_id,
            api_key_id=caller.key_id,
            kind="single",
            workflow_input={},
            deadline=deadline,
        )
        job.created_at -= age
        job.deadline_at -= age
    return job_id
