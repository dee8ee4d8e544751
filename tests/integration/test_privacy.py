"""What is left of a job, walked through store and database: what docs/privacy.md promises."""

from __future__ import annotations

import asyncio
import base64
import io
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from PIL import Image
from sqlalchemy import select, update
from temporalio.client import Client
from temporalio.testing import ActivityEnvironment

from activities.purging import PurgingActivities
from domain.tables import Job, Table
from runtime.settings import BackfillSettings, JobSettings
from tests.api.conftest import single
from tests.integration.conftest import Service
from tests.pictures import data_uri
from workflows.contracts import SweepInput

PLACE = b"SECRET PLACE"


def traced_photo() -> bytes:
    """A photo whose metadata tells where it was taken and by what."""
    image = Image.effect_noise((320, 400), 60).convert("RGB")
    exif = Image.Exif()
    exif[0x010F] = PLACE.decode()  # maker
    exif.get_ifd(0x8825).update({1: "N", 2: (52.0, 31.0, 12.0), 3: "E", 4: (13.0, 24.0, 18.0)})
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", exif=exif, comment=PLACE)
    return buffer.getvalue()


async def rows_that_hold(service: Service, needle: str) -> list[str]:
    """Names of the tables in which any column of any row holds the text."""
    with service.database.reading() as session:
        return [
            table.name
            for table in Table.metadata.sorted_tables
            for row in session.execute(select(table)).mappings()
            if needle in json.dumps([str(value) for value in row.values()])
        ]


async def objects_once(service: Service, job_id: str, count: int) -> list[str]:
    async with asyncio.timeout(10):
        while len(found := await service.objects(job_id)) != count:
            await asyncio.sleep(0.05)
    return found


async def test_only_the_result_outlives_the_job(service: Service) -> None:
    job_id = await service.post(single(customerPhotoBase64=data_uri(traced_photo())))
    assert (await service.finished(job_id))["status"] == "completed"
    assert await objects_once(service, job_id, 1) == [f"results/{job_id}.jpg"]
    stored = await service.store.get(f"results/{job_id}.jpg")
    assert PLACE not in stored
    assert not Image.open(io.BytesIO(stored)).getexif()


async def test_a_result_goes_when_its_time_is_over(service: Service) -> None:
    job_id = await service.post(single())
    await service.finished(job_id)
    await objects_once(service, job_id, 1)
    with service.database.transaction() as session:
        session.execute(
            update(Job)
            .where(Job.result_key.contains(job_id))
            .values(expires_at=datetime.now(UTC) - timedelta(seconds=1))
        )
    assert (await service.client.get(f"/api/v1/tryon/{job_id}")).status_code == 404
    activities = PurgingActivities(service.database, service.store, JobSettings(), BackfillSettings())
    environment = ActivityEnvironment()
    environment.info = replace(environment.info, start_to_close_timeout=timedelta(minutes=4))
    await environment.run(activities.purge, SweepInput(limit=10_000))
    assert await service.objects(job_id) == []


async def test_erasing_leaves_the_billing_record_alone(service: Service) -> None:
    address = "https://shop.example/picture?who=a-very-private-shopper"
    job_id = await service.post(single(garmentImageUrl=address))
    await service.finished(job_id)
    assert "job" in await rows_that_hold(service, "a-very-private-shopper")
    assert (await service.client.delete(f"/api/v1/tryon/{job_id}")).status_code == 204
    assert await objects_once(service, job_id, 0) == []
    assert await rows_that_hold(service, "a-very-private-shopper") == []
    assert set(await rows_that_hold(service, job_id.replace("-", ""))) | {"job", "ledger"} == {"job", "ledger"}


async def test_erasing_a_job_in_progress_leaves_nothing_either(service: Service) -> None:
    job_id = await service.post(single())
    assert (await service.client.delete(f"/api/v1/tryon/{job_id}")).status_code == 204
    await asyncio.sleep(0.5)
    assert await objects_once(service, job_id, 0) == []


async def test_pictures_are_neither_in_the_database_nor_in_temporal(service: Service, temporal: Client) -> None:
    photo = traced_photo()
    job_id = await service.post(single(customerPhotoBase64=data_uri(photo)))
    await service.finished(job_id)
    needle = base64.b64encode(photo).decode()[200:260]
    assert await rows_that_hold(service, needle) == []
    history: Any = await temporal.get_workflow_handle(f"tryon-{job_id}").fetch_history()
    text = history.to_json()
    assert needle not in text
    assert len(text) < 100_000
