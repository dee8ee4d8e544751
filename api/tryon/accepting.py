"""Accepting a job: nothing is spent before everything has been checked, and then all of it at once.

Test keys get rehearsals: fixed product ids give every outcome on demand, without a model and without a bill; anything
else that a test key sends is a rehearsal that completes.
"""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import TypeAlias, cast

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from api.json_body import PictureReader, ignored_fields, parse_body
from api.parts import ApiParts
from api.tryon.schemas import ComboRequest, SingleRequest
from domain.access import idempotency
from domain.access.idempotency import Claim
from domain.access.keys import KeyOwner
from domain.errors import CATALOGUE, TryOnError
from domain.jobs import jobs
from domain.money import quota
from domain.money.plans import seconds_to_next_day
from domain.object_keys import input_key, job_prefix
from domain.tables import Job
from gateway.calls import TemporalAwayError
from imaging.decoder_pool import DecoderPool
from imaging.limits import ImageLimits
from intake.job import (
    Picture,
    SentGarment,
    inspect_pictures,
    new_job,
    request_deadline,
    resolve_products,
    workflow_input_of,
)
from runtime.object_store import ObjectStore, ObjectStoreUnavailableError
from workflows.contracts import BACK, FRONT, GarmentHints, ObjectRef, RehearsalScript, TryOnInput

log = structlog.get_logger(__name__)

SLOW_SECONDS = 15
"""What a try-on on a busy service takes."""

COMPLETED, SLOW, FAILED, REFUSED = "test_completed", "test_slow", "test_failed_", "test_refused_"
"""Fixed product ids; the last two go before a code."""

REFUSALS = ("volume_exhausted", "trial_ended", "daily_cap_reached", "rate_limited", "internal", "storage_unavailable")
"""Answers to a POST that a client cannot bring about by sending something wrong."""

RATE_LIMITED_SECONDS = 15


@cache
def rehearsal_product_ids() -> Mapping[str, str]:
    """Every fixed product id, with what it does."""
    ids = {
        COMPLETED: "The job completes.",
        SLOW: f"The job completes after {SLOW_SECONDS} seconds.",
    }
    for code, entry in CATALOGUE.items():
        if entry.status is None:
            ids[FAILED + code] = f"The job fails with `{code}`: “{entry.sentence}”"
    for code in REFUSALS:
        ids[REFUSED + code] = f"The POST is answered with {CATALOGUE[code].status} and `{code}`."
    return ids


def rehearsed_outcome(request: ReadRequest) -> str:
    """The first fixed product id of a request; that of a completion where it names none."""
    known = rehearsal_product_ids()
    return next((each.product_id for each in request.garments if each.product_id in known), None) or COMPLETED


def _script_of(outcome: str) -> RehearsalScript:
    if outcome == SLOW:
        return RehearsalScript(delay_seconds=SLOW_SECONDS)
    return RehearsalScript(error_code=outcome.removeprefix(FAILED) if outcome.startswith(FAILED) else None)


def refusal_in(outcome: str) -> TryOnError | None:
    """What the POST is answered with, if it is to be refused."""
    if not outcome.startswith(REFUSED):
        return None
    code = outcome.removeprefix(REFUSED)
    waits = {"daily_cap_reached": seconds_to_next_day(datetime.now(UTC)), "rate_limited": RATE_LIMITED_SECONDS}
    return TryOnError(code, retry_after=waits.get(code))


TryOnRequest: TypeAlias = SingleRequest | ComboRequest

PERSON = "customerPhotoBase64"


@dataclass(frozen=True)
class ReadRequest:
    """A request whose fields are right; its pictures have not been looked at yet."""

    person: Picture
    garments: list[SentGarment]
    ignored_fields: list[str]
    metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def pictures(self) -> list[Picture]:
        """Every inline picture, in the order of the request."""
        sides = [side for garment in self.garments for side in (garment.front, garment.back)]
        return [self.person, *(side for side in sides if isinstance(side, Picture))]


def read_request(
    body: bytes, model: type[TryOnRequest], limits: ImageLimits, *, products_only: bool = False
) -> ReadRequest:
    """Parse and judge every field; with ``products_only``, garments are registered ones, worn as they are registered.

    Raises:
        TryOnError: ``json_invalid``, ``field_invalid``, ``products_only``, ``malformed_data_uri``,
            ``garment_url_refused``.
    """
    request, inline = parse_body(body, model)
    if products_only:
        _require_products(request)
    values: dict[str, str | None] = {PERSON: request.customer_photo_base64}
    for prefix, garment in request.items:
        values |= {f"{prefix}{FRONT}": garment.garment_image_url, f"{prefix}{BACK}": garment.garment_back_image_url}
    found = PictureReader(limits, inline).pictures(values)
    garments = [
        SentGarment(
            garment.product_id,
            garment.category,
            GarmentHints.model_validate(garment, from_attributes=True),
            found[f"{prefix}{FRONT}"],
            found[f"{prefix}{BACK}"],
            prefix,
        )
        for prefix, garment in request.items
    ]
    ignored = ignored_fields(request) if isinstance(request, ComboRequest) else []
    ignored += [name for prefix, garment in request.items for name in ignored_fields(garment, prefix)]
    return ReadRequest(cast("Picture", found[PERSON]), garments, ignored, request.metadata or {})


def _require_products(request: TryOnRequest) -> None:
    """Visitors of a web page choose among the shop's garments: no picture and no text of theirs reaches an engine."""
    refused: dict[str, str] = {}
    for prefix, garment in request.items:
        own = {
            "garmentImageUrl": garment.garment_image_url,
            "garmentBackImageUrl": garment.garment_back_image_url,
            "category": garment.category,
            "garmentCategory": garment.garment_category,
        }
        refused |= {
            f"{prefix}{name}": "not with a publishable API key." for name, value in own.items() if value is not None
        }
        if garment.product_id is None:
            refused[f"{prefix}productId"] = "required with a publishable API key."
    if refused:
        raise TryOnError("products_only", fields=refused)


async def store_pictures(
    store: ObjectStore, pictures: Sequence[Picture], media_types: Mapping[str, str], key_of: Callable[[int], str]
) -> dict[str, ObjectRef]:
    """Store good pictures under keys that go by their numbers; the references, by field."""

    async def stored(number: int, picture: Picture) -> tuple[str, ObjectRef]:
        data, content_type, key = picture.data or b"", media_types[picture.field], key_of(number)
        ref = await asyncio.to_thread(ObjectRef.of, store.bucket, key, data, content_type)
        await store.put(key, data, content_type)
        return picture.field, ref

    return dict(await asyncio.gather(*(stored(number, picture) for number, picture in enumerate(pictures))))


@dataclass(frozen=True)
class Requester:
    """Who asks for a job.

    Attributes:
        api_key_id: By which key; none for the owner in the dashboard.
        test: Whether it is a rehearsal, which costs nothing.
        started_today: Try-ons that its key has started today (UTC), and ``key_cap`` how many it may; for a publishable
            key alone, which has a cap of its own.
    """

    account_id: uuid.UUID
    api_key_id: uuid.UUID | None = None
    test: bool = False
    started_today: int = 0
    key_cap: int | None = None

    @classmethod
    def by_key(cls, owner: KeyOwner) -> Requester:
        """The caller of the API."""
        started = owner.key.started_today(datetime.now(UTC))
        return cls(owner.account_id, owner.key_id, owner.test, started, owner.key.daily_cap)


@dataclass(frozen=True)
class AcceptedJob:
    """A job that will be done.

    Attributes:
        started: Whether Temporal has it; the relay hands it over otherwise.
        replayed: Whether it was accepted by an earlier request under the same `Idempotency-Key`.
    """

    job_id: uuid.UUID
    started: bool = False
    replayed: bool = False


@dataclass(frozen=True)
class RequestKey:
    """What tells a repeated request from a new one.

    Attributes:
        text: The client's `Idempotency-Key`; of a publishable key, whose users are strangers to the shop's own servers,
            something that only the same text with the same key gives.
        fingerprint: 64 hexadecimal digits over path and body, and whether a live or a test key sent them.
    """

    text: str
    fingerprint: str

    @classmethod
    def read(cls, header: str | None, owner: KeyOwner, path: str, body: bytes) -> RequestKey | None:
        """From the header, with or without the quotes that structured fields put around a string.

        Raises:
            TryOnError: ``idempotency_key_invalid``.
        """
        if header is None:
            return None
        text = header.strip()
        if len(text) >= 2 and text[0] == text[-1] == '"':
            text = text[1:-1]
        if not 1 <= len(text) <= idempotency.LONGEST_KEY or not (text.isascii() and text.isprintable()):
            raise TryOnError("idempotency_key_invalid")
        if owner.publishable:
            text = f"pub:{hashlib.sha256(f'{owner.key_id} {text}'.encode()).hexdigest()}"
        digest = hashlib.sha256(f"{owner.key.mode} {path}\n".encode())
        digest.update(body)
        return cls(text, digest.hexdigest())


class JobAcceptor:
    """The way of one POST from its fields to its job."""

    def __init__(self, parts: ApiParts, decoders: DecoderPool) -> None:
        self._parts = parts
        self._decoders = decoders

    async def accept(self, requester: Requester, request: ReadRequest, key: RequestKey | None) -> AcceptedJob:
        """Check what is left to check, store the inputs, write job and reservation, start the workflow.

        The job is accepted once the transaction is through; Temporal may be away, the relay starts it then.

        Raises:
            TryOnError: Nothing was accepted and nothing spent.
            ObjectStoreUnavailableError: Likewise.
            SQLAlchemyError: Whether the job was accepted may not be known; the same request under its
                `Idempotency-Key` finds it then.
        """
        if key is None:
            return await self._accept(requester, request, None)
        claim = await self._parts.database.write(
            idempotency.claim_key,
            account_id=requester.account_id,
            key=key.text,
            fingerprint=key.fingerprint,
            now=datetime.now(UTC),
        )
        if isinstance(claim, uuid.UUID):
            return AcceptedJob(claim, replayed=True)
        try:
            return await self._accept(requester, request, claim)
        except BaseException:
            await self._give_up(claim)
            raise

    async def note_started(self, accepted: AcceptedJob) -> None:
        """Take a started job out of the outbox. May come after the answer: starting a job again does nothing."""
        if accepted.started:
            await self._parts.database.write(jobs.mark_started, job_id=accepted.job_id)

    async def _accept(self, requester: Requester, request: ReadRequest, claim: Claim | None) -> AcceptedJob:
        outcome = rehearsed_outcome(request) if requester.test else None
        stand_ins = rehearsal_product_ids() if requester.test else ()
        garments = await self._parts.database.read(
            resolve_products, requester.account_id, request.garments, stand_ins=stand_ins
        )
        media_types = await inspect_pictures(request.pictures, self._parts.limits, self._decoders, requester.account_id)
        if outcome is None:
            # Refuse what could not be paid for before pictures are uploaded; the transaction decides.
            await self._parts.database.read(
                quota.check, self._parts.plans, account_id=requester.account_id, now=datetime.now(UTC)
            )
        elif (refusal := refusal_in(outcome)) is not None:
            raise refusal
        if requester.key_cap is not None and requester.started_today >= requester.key_cap:
            raise jobs.key_cap_reached(datetime.now(UTC))
        job_id = uuid.uuid4()
        refused = True
        try:
            uploads = await store_pictures(
                self._parts.store, request.pictures, media_types, lambda number: input_key(str(job_id), str(number))
            )
            drawing_seconds = 0.0 if outcome else await self._parts.drawing_times.seconds_for(len(garments))
            new = new_job(
                job_id=job_id,
                account_id=requester.account_id,
                api_key_id=requester.api_key_id,
                person=uploads[request.person.field],
                garments=garments,
                uploads=uploads,
                deadline=request_deadline(garments, self._parts.settings.jobs, drawing_seconds),
                drawing_seconds=drawing_seconds,
                rehearsal=None if outcome is None else _script_of(outcome),
                claim=claim,
                publishable=requester.key_cap is not None,
                metadata=request.metadata,
            )

            def accept(session: Session) -> Job:
                nonlocal refused
                job = jobs.accept_job(session, self._parts.plans, new, now=datetime.now(UTC))
                # What is raised from here on comes from the COMMIT, and does not say whether it took effect. If it
                # did, a job needs its inputs; if not, they belong to an unknown job, and the purge deletes them.
                refused = False
                return job

            job = await self._parts.database.write(accept)
        except BaseException:
            if refused:
                await self._forget_inputs(job_id)
            raise
        return AcceptedJob(job_id, started=await self._start(workflow_input_of(job)))

    async def _forget_inputs(self, job_id: uuid.UUID) -> None:
        try:
            await self._parts.store.delete_prefix(job_prefix(str(job_id)))
        except ObjectStoreUnavailableError:
            log.warning("inputs of a refused job are left to the purge", job_id=str(job_id))

    async def _give_up(self, claim: Claim) -> None:
        try:
            await self._parts.database.write(idempotency.give_up_claim, claim)
        except (SQLAlchemyError, OSError):
            log.warning("the key of a refused request stays claimed for a minute", account_id=str(claim.account_id))

    async def _start(self, job_input: TryOnInput) -> bool:
        try:
            await self._parts.temporal.start_tryon(job_input)
        except TemporalAwayError as error:
            log.warning("start is left to the relay", job_id=job_input.job_id, reason=str(error)[:200])
            return False
        return True
