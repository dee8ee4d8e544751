"""``Idempotency-Key``: a client may send a POST again and never gets a second job for it.

The first request under a key claims it, in a transaction of its own; the transaction that accepts the job completes
the claim. A request that is refused gives the key up again, so only accepted ones are remembered. A claim whose
process died is taken over after a while; should the process only have been slow, it finds its claim gone and its
job is not accepted.
"""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, delete, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from domain.errors import TryOnError
from domain.tables import IdempotencyKey, rows_changed

LONGEST_KEY = 255
REMEMBERED = timedelta(hours=24)
LEASE = timedelta(seconds=60)
"""Longer than pictures take to be checked and stored. An acceptance that takes longer may find its claim gone."""


@dataclass(frozen=True)
class Claim:
    """The right to accept a job under a key; the token tells it from another claim of the same key."""

    account_id: uuid.UUID
    key: str
    token: uuid.UUID


def claim_key(
    session: Session, *, account_id: uuid.UUID, key: str, fingerprint: str, now: datetime
) -> Claim | uuid.UUID:
    """Claim a key for a request, in a transaction of its own.

    The fingerprint has 64 hexadecimal digits over everything that makes the request this one.

    Returns:
        The claim, or the job that was accepted under the key before.

    Raises:
        TryOnError: ``idempotency_mismatch``, ``idempotency_in_progress``.
    """
    row = session.get(IdempotencyKey, (account_id, key), with_for_update=True)
    claim = Claim(account_id, key, uuid.uuid4())
    if row is None:
        session.add(
            IdempotencyKey(
                account_id=account_id, key=key, fingerprint=fingerprint, claim=claim.token, claimed_at=now, job_id=None
            )
        )
        try:
            session.flush()
        except IntegrityError:  # another request was first by a moment
            raise TryOnError("idempotency_in_progress", retry_after=1) from None
        return claim
    age = now - row.claimed_at
    if age < (LEASE if row.job_id is None else REMEMBERED):
        if row.fingerprint != fingerprint:
            raise TryOnError("idempotency_mismatch")
        if row.job_id is None:
            # As long again as it has taken: most are done at once, and a caller who waits for one whose process died
            # does so in eight requests, where one each second would use up its rate.
            again = math.ceil(min(age, LEASE - age).total_seconds())
            raise TryOnError("idempotency_in_progress", retry_after=max(1, again))
        return row.job_id
    row.fingerprint, row.claim, row.claimed_at, row.job_id = fingerprint, claim.token, now, None
    return claim


def complete_claim(session: Session, claim: Claim, *, job_id: uuid.UUID) -> None:
    """Tie the key to its job, in the transaction that adds the job.

    Raises:
        TryOnError: ``idempotency_in_progress``: the claim was taken over.
    """
    if not rows_changed(session, update(IdempotencyKey).where(*_held(claim)).values(job_id=job_id)):
        raise TryOnError("idempotency_in_progress", retry_after=1)


def give_up_claim(session: Session, claim: Claim) -> None:
    """Forget the key: its request was refused."""
    session.execute(delete(IdempotencyKey).where(*_held(claim)))


def forget_old_keys(session: Session, *, now: datetime) -> int:
    """Delete what no longer counts; returns how many there were."""
    return rows_changed(session, delete(IdempotencyKey).where(IdempotencyKey.claimed_at <= now - REMEMBERED))


def _held(claim: Claim) -> tuple[ColumnElement[bool], ...]:
    return (
        IdempotencyKey.account_id == claim.account_id,
        IdempotencyKey.key == claim.key,
        IdempotencyKey.claim == claim.token,
        IdempotencyKey.job_id.is_(None),
    )
