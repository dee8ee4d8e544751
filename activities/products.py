"""The steps of a product's registration, and the sweep that follows once a day. Each may run any number of times."""

from __future__ import annotations

import asyncio
import itertools
import random
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import ValidationError
from sqlalchemy.orm import Session
from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities.device import heartbeats
from activities.failures import count_refused_picture, expected_failures, failure
from activities.garments import garment_png
from activities.objects import get_object, put_object
from domain.errors import TryOnError, known_code
from domain.jobs import jobs
from domain.object_keys import (
    PRODUCTS,
    account_of_product_key,
    catalogue_prefix,
    product_picture_key,
    registration_of_key,
    registration_prefix,
)
from domain.products import products
from domain.products.products import began_at, product_id_of
from imaging.decoder_pool import DecoderPool
from imaging.errors import ImageError
from imaging.limits import ImageLimits
from imaging.remote import RemoteImageFetcher
from runtime.database import Database
from runtime.object_store import PAGE, ObjectStore
from workflows import steps
from workflows.contracts import ObjectRef, SweepInput, SweepReport, TryOnInput
from workflows.products.contracts import (
    CleanUpRegistrationInput,
    CopiedPictures,
    CopyPicturesInput,
    PictureSource,
    SavedProduct,
    SaveProductInput,
)

YOUNG = timedelta(days=1)
"""Pictures that were copied more recently stay: their product's row may not have been saved yet."""

ACCEPTANCE_SECONDS = 120.0
"""How long the sweep waits between its two looks at what is in use. A job that is being accepted has looked at its
product and has no row of its own yet; that takes seconds, and two minutes are ample. Nothing enforces it: of a
job whose acceptance takes longer, while its product gets another picture, the old picture may be deleted."""


class ProductActivities:
    """Steps that deal with registered garments."""

    def __init__(
        self,
        database: Database,
        store: ObjectStore,
        fetcher: RemoteImageFetcher,
        limits: ImageLimits,
        *,
        decoders: DecoderPool,
        acceptance_seconds: float = ACCEPTANCE_SECONDS,
    ) -> None:
        self._database = database
        self._store = store
        self._fetcher = fetcher
        self._limits = limits
        self._decoders = decoders
        self._acceptance_seconds = acceptance_seconds

    @activity.defn(name=steps.COPY_PRODUCT_PICTURES.name)
    async def copy_product_pictures(self, request: CopyPicturesInput) -> CopiedPictures:
        """Download where needed, decode, turn upright, shrink, and store; nothing is stored if one is refused."""
        with expected_failures():
            async with heartbeats():
                front, back = await asyncio.gather(self._normalised(request.front), self._normalised(request.back))
                return CopiedPictures(
                    front=await self._stored(request, "front", front), back=await self._stored(request, "back", back)
                )

    @activity.defn(name=steps.SAVE_PRODUCT.name)
    async def save_product(self, request: SaveProductInput) -> SavedProduct:
        """Add or change the row. Done again it changes nothing, and tells the same."""
        account_id, values = uuid.UUID(request.account_id), _values(request)
        try:
            if request.product_id is None:
                new_id = product_id_of(request.registration_id)
                saved = await self._database.write(
                    products.register_product, account_id=account_id, new_id=new_id, values=values
                )
            else:
                product_id = products.parse_public_id(request.product_id)
                if product_id is None:
                    raise TryOnError("product_not_found")
                saved = await self._database.write(
                    products.change_product, account_id=account_id, product_id=product_id, values=values
                )
        except TryOnError as error:
            raise failure(known_code(error.code), error.sentence) from error
        pictures = (saved.product.front, saved.product.back)
        return SavedProduct(
            product_id=products.public_id(saved.product.id),
            revision=saved.product.revision,
            created=saved.created,
            changed=saved.changed,
            picture_keys=[picture["key"] for picture in pictures if picture is not None],
        )

    @activity.defn(name=steps.CLEAN_UP_REGISTRATION.name)
    async def clean_up_registration(self, request: CleanUpRegistrationInput) -> SweepReport:
        """Delete uploads, and copies that the product did not need because it had the same picture already."""
        prefix = registration_prefix(request.account_id, request.registration_id)
        deleted = 0
        for key in await self._store.list_keys(prefix):
            if key not in request.keep:
                deleted += await self._store.delete_prefix(key)
        return SweepReport(deleted=deleted)

    @activity.defn(name=steps.SWEEP_PRODUCT_PICTURES.name)
    async def sweep_product_pictures(self, request: SweepInput) -> SweepReport:
        """Delete what no product and no job in progress refers to: superseded pictures, and what a crash left.

        The first try finds them and fails, to be tried again after a while, and holds no worker until then; the second
        looks again, for a job that has looked at a product and had no row yet.

        Raises:
            ApplicationError: There is something to look at again.
        """
        found: list[str] = next(iter(activity.info().heartbeat_details), [])
        async with heartbeats():
            if found:
                return await self._delete_unused(found)
            found = await self._unused(request.limit)
        if found:
            activity.heartbeat(found)
            raise ApplicationError(
                "found, to be looked at again",
                type="in_progress",
                next_retry_delay=timedelta(seconds=self._acceptance_seconds),
                category=ApplicationErrorCategory.BENIGN,
            )
        return SweepReport()

    async def _unused(self, limit: int) -> list[str]:
        """Keys of pictures that nothing refers to, of as many accounts as it takes."""
        before, found = datetime.now(UTC) - YOUNG, list[str]()
        accounts = await self._store.list_folders(PRODUCTS)
        random.shuffle(accounts)  # so that the same ones are not last every day
        for account in accounts:
            used, after = await self._keys_in_use(account), ""
            while page := await self._store.list_page(catalogue_prefix(account), after=after):
                after = page[-1].key
                found += [each.key for each in page if _older(each.key, before) and each.key not in used]
                if len(found) >= limit:
                    return found[:limit]
        return found

    async def _delete_unused(self, keys: list[str]) -> SweepReport:
        unused = []
        for account, own in itertools.groupby(keys, account_of_product_key):
            used = await self._keys_in_use(account)
            unused += [key for key in own if key not in used]
        for start in range(0, len(unused), PAGE):
            await self._store.delete_keys(unused[start : start + PAGE])
        return SweepReport(deleted=len(unused))

    async def _keys_in_use(self, account: str) -> set[str]:
        """What an account's products and jobs in progress refer to."""
        try:
            account_id = uuid.UUID(account)
        except ValueError:
            return set()

        def used(session: Session) -> set[str]:
            keys = products.list_picture_keys(session, account_id=account_id)
            return keys.union(*map(_pictures_of, jobs.open_inputs(session, account_id=account_id)))

        return await self._database.read(used)

    async def _normalised(self, source: PictureSource | None) -> bytes | None:
        if source is None:
            return None
        try:
            if source.stored is not None:
                data = await get_object(self._store, source.stored)
            elif source.url is not None:
                data = await self._fetcher.fetch(source.url)
            else:
                raise ValueError("a picture needs to be stored, or to have an address")
            return await garment_png(data, self._limits, self._decoders, remote=source.stored is None)
        except ImageError as error:
            count_refused_picture(error)
            raise failure(known_code(error.code), str(error), retryable=error.retryable, about=source.field) from error

    async def _stored(self, request: CopyPicturesInput, side: str, png: bytes | None) -> ObjectRef | None:
        if png is None:
            return None
        key = product_picture_key(request.account_id, request.registration_id, side)
        return await put_object(self._store, key, png, "image/png")


def _values(request: SaveProductInput) -> dict[str, Any]:
    """Column names to what they become."""
    pictures = {"front": request.pictures.front, "back": request.pictures.back}
    return {
        **dict.fromkeys(request.clear),
        **{name: value for name, value in request.fields if value is not None},
        **{side: ref.model_dump(mode="json") for side, ref in pictures.items() if ref is not None},
    }


def _older(key: str, than: datetime) -> bool:
    """Whether the registration that wrote this began before; one that nobody knows is left alone."""
    began = began_at(registration_of_key(key))
    return began is not None and began < than


def _pictures_of(workflow_input: dict[str, Any]) -> set[str]:
    """Keys of the garments' pictures that a job was accepted with."""
    try:
        garments = TryOnInput.model_validate(workflow_input).garments
    except ValidationError:
        return set()  # no version of this code can run it
    sides = (side for garment in garments for side in (garment.picture, garment.back_picture))
    return {side.key for side in sides if side is not None}
