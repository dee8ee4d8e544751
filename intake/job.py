"""A job put together: its pictures and garments, what its workflow is started with, and what its row says.

A value of the caller replaces that one field of a registered garment for this job only; null, like a field that is not
sent, replaces nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TypeAlias, cast

from sqlalchemy.orm import Session

from domain.access.idempotency import Claim
from domain.errors import CATALOGUE, TryOnError
from domain.jobs.jobs import NewJob
from domain.products import find_for_tryon, public_id
from domain.tables import Job
from engines.hints import ProductHints
from imaging.decoder_pool import DecoderPool
from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import ImageLimits
from runtime.settings import JobSettings
from workflows.contracts import (
    Category,
    GarmentHints,
    GarmentSource,
    ObjectRef,
    ProductRef,
    RehearsalScript,
    TryOnInput,
)
from workflows.queues import INTERACTIVE_PRIORITY

DRAWINGS_IN_TIME = 4
"""As many times the drawing of its picture a job may take: another job may hold the device first, a second try may be
needed, and a worker may be lost on the way."""

LONGEST_DEADLINE = timedelta(days=1)


@dataclass(frozen=True)
class Picture:
    """A picture that was sent in a field; its data is ``None`` if it is larger than a picture may be."""

    field: str
    data: bytes | None


async def inspect_pictures(
    pictures: Sequence[Picture], limits: ImageLimits, decoders: DecoderPool, holder: Hashable
) -> dict[str, str]:
    """The media types of good pictures, by field, looked into one by one within the holder's share of the decoders.

    Raises:
        TryOnError: One of the ``image_…`` codes; it names every picture that has to be refused. ``busy`` where it is
            not known that a picture is to blame.
    """
    media_types, refused = {}, []
    for picture in pictures:
        try:
            if picture.data is None:
                raise ImageError(ImageErrorCode.TOO_LARGE, "judged by its length")
            media_types[picture.field] = await decoders.inspect(holder, picture.data, limits)
        except ImageError as error:
            if error.retryable:
                raise TryOnError("busy") from error
            refused.append(naming(picture.field, error))
    if refused:
        raise TryOnError.naming_all(refused)
    return media_types


def naming(field: str, error: ImageError) -> TryOnError:
    """The refusal of a picture, with the field that held it."""
    return TryOnError(error.code, fields={field: CATALOGUE[error.code].sentence})


NO_METADATA: Mapping[str, str] = {}

Side: TypeAlias = Picture | str | ObjectRef
"""A picture that was sent and is not stored yet, an address, or a stored picture."""

STAND_IN_CATEGORY: Category = "upper_body"  # for a product id that stands for an outcome: no garment is drawn


@dataclass(frozen=True)
class SentGarment:
    """A garment as the caller describes it, later with the gaps filled from its product.

    Attributes:
        product_id: A registered garment that fills every gap, by its id or by the caller's own name.
        front: Its picture. Likewise ``back``, if it has one.
        prefix: Precedes the names of its fields in error messages.
        product: The registered garment and its revision, once it was looked up.
    """

    product_id: str | None
    category: Category | None
    hints: GarmentHints
    front: Side | None
    back: Side | None
    prefix: str = ""
    product: ProductRef | None = None

    def source(self, index: int, uploads: Mapping[str, ObjectRef]) -> GarmentSource:
        """The garment in the workflow's input; ``uploads`` are the stored pictures that were sent, by field."""

        def stored(side: Side | None) -> ObjectRef | None:
            return uploads[side.field] if isinstance(side, Picture) else side if isinstance(side, ObjectRef) else None

        return GarmentSource(
            index=index,
            category=self.category or STAND_IN_CATEGORY,
            hints=self.hints,
            picture=stored(self.front),
            picture_url=self.front if isinstance(self.front, str) else None,
            back_picture=stored(self.back),
            back_picture_url=self.back if isinstance(self.back, str) else None,
            product=self.product,
        )


def resolve_products(
    session: Session, account_id: uuid.UUID, garments: Sequence[SentGarment], *, stand_ins: Collection[str] = ()
) -> list[SentGarment]:
    """Look up the products that garments name, in a transaction that only reads, and fill the gaps from them.

    Product ids among the ``stand_ins`` stand for an outcome and not for a garment; they are not looked up.

    Raises:
        TryOnError: ``product_not_found``, for one that is unknown, archived or another account's.
    """
    resolved = []
    for garment in garments:
        name, whole = garment.product_id, garment
        if name is not None and name not in stand_ins:
            product = find_for_tryon(session, account_id=account_id, product_id_text=name)
            if product is None:
                sentence = CATALOGUE["product_not_found"].sentence
                raise TryOnError("product_not_found", fields={f"{garment.prefix}productId": sentence})
            known = {hint: getattr(product, hint) for hint in ProductHints.model_fields}
            gaps = {hint: value for hint, value in known.items() if getattr(garment.hints, hint) is None}
            whole = replace(
                garment,
                category=garment.category or cast("Category", product.category),
                hints=garment.hints.model_copy(update=gaps),
                front=garment.front or ObjectRef.model_validate(product.front),
                back=garment.back or (ObjectRef.model_validate(product.back) if product.back else None),
                product=ProductRef(id=public_id(product.id), revision=product.revision),
            )
        resolved.append(whole)
    return resolved


def new_job(
    *,
    job_id: uuid.UUID,
    account_id: uuid.UUID,
    api_key_id: uuid.UUID | None,
    person: ObjectRef,
    garments: Sequence[SentGarment],
    uploads: Mapping[str, ObjectRef],
    deadline: timedelta,
    drawing_seconds: float = 0.0,
    priority: int = INTERACTIVE_PRIORITY,
    rehearsal: RehearsalScript | None = None,
    claim: Claim | None = None,
    relayed: bool = True,
    publishable: bool = False,
    metadata: Mapping[str, str] = NO_METADATA,
    engine: str | None = None,
) -> NewJob:
    """A job that can be accepted; see also `NewJob`.

    The garments are resolved, see `resolve_products`, and ``uploads`` are the stored pictures that were sent, by the
    names of their fields. A rehearsal is only for a test key's job, which costs nothing. `intake.pace.DrawingTimes`
    knows how long drawing takes.
    """
    workflow_input = TryOnInput(
        job_id=str(job_id),
        account_id=str(account_id),
        kind="single" if len(garments) == 1 else "combo",
        person=person,
        garments=[garment.source(index, uploads) for index, garment in enumerate(garments)],
        seed=job_id.int % 2**31,
        engine=engine,
        deadline_seconds=round(deadline.total_seconds()),
        drawing_seconds=drawing_seconds,
        priority=priority,
        rehearsal=rehearsal,
        run_version=2,
    )
    return NewJob(
        job_id=job_id,
        account_id=account_id,
        api_key_id=api_key_id,
        kind=workflow_input.kind,
        test=rehearsal is not None,
        workflow_input=workflow_input.model_dump(mode="json"),
        products=[
            {"index": index, "id": garment.product.id, "revision": garment.product.revision}
            for index, garment in enumerate(garments)
            if garment.product is not None
        ],
        deadline=deadline,
        claim=claim,
        relayed=relayed,
        publishable=publishable,
        metadata=metadata,
    )


def workflow_input_of(job: Job) -> TryOnInput:
    """The input of an accepted job's workflow, even if it is started late.

    The deadline is the row's, set at acceptance and never moved: the client waits for that long whether or not Temporal
    is there. A run that is started late has the rest of it.

    Raises:
        pydantic.ValidationError: No version of this code can start it.
    """
    return TryOnInput.model_validate(job.workflow_input).model_copy(update={"deadline_at": job.deadline_at})


def request_deadline(garments: Sequence[SentGarment], settings: JobSettings, drawing_seconds: float) -> timedelta:
    """How long a job of the API may take: as the settings say, or as long as a slow machine needs."""
    seconds = settings.single_deadline_seconds if len(garments) == 1 else settings.combo_deadline_seconds
    return lengthened(timedelta(seconds=seconds), drawing_seconds)


def lengthened(deadline: timedelta, drawing_seconds: float) -> timedelta:
    """A deadline, or a longer one where drawing takes so long that the job could not be done by then."""
    return max(deadline, min(timedelta(seconds=DRAWINGS_IN_TIME * drawing_seconds), LONGEST_DEADLINE))
