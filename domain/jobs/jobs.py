"""Jobs from acceptance to their one end, and how long their picture, their answer to polls and their row are kept.

`complete_job` and `fail_job` are compare-and-sets: only the first of any number of callers ends the job and writes
its ledger row; the others learn that they came too late. A job that is finished twice is therefore billed once. What is
counted of jobs that end lies in the session whose transaction ends them, for after its commit.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Select, case, delete, func, literal, or_, select, update
from sqlalchemy.orm import Session

from domain.access.idempotency import Claim, complete_claim
from domain.access.keys import count_start
from domain.errors import ErrorCode, TryOnError, sentence_of
from domain.money.plans import PlanBook, seconds_to_next_day
from domain.money.quota import lock_account, release, reserve, settle
from domain.object_keys import result_key
from domain.tables import Account, BackfillItem, Job, rows_changed
from domain.webhooks import announce, announce_volume, forget_job, has_endpoint

ENDED = "ended_jobs"  # where in a session's ``info`` they lie

_STAGE = "stage_"  # begins the names of a report's timings that are those of the job's stages


@dataclass(frozen=True)
class EndedJob:
    """A job that has ended, ``live`` or of a ``test`` key: why, if it failed, else how long each stage and all took."""

    kind: str
    mode: str
    outcome: str
    reason: str = ""
    stage_seconds: Mapping[str, float] = field(default_factory=dict)


PROCESSING, COMPLETED, FAILED = "processing", "completed", "failed"

IS_OPEN = Job.status == literal(PROCESSING, literal_execute=True)
"""In progress. The word stands in the statement: a partial index serves no statement that has it as a parameter."""

LONGEST_MS = 2**31 - 1
"""What the column holds on PostgreSQL: a job that is completed after weeks is no reason to fail."""

OVERDUE_GRACE = timedelta(seconds=30)
"""A run ends its own job at the deadline; one that has not done so by then cannot."""


@dataclass(frozen=True)
class NewJob:
    """What is known of a job when it is accepted.

    Attributes:
        test: Whether a test key asked for it: it costs nothing.
        workflow_input: What the workflow will be started with, as JSON.
        products: Registered garments it uses: index, id and revision of each.
        metadata: What its caller wants to find it by.
        claim: Under which `Idempotency-Key` it is accepted, if under any.
        relayed: Whether the relay starts its workflow if nobody else has; otherwise the process that accepts it will.
        publishable: Whether the key is publishable, and so has a daily cap of its own.
    """

    job_id: uuid.UUID
    account_id: uuid.UUID
    api_key_id: uuid.UUID | None
    kind: str
    workflow_input: dict[str, Any]
    deadline: timedelta
    test: bool = False
    products: list[dict[str, Any]] = field(default_factory=list)
    metadata: Mapping[str, str] = field(default_factory=dict)
    claim: Claim | None = None
    relayed: bool = True
    publishable: bool = False


def accept_job(session: Session, plans: PlanBook, new: NewJob, *, now: datetime) -> Job:
    """Add the job and its reservation.

    An empty ``started_at`` makes the row its own outbox entry; one that is not relayed has it from the beginning.

    Raises:
        TryOnError: ``account_blocked``, what `quota.reserve` raises, ``key_daily_cap_reached``,
            ``idempotency_in_progress``. Nothing of the transaction may be kept then.
    """
    account = lock_account(session, account_id=new.account_id)
    if account.blocked_at is not None:
        raise TryOnError("account_blocked")
    allowance_id, counted_on = None, None
    if not new.test:
        reserved = reserve(session, plans, account=account, job_id=new.job_id, now=now)
        allowance_id, counted_on = reserved.allowance_id, reserved.day
        announce_volume(session, account, reserved.volume, now=now)
    if new.publishable and new.api_key_id and not count_start(session, key_id=new.api_key_id, now=now):
        raise key_cap_reached(now)
    if new.claim is not None:
        complete_claim(session, new.claim, job_id=new.job_id)
    job = Job(
        id=new.job_id,
        account_id=new.account_id,
        api_key_id=new.api_key_id,
        allowance_id=allowance_id,
        counted_on=counted_on,
        kind=new.kind,
        status=PROCESSING,
        workflow_input=new.workflow_input,
        products=new.products or None,
        caller_metadata=dict(new.metadata) or None,
        created_at=now,
        deadline_at=now + new.deadline,
        started_at=None if new.relayed else now,
    )
    session.add(job)
    session.flush()
    return job


def key_cap_reached(now: datetime) -> TryOnError:
    """The refusal of a publishable key that has started its try-ons of this day (UTC)."""
    return TryOnError("key_daily_cap_reached", retry_after=seconds_to_next_day(now))


def find_job(
    session: Session, *, job_id: uuid.UUID, account_id: uuid.UUID, started_by: uuid.UUID | None = None
) -> Job | None:
    """A job of this account; another account's job is as unknown as one that never was.

    Likewise those that another key than ``started_by`` has started, where one is named.
    """
    found = select(Job).where(Job.id == job_id, Job.account_id == account_id)
    return session.scalar(found if started_by is None else found.where(Job.api_key_id == started_by))


def get_job(session: Session, *, job_id: uuid.UUID) -> Job:
    """A job that is known to be there."""
    return session.get_one(Job, job_id)


@dataclass(frozen=True)
class Standing:
    """What a sweep has to know of a job: whether it is over, and whether its picture may still be fetched."""

    ended: bool
    has_result: bool


def standings(session: Session, *, job_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, Standing]:
    """How those of the jobs stand that there are."""
    rows = session.execute(select(Job.id, Job.status, Job.result_key).where(Job.id.in_(job_ids)))
    return {row.id: Standing(row.status != PROCESSING, row.result_key is not None) for row in rows}


def mark_started(session: Session, *, job_id: uuid.UUID) -> None:
    """Take the job out of the outbox: Temporal has it."""
    session.execute(update(Job).where(Job.id == job_id, Job.started_at.is_(None)).values(started_at=datetime.now(UTC)))


def list_unstarted(session: Session, *, older_than: timedelta, limit: int) -> Sequence[Job]:
    """Jobs that were accepted and not handed to Temporal, by deadline.

    Those younger than ``older_than`` may still be on their way in the process that accepted them.
    """
    waiting = _open(older_than).where(Job.started_at.is_(None))
    return session.scalars(waiting.order_by(Job.deadline_at).limit(limit)).all()


def list_open(session: Session, *, older_than: timedelta, limit: int) -> Sequence[Job]:
    """Jobs in progress that were accepted longer ago than ``older_than``, oldest first."""
    return session.scalars(_open(older_than).order_by(Job.created_at).limit(limit)).all()


def _open(older_than: timedelta) -> Select[Job]:
    return select(Job).where(IS_OPEN, Job.created_at <= datetime.now(UTC) - older_than)


@dataclass(frozen=True)
class OpenJob:
    """A job in progress, as the reconciler sees it; its priority is that of its workflow, 1 (first) to 5."""

    job_id: uuid.UUID
    deadline_at: datetime
    priority: int

    @property
    def place(self) -> tuple[datetime, uuid.UUID]:
        """Its place among others by deadline."""
        return self.deadline_at, self.job_id


def list_all_open(session: Session, *, accepted_before: datetime) -> list[OpenJob]:
    """Every job in progress but the youngest, without what its row holds: there may be very many."""
    rows = session.execute(
        select(Job.id, Job.deadline_at, func.coalesce(Job.workflow_input["priority"].as_integer(), 0)).where(
            IS_OPEN, Job.created_at <= accepted_before
        )
    )
    return [OpenJob(*row) for row in rows]


def is_overdue(deadline_at: datetime, now: datetime) -> bool:
    """Whether the run should have ended the job by itself, and did not: nobody will finish it any more."""
    return deadline_at + OVERDUE_GRACE <= now


def can_delete(job: Job, *, copied: bool, now: datetime) -> bool:
    """Whether anything is stored that its owner may delete: what was sent, what came of it, or a backfill's copy."""
    return job.erased_at is None and (job.expires_at is None or job.expires_at > now or copied)


def open_inputs(session: Session, *, account_id: uuid.UUID) -> Iterable[dict[str, Any]]:
    """What the account's jobs in progress were started with, some at a time."""
    own = select(Job.workflow_input).where(Job.account_id == account_id, IS_OPEN)
    return session.scalars(own.execution_options(yield_per=100))


def complete_job(
    session: Session,
    *,
    job_id: uuid.UUID,
    result_key: str,
    engine: str,
    report: dict[str, Any],
    keep: timedelta,
    longest: timedelta | None = None,
    now: datetime,
) -> bool:
    """End an open job with a picture, and settle its reservation.

    The picture may be fetched for as long as ``keep`` says, or as long as its account wants it, up to ``longest``: that
    is ``keep`` too where nothing is said.

    Returns:
        Whether this call ended it.
    """
    job = get_job(session, job_id=job_id)
    spent = min(max(0, round((now - job.created_at).total_seconds() * 1000)), LONGEST_MS)  # clocks differ
    drawn = {"generation_ms": spent, "result_key": result_key, "engine": engine, "report": report}
    return _end_job(session, job, COMPLETED, keep=keep, longest=longest or keep, now=now, **drawn)


def fail_job(
    session: Session,
    *,
    job_id: uuid.UUID,
    error_code: ErrorCode,
    error_advice: str | None = None,
    keep: timedelta,
    now: datetime,
) -> bool:
    """End an open job without a picture, and release its reservation.

    The reason may be polled for as long as ``keep`` says; shorter if its account wants it so. There is advice where
    more is known than the catalogue says.

    Returns:
        Whether this call ended it.
    """
    job = get_job(session, job_id=job_id)
    why = {"error_code": error_code, "error_advice": error_advice}
    return _end_job(session, job, FAILED, keep=keep, longest=keep, now=now, **why)


def _end_job(
    session: Session, job: Job, status: str, *, keep: timedelta, longest: timedelta, now: datetime, **values: Any
) -> bool:
    wanted, has_webhook = session.execute(
        select(Account.result_ttl_seconds, has_endpoint(Account.id)).where(Account.id == job.account_id)
    ).one()
    kept_for = keep if wanted is None else min(longest, timedelta(seconds=wanted))
    ended = session.execute(
        update(Job)
        .where(Job.id == job.id, IS_OPEN)
        .values(status=status, finished_at=now, expires_at=now + kept_for, **values)
        .returning(Job.id)
    )
    if ended.scalar_one_or_none() is None:
        return False
    (settle if status == COMPLETED else release)(session, job, now=now)
    mode = "test" if job.allowance_id is None else "live"
    seconds = _stage_seconds(values["report"], values["generation_ms"]) if status == COMPLETED else {}
    session.info.setdefault(ENDED, []).append(
        EndedJob(job.kind, mode, status, reason=values.get("error_code", ""), stage_seconds=seconds)
    )
    if has_webhook:
        _announce_end(session, job, status, now=now, **values)
    return True


def _announce_end(session: Session, job: Job, status: str, *, now: datetime, **values: Any) -> None:
    """Tell the account's webhooks; the row in the session is as it was before the end."""
    data: dict[str, Any] = {"jobId": str(job.id), "status": status, "metadata": job.caller_metadata or {}}
    if status == COMPLETED:
        data["generationTimeMs"] = values["generation_ms"]
    else:
        data |= {"errorCode": values["error_code"], "error": sentence_of(values["error_code"], values["error_advice"])}
    announce(
        session,
        "tryon.completed" if status == COMPLETED else "tryon.failed",
        data,
        account_id=job.account_id,
        now=now,
        test=job.allowance_id is None,
        job_id=job.id,
    )


def _stage_seconds(report: Mapping[str, Any], milliseconds: int) -> dict[str, float]:
    timings: Mapping[str, int] = report.get("timingsMs", {})
    spent = {name.removeprefix(_STAGE): each / 1000 for name, each in timings.items() if name.startswith(_STAGE)}
    return spent | {"total": milliseconds / 1000}


def list_open_of_account(session: Session, *, account_id: uuid.UUID) -> Sequence[uuid.UUID]:
    """The account's jobs in progress."""
    return session.scalars(select(Job.id).where(Job.account_id == account_id, IS_OPEN)).all()


def end_access(session: Session, *, job_id: uuid.UUID, now: datetime) -> None:
    """Make the job unknown to polls from now on, as its caller asked, and forget where its pictures came from.

    What is left is the billing record, and the key of a picture that is due to be deleted: also where it is gone, for
    by it the purge finds copies.
    """
    erased = update(Job).where(Job.id == job_id).values(erased_at=now, expires_at=now)
    due = func.coalesce(Job.result_key, case((Job.status == COMPLETED, result_key(str(job_id)))))
    erased = erased.values(result_key=due)
    session.execute(erased.values(workflow_input={}, products=None, caller_metadata=None, report=None))
    forget_job(session, job_id=job_id)


def list_expired(session: Session, *, limit: int, unkept_for: timedelta) -> Sequence[Job]:
    """Completed jobs whose picture is due to be deleted and still has a key.

    One that a backfill has yet to take its copy of is due ``unkept_for`` after the job was accepted.
    """
    now = datetime.now(UTC)
    unkept = select(BackfillItem.job_id).where(
        BackfillItem.job_id == Job.id, BackfillItem.result_key.is_(None), BackfillItem.touched_at > now - unkept_for
    )
    return session.scalars(
        select(Job)
        .where(Job.expires_at <= now, Job.result_key.is_not(None), or_(Job.erased_at.is_not(None), ~unkept.exists()))
        .order_by(Job.expires_at)
        .limit(limit)
    ).all()


def forget_results(session: Session, *, job_ids: Collection[uuid.UUID], copies: Collection[str] = ()) -> None:
    """Note that the pictures are gone, and these copies that backfills kept of them.

    An erased job of which another copy is left keeps its key: by that the purge finds it again.
    """
    of_jobs = BackfillItem.job_id.in_(job_ids)
    left = select(BackfillItem.job_id).where(
        of_jobs, BackfillItem.result_key.is_not(None), BackfillItem.result_key.not_in(copies)
    )
    gone = or_(Job.erased_at.is_(None), Job.id.not_in(left))
    rows_changed(session, update(Job).where(Job.id.in_(job_ids), gone).values(result_key=None))
    session.execute(update(BackfillItem).where(of_jobs, BackfillItem.result_key.in_(copies)).values(result_key=None))


def delete_old(session: Session, *, finished_before: datetime, limit: int) -> int:
    """Delete rows of jobs that ended before then and whose picture is gone; returns how many."""
    old = session.scalars(
        select(Job.id).where(Job.finished_at < finished_before, Job.result_key.is_(None)).limit(limit)
    ).all()
    return rows_changed(session, delete(Job).where(Job.id.in_(old)))
