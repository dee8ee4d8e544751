"""Accepting a job and telling how it stands."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import structlog
from temporalio.service import RPCError

from api.parts import ApiParts
from api.tryon.reading import GarmentPictures, Picture, ReadRequest
from domain import jobs
from domain.errors import TryOnError, sentence_of
from domain.keys import KeyOwner
from domain.object_keys import input_key, job_prefix
from domain.tables import Job
from imaging.inspect import ImageFacts
from runtime.object_store import ObjectMissingError, ObjectStoreUnavailableError
from workflows.contracts import GarmentHints, GarmentSource, ObjectRef, TryOnInput
from workflows.liveness import end_of_run
from workflows.start import start_tryon

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class JobState:
    """What a poll tells.

    Attributes:
        status: ``processing``, ``completed`` or ``failed``.
        picture: The result's JPEG, when completed.
        generation_ms: From acceptance to completion, when completed.
        error: A sentence for an end user, when failed.
    """

    status: str
    picture: bytes = b""
    generation_ms: int = 0
    error: str = ""


@dataclass(frozen=True)
class AcceptedJob:
    """A job that will be done.

    Attributes:
        started: Whether Temporal has it; the relay hands it over otherwise.
    """

    job_id: uuid.UUID
    started: bool


class TryOnService:
    """The rules between the router and the parts."""

    def __init__(self, parts: ApiParts) -> None:
        self._parts = parts

    async def accept(self, owner: KeyOwner, request: ReadRequest, facts: dict[str, ImageFacts]) -> AcceptedJob:
        """Store the inputs, write job and reservation, start the workflow.

        The job is accepted once the transaction is through; Temporal may be away, the relay starts it then.

        Raises:
            ObjectStoreUnavailableError: Nothing was accepted.
        """
        job_id = uuid.uuid4()
        kind = "single" if len(request.garments) == 1 else "combo"
        deadline = timedelta(
            seconds=self._parts.settings.jobs.single_deadline_seconds
            if kind == "single"
            else self._parts.settings.jobs.combo_deadline_seconds
        )
        try:
            refs = await self._store_inputs(job_id, request.pictures, facts)
            job_input = TryOnInput(
                job_id=str(job_id),
                account_id=str(owner.account_id),
                kind=kind,
                person=refs[request.person.field],
                garments=[_garment_source(index, garment, refs) for index, garment in enumerate(request.garments)],
                seed=job_id.int % 2**31,
                deadline_seconds=int(deadline.total_seconds()),
            )
            async with self._parts.database.transaction() as session:
                await jobs.accept_job(
                    session,
                    job_id=job_id,
                    account_id=owner.account_id,
                    api_key_id=owner.key_id,
                    kind=kind,
                    workflow_input=job_input.model_dump(mode="json"),
                    deadline=deadline,
                )
        except BaseException:
            await self._forget_inputs(job_id)
            raise
        return AcceptedJob(job_id, started=await self._start(job_input))

    async def state(self, owner: KeyOwner, job_id: str) -> JobState:
        """How a job stands.

        Raises:
            TryOnError: ``job_not_found`` for one that is unknown, malformed, expired or another account's.
            ObjectStoreUnavailableError: The picture cannot be read just now.
        """
        try:
            identifier = uuid.UUID(job_id)
        except ValueError:
            raise TryOnError("job_not_found") from None
        job = await self._find(owner, identifier)
        if job.status == jobs.PROCESSING and await self._release_if_dead(job):
            job = await self._find(owner, identifier)
        if job.expires_at is not None and job.expires_at <= datetime.now(UTC):
            raise TryOnError("job_not_found")
        if job.status == jobs.PROCESSING:
            return JobState(job.status)
        if job.status == jobs.FAILED:
            return JobState(job.status, error=sentence_of(job.error_code or ""))
        if job.result_key is None or job.generation_ms is None:
            raise TryOnError("job_not_found")
        try:
            picture = await self._parts.store.get(job.result_key)
        except ObjectMissingError:
            raise TryOnError("job_not_found") from None
        return JobState(job.status, picture=picture, generation_ms=job.generation_ms)

    async def _store_inputs(
        self, job_id: uuid.UUID, pictures: list[Picture], facts: dict[str, ImageFacts]
    ) -> dict[str, ObjectRef]:
        async def store(position: int, picture: Picture) -> tuple[str, ObjectRef]:
            data, content_type = picture.data or b"", facts[picture.field].content_type
            key = input_key(str(job_id), str(position))
            ref = await asyncio.to_thread(ObjectRef.of, self._parts.store.bucket, key, data, content_type)
            await self._parts.store.put(key, data, content_type)
            return picture.field, ref

        return dict(await asyncio.gather(*(store(position, picture) for position, picture in enumerate(pictures))))

    async def _forget_inputs(self, job_id: uuid.UUID) -> None:
        try:
            await self._parts.store.delete_prefix(job_prefix(str(job_id)))
        except ObjectStoreUnavailableError:
            log.warning("inputs of a refused job are left behind", job_id=str(job_id))

    async def note_started(self, accepted: AcceptedJob) -> None:
        """Take a started job out of the outbox. May come after the answer: starting a job again does nothing."""
        if accepted.started:
            async with self._parts.database.transaction() as session:
                await jobs.mark_started(session, job_id=accepted.job_id)

    async def _start(self, job_input: TryOnInput) -> bool:
        timeout = self._parts.settings.temporal.start_timeout_seconds
        try:
            await asyncio.wait_for(start_tryon(self._parts.temporal, job_input), timeout)
        except (TimeoutError, RPCError, RuntimeError) as error:
            log.warning("start is left to the relay", job_id=job_input.job_id, reason=str(error)[:200])
            return False
        return True

    async def _find(self, owner: KeyOwner, job_id: uuid.UUID) -> Job:
        async with self._parts.database.reading() as session:
            job = await jobs.find_job(session, job_id=job_id, account_id=owner.account_id)
        if job is None:
            raise TryOnError("job_not_found")
        return job

    async def _release_if_dead(self, job: Job) -> bool:
        """Whether the job may stand differently now: its run was found closed."""
        if job.started_at is None:
            return False
        timeout = self._parts.settings.temporal.describe_timeout_seconds
        try:
            code = await asyncio.wait_for(end_of_run(self._parts.temporal, str(job.id)), timeout)
        except (TimeoutError, RPCError, RuntimeError):
            return False
        if code is None:
            return False
        async with self._parts.database.transaction() as session:
            keep = timedelta(seconds=self._parts.settings.jobs.result_ttl_seconds)
            released = await jobs.fail_job(session, job_id=job.id, error_code=code, keep=keep)
        if released:
            await self._forget_inputs(job.id)
        return True


def _garment_source(index: int, garment: GarmentPictures, refs: dict[str, ObjectRef]) -> GarmentSource:
    fields = garment.fields
    if fields.category is None:
        raise TryOnError("product_not_found")
    return GarmentSource(
        index=index,
        category=fields.category,
        hints=GarmentHints(
            garment_category=fields.garment_category,
            size=fields.size,
            customer_size=fields.customer_size,
            garment_state=fields.garment_state,
            tuck_state=fields.tuck_state,
            view_angle=fields.view_angle,
        ),
        picture=refs[garment.front.field] if isinstance(garment.front, Picture) else None,
        picture_url=garment.front if isinstance(garment.front, str) else None,
        back_picture=refs[garment.back.field] if isinstance(garment.back, Picture) else None,
        back_picture_url=garment.back if isinstance(garment.back, str) else None,
    )
