from __future__ import annotations

import asyncio
import dataclasses
import io
import uuid
from collections.abc import Awaitable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from PIL import Image
from temporalio import activity
from temporalio.client import Client
from temporalio.exceptions import ApplicationError
from temporalio.testing import ActivityEnvironment
from temporalio.worker import Worker

from activities.garments import ACCEPTANCE_SECONDS, YOUNG, GarmentActivities
from domain import erasure, products
from domain.access.keys import KeyDigester
from domain.jobs import jobs
from domain.object_keys import product_picture_key, registration_prefix
from domain.products import new_registration_id, product_id_of
from imaging.decoder_pool import DecoderPool
from imaging.errors import ImageError, ImageErrorCode
from imaging.limits import ImageLimits
from runtime.database import Database
from runtime.object_store import ObjectStoreUnavailableError
from tests.activities.test_garments import URL, FakeFetcher
from tests.factories import Caller, create_caller, create_job
from tests.memory_store import MemoryObjectStore
from tests.pictures import encoded, photo
from tests.workflows.fakes import ref, tryon_input
from workflows import steps as workflow_steps
from workflows.contracts import ObjectRef, SweepInput, SweepReport
from workflows.products.contracts import (
    CleanUpRegistrationInput,
    CopiedPictures,
    CopyPicturesInput,
    PictureSource,
    ProductFields,
    SavedProduct,
    SaveProductInput,
)

REGISTRATION = new_registration_id()
ACCOUNT = "an-account"


class Steps:
    """The activities around a store in memory and a shop that gives one answer."""

    def __init__(self, database: Database | None = None, answer: bytes | ImageError = b"") -> None:
        self.store = MemoryObjectStore()
        fetcher = FakeFetcher(answer)
        self.activities = GarmentActivities(
            database,  # type: ignore[arg-type]  # steps that need none are tested without
            self.store,
            fetcher,
            ImageLimits(),
            decoders=DecoderPool(),
        )

    async def copy(self, **sides: PictureSource) -> CopiedPictures:
        request = CopyPicturesInput(registration_id=REGISTRATION, account_id=ACCOUNT, **sides)
        return await ActivityEnvironment().run(self.activities.copy_product_pictures, request)

    async def save(self, caller: Caller, registration_id: str, **options: Any) -> SavedProduct:
        request = SaveProductInput(registration_id=registration_id, account_id=str(caller.account_id), **options)
        return await ActivityEnvironment().run(self.activities.save_product, request)

    async def uploaded(self, data: bytes) -> ObjectRef:
        await self.store.put("upload", data, "image/jpeg")
        return ObjectRef.of("tryon", "upload", data, "image/jpeg")


def source(**where: Any) -> PictureSource:
    return PictureSource(field="garmentImageUrl", **where)


def copied(key: str = "a-key", content: str = "0") -> CopiedPictures:
    return CopiedPictures(
        front=ObjectRef(bucket="tryon", key=key, sha256=content * 64, size=1, content_type="image/png")
    )


WHOLE = {"fields": ProductFields(name="Shirt", category="upper_body"), "pictures": copied()}


async def test_pictures_are_kept_upright_bounded_and_apart_from_other_registrations() -> None:
    steps = Steps(answer=encoded(photo(400, 300), "WEBP"))
    sideways = photo(3000, 1500)
    exif = sideways.getexif()
    exif[0x0112] = 6
    upload = await steps.uploaded(encoded(sideways, exif=exif))
    pictures = await steps.copy(front=source(stored=upload), back=source(url=URL))
    assert pictures.keys == [product_picture_key(ACCOUNT, REGISTRATION, side) for side in ("front", "back")]
    sizes = [Image.open(io.BytesIO(await steps.store.get(key))).size for key in pictures.keys]
    assert sizes == [(768, 1536), (400, 300)]


async def test_the_same_picture_is_the_same_bytes_however_often_it_is_copied() -> None:
    steps = Steps(answer=encoded())
    first, second = await steps.copy(front=source(url=URL)), await steps.copy(front=source(url=URL))
    assert first == second


@pytest.mark.parametrize(
    ("answer", "code", "final"),
    [
        (b"<html>not here</html>", "garment_url_not_an_image", True),
        (encoded(photo(100, 300)), "garment_url_not_an_image", True),
        (ImageError(ImageErrorCode.URL_TOO_LARGE, "9 MB"), "garment_url_too_large", True),
        (ImageError(ImageErrorCode.URL_REFUSED, "10.0.0.1"), "garment_url_refused", True),
        (ImageError(ImageErrorCode.URL_UNREACHABLE, "timeout", retryable=True), "garment_url_unreachable", False),
    ],
)
async def test_a_refused_picture_fails_with_its_code_and_field(
    answer: bytes | ImageError, code: str, final: bool
) -> None:
    steps = Steps(answer=answer)
    good = await steps.uploaded(encoded())
    with pytest.raises(ApplicationError) as caught:
        await steps.copy(front=source(stored=good), back=PictureSource(field="garmentBackImageUrl", url=URL))
    assert (caught.value.type, caught.value.non_retryable) == (code, final)
    assert list(caught.value.details) == ["garmentBackImageUrl"]
    assert list(steps.store.objects) == ["upload"], "the good one is not kept either"


async def test_an_upload_that_is_gone_ends_the_registration() -> None:
    ref = ObjectRef.of("tryon", "gone", b"", "image/png")
    with pytest.raises(ApplicationError) as caught:
        await Steps().copy(front=source(stored=ref))
    assert caught.value.non_retryable


async def test_saving_twice_is_saving_once(database: Database, digester: KeyDigester) -> None:
    steps, caller, registration = Steps(database), await create_caller(database, digester), new_registration_id()
    first, again = [await steps.save(caller, registration, **WHOLE) for _ in range(2)]
    assert first.product_id == products.public_id(product_id_of(registration))
    assert (first.revision, first.created, first.picture_keys) == (1, True, ["a-key"])
    assert again == first.model_copy(update={"changed": False})


async def test_a_change_sets_clears_and_leaves(database: Database, digester: KeyDigester) -> None:
    steps, caller = Steps(database), await create_caller(database, digester)
    fields = ProductFields(name="Shirt", category="upper_body", size="M", tuck_state="tucked")
    created = await steps.save(caller, new_registration_id(), fields=fields, pictures=copied())
    changed = await steps.save(
        caller,
        new_registration_id(),
        product_id=created.product_id,
        fields=ProductFields(name="Blouse"),
        clear=["size", "back"],
    )
    assert (changed.revision, changed.created, changed.changed) == (2, False, True)
    product = await database.read(
        products.find_for_tryon, account_id=caller.account_id, product_id_text=created.product_id
    )
    assert product is not None
    assert (product.name, product.size, product.tuck_state, product.front["key"]) == (
        "Blouse",
        None,
        "tucked",
        "a-key",
    )


async def test_the_same_picture_again_keeps_the_one_in_use(database: Database, digester: KeyDigester) -> None:
    steps, caller = Steps(database), await create_caller(database, digester)
    created = await steps.save(caller, new_registration_id(), **WHOLE)
    again = await steps.save(
        caller, new_registration_id(), product_id=created.product_id, pictures=copied("another-key")
    )
    assert (again.revision, again.changed, again.picture_keys) == (1, False, ["a-key"])


@pytest.mark.parametrize("product_id", ["prod_" + "0" * 32, "nonsense"])
async def test_a_product_that_is_not_there_ends_the_registration(
    database: Database, digester: KeyDigester, product_id: str
) -> None:
    caller = await create_caller(database, digester)
    with pytest.raises(ApplicationError) as caught:
        await Steps(database).save(caller, new_registration_id(), product_id=product_id, **WHOLE)
    assert (caught.value.type, caught.value.non_retryable) == ("product_not_found", True)


async def test_nothing_is_saved_behind_an_erasure(database: Database, digester: KeyDigester) -> None:
    """A registration that lay still while all workers were away may go on after its account was erased."""
    caller = await create_caller(database, digester)
    await database.write(erasure.begin_erasure, account_id=caller.account_id, now=datetime.now(UTC))
    with pytest.raises(ApplicationError) as refused:
        await Steps(database).save(caller, new_registration_id(), **WHOLE)
    assert (refused.value.type, refused.value.non_retryable) == ("account_blocked", True)
    with database.reading() as session:
        assert not products.list_products(session, account_id=caller.account_id, limit=1)


async def test_a_name_that_is_taken_ends_the_registration(database: Database, digester: KeyDigester) -> None:
    steps, caller = Steps(database), await create_caller(database, digester)
    named = ProductFields(name="Shirt", category="upper_body", external_id="SKU-1")
    await steps.save(caller, new_registration_id(), fields=named, pictures=copied())
    other = await steps.save(caller, new_registration_id(), **WHOLE)
    with pytest.raises(ApplicationError) as caught:
        await steps.save(
            caller,
            new_registration_id(),
            product_id=other.product_id,
            fields=ProductFields(external_id="SKU-1"),
        )
    assert (caught.value.type, caught.value.non_retryable) == ("external_id_taken", True)


async def test_the_clean_up_leaves_what_the_product_uses() -> None:
    steps = Steps()
    prefix, others = registration_prefix(ACCOUNT, REGISTRATION), registration_prefix(ACCOUNT, new_registration_id())
    for key in (f"{prefix}upload-front", f"{prefix}front.png", f"{prefix}back.png", f"{others}front.png"):
        await steps.store.put(key, b"", "image/png")
    request = CleanUpRegistrationInput(registration_id=REGISTRATION, account_id=ACCOUNT, keep=[f"{prefix}front.png"])
    report = await ActivityEnvironment().run(steps.activities.clean_up_registration, request)
    assert report.deleted == 2
    assert set(steps.store.objects) == {f"{prefix}front.png", f"{others}front.png"}


async def test_what_an_earlier_run_has_saved_stays_where_a_later_one_fails(
    database: Database, digester: KeyDigester
) -> None:
    steps, caller, registration = Steps(database), await create_caller(database, digester), new_registration_id()
    owner = str(caller.account_id)
    front, back = (product_picture_key(owner, registration, side) for side in ("front", "back"))
    for key in (front, back):
        await steps.store.put(key, b"", "image/png")
    await steps.save(caller, registration, fields=WHOLE["fields"], pictures=copied(front))
    failed = CleanUpRegistrationInput(registration_id=registration, account_id=owner)
    await ActivityEnvironment().run(steps.activities.clean_up_registration, failed)
    assert set(steps.store.objects) == {front}


async def sweep(steps: Steps, between: Awaitable[object] | None = None, **options: int) -> SweepReport:
    """Both looks, as Temporal has them done; nothing is deleted by the first."""
    first, second, found = ActivityEnvironment(), ActivityEnvironment(), list[list[str]]()
    first.on_heartbeat = lambda *details: found.extend(details)
    before = set(steps.store.objects)
    try:
        return await first.run(steps.activities.sweep_product_pictures, SweepInput(**options))
    except ApplicationError as again:
        delay = again.next_retry_delay
    assert delay == timedelta(seconds=ACCEPTANCE_SECONDS)
    assert set(steps.store.objects) == before
    if between is not None:
        await between
    second.info = dataclasses.replace(second.info, attempt=2, heartbeat_details=found)
    return await second.run(steps.activities.sweep_product_pictures, SweepInput(**options))


async def test_the_sweep_deletes_what_nothing_refers_to(database: Database, digester: KeyDigester) -> None:
    steps, caller = Steps(database), await create_caller(database, digester)
    long_ago = datetime.now(UTC) - YOUNG - timedelta(minutes=1)
    used, superseded = [
        product_picture_key(str(caller.account_id), new_registration_id(long_ago), "front") for _ in range(2)
    ]
    young = product_picture_key(str(caller.account_id), new_registration_id(), "front")
    await steps.save(caller, new_registration_id(), fields=WHOLE["fields"], pictures=copied(used))
    for key in (used, superseded, young, f"products/{uuid.uuid4()}/what-is-this/front.png", "results/a.jpg"):
        await steps.store.put(key, b"", "image/png")
    report = await sweep(steps)
    assert report.deleted == 1
    assert superseded not in steps.store.objects
    assert len(steps.store.objects) == 4


async def test_the_sweep_leaves_what_a_job_in_progress_was_accepted_with(
    database: Database, digester: KeyDigester
) -> None:
    steps, caller = Steps(database), await create_caller(database, digester)
    superseded = {
        side: product_picture_key(str(caller.account_id), new_registration_id(datetime.now(UTC) - 2 * YOUNG), side)
        for side in ("front", "back")
    }
    for key in superseded.values():
        await steps.store.put(key, b"", "image/png")
    job_id = await create_job(database, caller)
    accepted = tryon_input(str(job_id))
    worn = accepted.garments[0].model_copy(
        update={"picture": ref(superseded["front"]), "back_picture": ref(superseded["back"])}
    )
    with database.transaction() as session:
        job = jobs.get_job(session, job_id=job_id)
        job.workflow_input = accepted.model_copy(update={"garments": [worn]}).model_dump(mode="json")
    await sweep(steps)
    assert set(steps.store.objects) == set(superseded.values())
    with database.transaction() as session:
        jobs.get_job(session, job_id=job_id).status = "failed"
    await sweep(steps)
    assert steps.store.objects == {}


async def test_the_sweep_looks_twice(database: Database, digester: KeyDigester) -> None:
    """A job that has looked at a product and has no row yet gets one in between."""
    steps, caller = Steps(database), await create_caller(database, digester)
    account = str(caller.account_id)
    key = product_picture_key(account, new_registration_id(datetime.now(UTC) - 2 * YOUNG), "front")
    await steps.store.put(key, b"", "image/png")
    saving = steps.save(caller, new_registration_id(), fields=WHOLE["fields"], pictures=copied(key))
    report = await sweep(steps, between=saving, limit=1)
    assert (report.deleted, report.more) == (0, True), "what is used again says nothing of what else there is"
    assert list(steps.store.objects) == [key]


async def test_between_its_looks_the_sweep_holds_no_worker_and_remembers(database: Database, temporal: Client) -> None:
    """Over a real server: what the first look found reaches the second, through the failure between them."""
    steps, queue = Steps(database), uuid.uuid4().hex
    steps.activities.acceptance_seconds = 0.3
    key = product_picture_key(ACCOUNT, new_registration_id(datetime.now(UTC) - 2 * YOUNG), "front")
    await steps.store.put(key, b"", "image/png")
    sweeping = steps.activities.sweep_product_pictures
    async with Worker(temporal, task_queue=queue, activities=[sweeping], max_concurrent_activities=1):
        started = await temporal.start_activity(
            sweeping, SweepInput(), id=queue, task_queue=queue, **workflow_steps.SWEEP_PRODUCT_PICTURES.options
        )
        report = await started.result()
    assert (report.deleted, steps.store.objects) == (1, {})


async def test_a_second_look_that_fails_is_made_up_for_the_same_day(
    database: Database, temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its heartbeats take the place of what the first look found, so that comes first again."""
    steps, queue, attempts = Steps(database), uuid.uuid4().hex, list[int]()
    steps.activities.acceptance_seconds = 0.3
    key = product_picture_key(ACCOUNT, new_registration_id(datetime.now(UTC) - 2 * YOUNG), "front")
    await steps.store.put(key, b"", "image/png")
    delete = steps.store.delete_keys

    async def away_twice(found: Sequence[str]) -> None:
        attempts.append(activity.info().attempt)
        await asyncio.sleep(0.1)  # for a heartbeat
        if len(attempts) <= 2:
            raise ObjectStoreUnavailableError("away")
        await delete(found)

    monkeypatch.setattr(steps.store, "delete_keys", away_twice)
    sweeping, options = steps.activities.sweep_product_pictures, workflow_steps.SWEEP_PRODUCT_PICTURES.options.copy()
    policy = options["retry_policy"]
    assert policy is not None
    options["retry_policy"] = dataclasses.replace(policy, initial_interval=timedelta(milliseconds=10))
    async with Worker(temporal, task_queue=queue, activities=[sweeping], max_concurrent_activities=1):
        started = await temporal.start_activity(sweeping, SweepInput(), id=queue, task_queue=queue, **options)
        report = await started.result()
    assert (report.deleted, attempts, steps.store.objects) == (1, [2, 4, 6], {})


async def test_a_round_of_the_sweep_is_bounded(database: Database) -> None:
    steps = Steps(database)
    old = datetime.now(UTC) - 2 * YOUNG
    for _ in range(3):
        await steps.store.put(product_picture_key(ACCOUNT, new_registration_id(old), "front"), b"", "image/png")
    report = await sweep(steps, limit=2)
    assert (report.deleted, report.more, len(steps.store.objects)) == (2, True, 1)
    assert await sweep(steps, limit=2) == SweepReport(deleted=1)
