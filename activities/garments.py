"""Garments: those of a job brought to what an engine can use, and those that are registered, one by one or in files.

Each step may run any number of times.
"""

from __future__ import annotations

import asyncio
import itertools
import random
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import ValidationError
from sqlalchemy.orm import Session
from temporalio import activity
from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from activities.device import heartbeats
from activities.failures import count_refused_picture, expected_failures, failure, is_tried_again, together
from activities.objects import add_outcomes, get_object, holder, put_object
from domain import accounts, products
from domain import object_keys as keys
from domain.errors import TryOnError, known_code
from domain.jobs import jobs
from imaging.decoder_pool import DecoderPool
from imaging.encode import encode_png
from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import ImageLimits
from imaging.remote import RemoteImageFetcher
from intake.pages import PAGE_ROWS, read_page
from runtime.database import Database
from runtime.object_store import PAGE, ObjectMissingError, ObjectStore
from workflows import steps
from workflows.contracts import FetchedGarment, FetchGarmentInput, ObjectRef, SweepInput, SweepReport, TryOnInput
from workflows.products import contracts
from workflows.products.contracts import ImportRow, PictureSource, RowOutcome, SaveProductInput, StartedRow

WORKING_SIDE = 1536
"""Longer side in pixels of a garment handed to an engine; more detail than that is lost on the body."""

YOUNG = timedelta(days=1)
"""Pictures that were copied more recently stay: their product's row may not have been saved yet."""

ACCEPTANCE_SECONDS = 120.0
"""How long the sweep waits between its two looks at what is in use. A job that is being accepted has looked at its
product and has no row of its own yet; that takes seconds, and two minutes are ample. Nothing enforces it: of a
job whose acceptance takes longer, while its product gets another picture, the old picture may be deleted."""


@dataclass
class GarmentActivities:
    """The steps."""

    database: Database
    store: ObjectStore
    fetcher: RemoteImageFetcher
    limits: ImageLimits
    decoders: DecoderPool
    acceptance_seconds: float = ACCEPTANCE_SECONDS

    @activity.defn(name=steps.FETCH_GARMENT.name)
    async def fetch_garment(self, request: FetchGarmentInput) -> FetchedGarment:
        """Download where needed, decode, turn upright and shrink."""
        garment = request.garment

        async def side(which: str, stored: ObjectRef | None, url: str | None) -> ObjectRef | None:
            if stored is not None and keys.is_product_picture(stored.key):
                return stored  # normalised when it was registered
            png = await self._png(stored, url, request.longest_download_seconds)
            name = f"garment-{garment.index}-{which}.png"
            key = keys.work_key(request.job_id, name) if request.folder is None else f"{request.folder}{name}"
            return None if png is None else await put_object(self.store, key, png, "image/png")

        with expected_failures():
            async with heartbeats():
                front, back = await together(
                    side("front", garment.picture, garment.picture_url),
                    side("back", garment.back_picture, garment.back_picture_url),
                )
        if front is None:
            raise ValueError("a garment needs a picture or an address")
        return FetchedGarment(
            index=garment.index, category=garment.category, hints=garment.hints, picture=front, back_picture=back
        )

    @activity.defn(name=steps.COPY_PRODUCT_PICTURES.name)
    async def copy_product_pictures(self, request: contracts.CopyPicturesInput) -> contracts.CopiedPictures:
        """Download where needed, decode, turn upright, shrink, and store; nothing is stored if one is refused."""
        stored: dict[str, ObjectRef] = {}
        with expected_failures():
            async with heartbeats():
                pictures = await together(self._normalised(request.front), self._normalised(request.back))
                for side, png in zip(("front", "back"), pictures, strict=True):
                    if png is not None:
                        key = keys.product_picture_key(request.account_id, request.registration_id, side)
                        stored[side] = await put_object(self.store, key, png, "image/png")
        return contracts.CopiedPictures(front=stored.get("front"), back=stored.get("back"))

    @activity.defn(name=steps.SAVE_PRODUCT.name)
    async def save_product(self, request: SaveProductInput) -> contracts.SavedProduct:
        """Add or change the row. Done again it changes nothing, and tells the same."""
        account_id, values = uuid.UUID(request.account_id), _values(request)
        try:
            if request.product_id is None:
                new_id = products.product_id_of(request.registration_id)
                saved = await self.database.write(
                    products.register_product, account_id=account_id, new_id=new_id, values=values
                )
            else:
                product_id = products.parse_public_id(request.product_id)
                if product_id is None:
                    raise TryOnError("product_not_found")
                saved = await self.database.write(
                    products.change_product, account_id=account_id, product_id=product_id, values=values
                )
        except TryOnError as error:
            raise failure(known_code(error.code), error.sentence) from error
        pictures = (saved.product.front, saved.product.back)
        return contracts.SavedProduct(
            product_id=products.public_id(saved.product.id),
            revision=saved.product.revision,
            created=saved.created,
            changed=saved.changed,
            picture_keys=[picture["key"] for picture in pictures if picture is not None],
        )

    @activity.defn(name=steps.CLEAN_UP_REGISTRATION.name)
    async def clean_up_registration(self, request: contracts.CleanUpRegistrationInput) -> SweepReport:
        """Delete uploads, and copies that the product did not need because it had the same picture already."""
        stored = await self.store.list_keys(keys.registration_prefix(request.account_id, request.registration_id))
        kept = set(request.keep)
        if stored and not kept:  # it failed, but a run of it before this one may have saved the product
            kept = await self._keys_in_use(request.account_id)
        unused = [key for key in stored if key not in kept]
        await self.store.delete_keys(unused)
        return SweepReport(deleted=len(unused))

    @activity.defn(name=steps.TAKE_UP_ROWS.name)
    async def take_up_rows(self, request: contracts.TakeUpRowsInput) -> contracts.TakenUpRows:
        """Read the next rows; none of an account that is blocked or erased, or whose file is gone."""
        account = await self.database.read(accounts.find_account, account_id=uuid.UUID(request.account_id))
        if not accounts.is_there(account) or account.blocked_at is not None:
            return contracts.TakenUpRows(stopped=True)
        number, first = divmod(request.first, PAGE_ROWS)
        try:
            page = await self.store.get(keys.import_page_key(request.account_id, request.import_id, "rows", number))
        except ObjectMissingError:
            return contracts.TakenUpRows(stopped=True)
        rows = read_page(b"\n".join(page.splitlines()[first:][: contracts.ROWS_AT_ONCE]), ImportRow)
        started = [StartedRow(registration_id=products.new_registration_id(), row=row) for row in rows]
        return contracts.TakenUpRows(rows=started)

    @activity.defn(name=steps.RECORD_ROWS.name)
    async def record_rows(self, request: contracts.RecordRowsInput) -> contracts.RecordedRows:
        """Add outcomes to their page, unless the account is being erased: nothing may be written behind that."""
        account = await self.database.read(accounts.find_account, account_id=uuid.UUID(request.account_id))
        if not accounts.is_there(account):
            return contracts.RecordedRows()
        page = keys.import_page_key(request.account_id, request.import_id, "outcomes", request.first // PAGE_ROWS)
        await add_outcomes(self.store, page, request.outcomes, RowOutcome)
        return contracts.RecordedRows(written=len(request.outcomes))

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
                deleted = await self._delete_unused(found)
                return SweepReport(deleted=deleted, more=len(found) >= request.limit)
            found = await self._unused(request.limit)
        if found:
            activity.heartbeat(found)
            raise ApplicationError(
                "found, to be looked at again",
                type="in_progress",
                next_retry_delay=timedelta(seconds=self.acceptance_seconds),
                category=ApplicationErrorCategory.BENIGN,
            )
        return SweepReport()

    async def _unused(self, limit: int) -> list[str]:
        """Keys of pictures that nothing refers to, of as many accounts as it takes."""
        before, found = datetime.now(UTC) - YOUNG, list[str]()
        owners = await self.store.list_folders(keys.PRODUCTS)
        random.shuffle(owners)  # so that the same ones are not last every day
        for owner in owners:
            used, after = await self._keys_in_use(owner), ""
            while page := await self.store.list_page(keys.catalogue_prefix(owner), after=after):
                after = page[-1].key
                found += [each.key for each in page if _older(each.key, before) and each.key not in used]
                if len(found) >= limit:
                    return found[:limit]
        return found

    async def _delete_unused(self, found: list[str]) -> int:
        unused = []
        for owner, own in itertools.groupby(found, lambda key: keys.folder_of(key, 1)):
            used = await self._keys_in_use(owner)
            unused += [key for key in own if key not in used]
        for start in range(0, len(unused), PAGE):
            await self.store.delete_keys(unused[start : start + PAGE])
        return len(unused)

    async def _keys_in_use(self, owner: str) -> set[str]:
        """What an account's products and jobs in progress refer to."""
        try:
            account_id = uuid.UUID(owner)
        except ValueError:
            return set()

        def used(session: Session) -> set[str]:
            found = products.list_picture_keys(session, account_id=account_id)
            return found.union(*map(_pictures_of, jobs.open_inputs(session, account_id=account_id)))

        return await self.database.read(used)

    async def _fetched_at_once(self, url: str, longest: float) -> bytes:
        try:
            async with asyncio.timeout(longest):
                return await self.fetcher.fetch(url)
        except TimeoutError:
            raise ImageError(ImageErrorCode.URL_UNREACHABLE, f"no picture after {longest:g} s") from None
        except ImageError as error:
            error.retryable = False
            raise

    async def _normalised(self, source: PictureSource | None) -> bytes | None:
        if source is None:
            return None
        try:
            png = await self._png(source.stored, source.url)
        except ImageError as error:
            count_refused_picture(error)
            raise failure(
                known_code(error.code), str(error), retryable=is_tried_again(error), about=source.field
            ) from error
        if png is None:
            raise ValueError("a picture needs to be stored, or to have an address")
        return png

    async def _png(self, stored: ObjectRef | None, url: str | None, longest: float | None = None) -> bytes | None:
        """A garment's picture upright and shrunk, for an engine to work with; none where there is none.

        An address is asked once where there is a ``longest`` time for it, in seconds.

        Raises:
            ImageError: ``garment_url_not_an_image`` for one from an address, any of the ``image_…`` codes for another.
        """
        if stored is not None:
            data = await get_object(self.store, stored)
        elif url is not None:
            data = await (self.fetcher.fetch(url) if longest is None else self._fetched_at_once(url, longest))
        else:
            return None
        try:
            pixels = await self.decoders.decode(holder(), data, self.limits, max_side=WORKING_SIDE)
        except ImageError as error:
            if stored is None:
                said = f"{error.code}: {error.detail}"
                raise ImageError(ImageErrorCode.URL_NOT_AN_IMAGE, said, retryable=error.retryable) from error
            raise
        return await self.decoders.in_thread(holder(), encode_png, pixels)


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
    began = products.began_at(keys.folder_of(key, 2))
    return began is not None and began < than


def _pictures_of(workflow_input: dict[str, Any]) -> set[str]:
    """Keys of the garments' pictures that a job was accepted with."""
    try:
        garments = TryOnInput.model_validate(workflow_input).garments
    except ValidationError:
        return set()  # no version of this code can run it
    sides = (side for garment in garments for side in (garment.picture, garment.back_picture))
    return {side.key for side in sides if side is not None}
