"""How a job stands, and taking it back."""

from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated

import structlog
from fastapi import Depends, Request
from sqlalchemy.orm import Session

from api.parts import ApiParts, Parts
from api.routes import AccountId, call_of
from domain.errors import ErrorCode, TryOnError, known_code, sentence_of
from domain.jobs import backfills, jobs
from domain.object_keys import job_prefix, result_key
from domain.tables import Job
from gateway.calls import RunNotFoundError, TemporalAwayError
from gateway.temporal import Progress
from runtime.object_store import ObjectMissingError, ObjectStoreUnavailableError

log = structlog.get_logger(__name__)

SHORTEST_PAUSE, LONGEST_PAUSE = 2, 60
"""Seconds between polls; with the longest a client still shows that the job moves."""

_WAIT = re.compile(r'\s*wait\s*=\s*"?(\d{1,9})"?\s*(;.*)?', re.IGNORECASE)


@dataclass(frozen=True)
class JobState:
    """What a poll tells: of a completed job its JPEG and its time, of a failed one a sentence and its code.

    Of one in progress, ``retry_after`` says how many seconds later another poll makes sense.
    """

    status: str
    retry_after: int = 0
    picture: bytes = b""
    generation_ms: int = 0
    error: str = ""
    error_code: str = ""


def wait_preferred(headers: Iterable[str], longest: int) -> int | None:
    """Seconds that ``Prefer`` headers (RFC 7240) ask a request to be held, cut to ``longest``.

    A preference that makes no sense is ignored, as preferences are.
    """
    for preference in ",".join(headers).split(","):
        match = _WAIT.fullmatch(preference)
        if match:
            return min(int(match[1]), longest) or None
    return None


def retry_after(seconds_left: float) -> int:
    """Seconds after which another poll makes sense, by what is left of the job as far as anybody knows.

    Where pictures take seconds, the shortest pause, which is the contract's. Where they take minutes, a quarter of what
    is left: of the last five minutes that makes 17 polls, where 20 are allowed by default.
    """
    return min(max(SHORTEST_PAUSE, round(seconds_left / 4)), LONGEST_PAUSE)


class AccountJobs:
    """One account's view of its jobs; of those alone that the key ``started_by`` has started, if one is named."""

    def __init__(self, parts: ApiParts, account_id: uuid.UUID, started_by: uuid.UUID | None = None) -> None:
        self._parts = parts
        self._account_id = account_id
        self._started_by = started_by

    async def state(self, job_id: str, wait_seconds: int | None = None) -> JobState:
        """How a job stands, at once or when it has ended, but no later than after ``wait_seconds``.

        Raises:
            TryOnError: ``job_not_found`` for one that is unknown, malformed, expired or another account's.
            ObjectStoreUnavailableError: The picture cannot be read just now.
        """
        job, run = await self._find(job_id), None
        if job.status == jobs.PROCESSING:
            run = await self._run_of(job)
            if await self._release_if_dead(job, run.end if run else None):
                job = await self._find(job_id)
        if job.status == jobs.PROCESSING and wait_seconds:
            await self._parts.endings.wait(job.id, wait_seconds)
            return await self.state(job_id)
        if job.status == jobs.PROCESSING:
            expected: float = job.workflow_input.get("drawingSeconds", 0)
            return JobState(job.status, retry_after(run.drawing.seconds_left if run and run.drawing else expected))
        if job.status == jobs.FAILED:
            code = known_code(job.error_code)  # a worker of an older release may have written any
            return JobState(job.status, error=sentence_of(code, job.error_advice), error_code=code)
        if job.result_key is None:
            raise TryOnError("job_not_found")
        return JobState(job.status, picture=await self.picture(job), generation_ms=job.generation_ms or 0)

    async def completed(self, job_id: str) -> Job:
        """A job that has a picture.

        Raises:
            TryOnError: ``job_not_found`` as in `state`; ``job_not_completed`` or ``job_without_picture``.
        """
        job = await self._find(job_id)
        if job.status == jobs.PROCESSING:
            raise TryOnError("job_not_completed")
        if job.status == jobs.FAILED:
            raise TryOnError("job_without_picture")
        if job.result_key is None:
            raise TryOnError("job_not_found")
        return job

    async def picture(self, job: Job) -> bytes:
        """The JPEG of a completed job.

        Raises:
            TryOnError: ``job_not_found``: it was deleted.
            ObjectStoreUnavailableError: It cannot be read just now.
        """
        try:
            return await self._parts.store.get(job.result_key or "")
        except ObjectMissingError:
            raise TryOnError("job_not_found") from None

    async def delete(self, job_id: str) -> None:
        """Delete what is stored of a job; one in progress is cancelled and not billed. Polls are 404 from then on.

        One that is past its time can be deleted once more, for the copy that a backfill keeps of its picture.

        Raises:
            TryOnError: ``job_not_found``, as in `state`.
            ObjectStoreUnavailableError: Polls are 404 already, but its pictures are left to the purge.
        """
        job = await self._find_own(job_id)
        copied = await self._parts.database.read(backfills.copies_of, job_ids=[job.id])
        if not jobs.can_delete(job, copied=bool(copied), now=datetime.now(UTC)):
            raise TryOnError("job_not_found")

        def end(session: Session) -> tuple[bool, Sequence[str]]:
            now = datetime.now(UTC)
            cancelled = jobs.fail_job(session, job_id=job.id, error_code="cancelled", keep=timedelta(0), now=now)
            jobs.end_access(session, job_id=job.id, now=now)
            return cancelled, backfills.copies_of(session, job_ids=[job.id], lock=True)

        cancelled, kept = await self._parts.database.write(end)
        if cancelled:
            await self._parts.temporal.cancel_job(job.id)
        await self._forget_inputs(job.id)
        for key in (result_key(str(job.id)), *kept):
            await self._parts.store.delete(key)
        await self._parts.database.write(jobs.forget_results, job_ids=[job.id], copies=kept)

    async def _find(self, job_id: str) -> Job:
        job = await self._find_own(job_id)
        if job.expires_at is not None and job.expires_at <= datetime.now(UTC):
            raise TryOnError("job_not_found")
        return job

    async def _find_own(self, job_id: str) -> Job:
        try:
            identifier = uuid.UUID(job_id)
        except ValueError:
            raise TryOnError("job_not_found") from None
        job = await self._parts.database.read(
            jobs.find_job, job_id=identifier, account_id=self._account_id, started_by=self._started_by
        )
        if job is None:
            raise TryOnError("job_not_found")
        return job

    async def _run_of(self, job: Job) -> Progress | None:
        """Where the run of an open job is, if it was started and Temporal says so in time."""
        if job.started_at is None:
            return None
        with contextlib.suppress(TemporalAwayError, RunNotFoundError):
            return await self._parts.temporal.progress_of_job(str(job.id))
        return None

    async def _release_if_dead(self, job: Job, end: ErrorCode | None) -> bool:
        """Whether the job may stand differently now: it is overdue, or its run was found closed, see `Progress.end`."""
        overdue = jobs.is_overdue(job.deadline_at, datetime.now(UTC))
        code: ErrorCode | None = "timed_out" if overdue else end
        if code is None:
            return False
        keep = timedelta(seconds=self._parts.settings.jobs.result_ttl_seconds)
        released = await self._parts.database.write(
            jobs.fail_job, job_id=job.id, error_code=code, keep=keep, now=datetime.now(UTC)
        )
        if overdue:  # its run may still be drawing
            await self._parts.temporal.cancel_job(job.id)
        if released:
            with contextlib.suppress(ObjectStoreUnavailableError):  # the purge deletes them
                await self._forget_inputs(job.id)
        return True

    async def _forget_inputs(self, job_id: uuid.UUID) -> None:
        await self._parts.store.delete_prefix(job_prefix(str(job_id)))


async def _own_jobs(request: Request, parts: Parts, account_id: AccountId) -> AccountJobs:
    owner = call_of(request.scope).owner
    return AccountJobs(parts, account_id, owner.key_id if owner and owner.publishable else None)


OwnJobs = Annotated[AccountJobs, Depends(_own_jobs)]
"""A route's argument: the jobs of the account that asks; with a publishable key, those that this key has started."""
