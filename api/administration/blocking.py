"""Blocking an account: its calls are refused at once, and what it has in progress is cancelled and not billed."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

from sqlalchemy.orm import Session

from domain import accounts
from domain.jobs import jobs
from domain.operation import audit
from domain.operation.audit import Act
from runtime.database import Database

LONGEST_REASON = 200
"""Characters."""


async def block(
    database: Database, *, account_id: uuid.UUID, reason: str, operator_id: uuid.UUID | None, keep: timedelta
) -> list[uuid.UUID]:
    """Refuse every call of an account from now on, and fail and release its jobs in progress.

    Done again, it goes on where it was cut off.

    Args:
        database: Transactions of its own are begun: one for all jobs could wait for a job that waits for it in turn.
        account_id: Whose calls.
        reason: Shown to the owner, at most `LONGEST_REASON` characters.
        operator_id: Who does it; ``None`` for the command line.
        keep: How long the cancelled jobs can be polled, should the account be unblocked.

    Returns:
        Jobs that it cancelled; `TemporalGateway.cancel_job` spares the workers the rest of them.

    Raises:
        ValueError: The reason is empty or too long.
    """
    if not 1 <= len(reason) <= LONGEST_REASON:
        raise ValueError(f"a reason has 1 to {LONGEST_REASON} characters")

    def shut(session: Session) -> None:
        now = datetime.now(UTC)
        if accounts.block_account(session, account_id=account_id, reason=reason, now=now):
            audit.add_entry(
                session,
                action=Act.ACCOUNT_BLOCKED,
                operator_id=operator_id,
                account_id=account_id,
                details={"reason": reason},
                now=now,
            )

    await database.write(shut)
    # No job is accepted from here on.
    running = await database.read(jobs.list_open_of_account, account_id=account_id)
    return [
        job_id
        for job_id in running
        if await database.write(jobs.fail_job, job_id=job_id, error_code="cancelled", keep=keep, now=datetime.now(UTC))
    ]


def unblock(session: Session, *, account_id: uuid.UUID, operator_id: uuid.UUID | None, now: datetime) -> None:
    """Let an account call again, with the keys it had.

    Raises:
        ValueError: It was erased.
    """
    if accounts.unblock_account(session, account_id=account_id):
        audit.add_entry(
            session,
            action=Act.ACCOUNT_UNBLOCKED,
            operator_id=operator_id,
            account_id=account_id,
            details={},
            now=now,
        )
