"""A job put together: what its workflow is started with, and what its row says."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from domain.access.idempotency import Claim
from domain.jobs.jobs import NewJob
from domain.tables import Job
from intake.garments import SentGarment, products_used
from runtime.settings import JobSettings
from workflows.contracts import ObjectRef, RehearsalScript, TryOnInput
from workflows.queues import INTERACTIVE_PRIORITY


@dataclass(frozen=True)
class JobDraft:
    """A job that nobody has accepted yet.

    Attributes:
        api_key_id: Which key asked for it; none for an item of a backfill.
        person: The stored photo.
        uploads: Where pictures that came along were stored, by the names of their fields.
        rehearsal: Only for a test key's job, which costs nothing.
    """

    job_id: uuid.UUID
    account_id: uuid.UUID
    api_key_id: uuid.UUID | None
    person: ObjectRef
    garments: Sequence[SentGarment]
    uploads: Mapping[str, ObjectRef]
    deadline: timedelta
    priority: int = INTERACTIVE_PRIORITY
    rehearsal: RehearsalScript | None = None

    def row(self, *, claim: Claim | None = None, relayed: bool = True) -> NewJob:
        """What becomes the job's row once it is accepted.

        Args:
            claim: Under which `Idempotency-Key` it is accepted, if under any.
            relayed: Whether the relay starts its workflow if nobody else has.
        """
        workflow_input = TryOnInput(
            job_id=str(self.job_id),
            account_id=str(self.account_id),
            kind="single" if len(self.garments) == 1 else "combo",
            person=self.person,
            garments=[garment.source(index, self.uploads) for index, garment in enumerate(self.garments)],
            seed=self.job_id.int % 2**31,
            deadline_seconds=round(self.deadline.total_seconds()),
            priority=self.priority,
            rehearsal=self.rehearsal,
        )
        return NewJob(
            job_id=self.job_id,
            account_id=self.account_id,
            api_key_id=self.api_key_id,
            kind=workflow_input.kind,
            test=self.rehearsal is not None,
            workflow_input=workflow_input.model_dump(mode="json"),
            products=products_used(self.garments),
            deadline=self.deadline,
            claim=claim,
            relayed=relayed,
        )


def workflow_input_of(job: Job) -> TryOnInput:
    """What the workflow of an accepted job is started with, whoever starts it and however late.

    The deadline is the row's, set at acceptance and never moved: so long the client was told that a job can take, and
    it waits whether or not Temporal is there. A run that is started late has what is left of it.

    Raises:
        pydantic.ValidationError: No version of this code can start it.
    """
    return TryOnInput.model_validate(job.workflow_input).model_copy(update={"deadline_at": job.deadline_at})


def request_deadline(garments: Sequence[SentGarment], settings: JobSettings) -> timedelta:
    """How long a job that somebody waits for may take."""
    seconds = settings.single_deadline_seconds if len(garments) == 1 else settings.combo_deadline_seconds
    return timedelta(seconds=seconds)
