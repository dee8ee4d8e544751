"""Jobs from HTTP to picture through the real service."""

from __future__ import annotations

import asyncio
import base64
import io
import uuid
from typing import Any

import numpy as np
from PIL import Image

from api.dashboard.samples import PORTRAIT, pixels_of
from domain.errors import CATALOGUE
from domain.jobs import jobs
from engines.person.finding import HOW_TO_BE_FOUND
from runtime.database import Database
from runtime.embedded.record import stack_secrets
from runtime.object_store import S3ObjectStore
from runtime.settings import EMBEDDED_FILE
from tests.ledger_entries import entries_of_job
from tests.pictures import data_uri, encoded
from tests.stack.conftest import SIDE
from tests.stack.stack import Stack, until


def picture_of(body: dict[str, Any]) -> Image.Image:
    assert body["status"] == "completed", body
    return Image.open(io.BytesIO(base64.b64decode(body["resultImageBase64"].partition(",")[2])))


def books(stack: Stack, job_id: str) -> tuple[jobs.Job, list[str]]:
    async def read() -> tuple[jobs.Job, list[str]]:
        database = Database(stack.settings.database)
        try:
            with database.reading() as session:
                identifier = uuid.UUID(job_id)
                return jobs.get_job(session, job_id=identifier), entries_of_job(session, job_id=identifier)
        finally:
            database.close()

    return asyncio.run(read())


def objects(stack: Stack, job_id: str) -> list[str]:
    """Keys in the store that have to do with the job."""
    store = S3ObjectStore(stack.settings.object_store)
    return [key for key in asyncio.run(store.list_keys("")) if job_id in key]


def test_a_single_garment_becomes_a_picture(stack: Stack, sweater: str) -> None:
    portrait = data_uri(encoded(Image.fromarray(pixels_of(PORTRAIT))))
    job_id = stack.post({"customerPhotoBase64": portrait, "garmentImageUrl": sweater, "category": "upper_body"})
    body = stack.finished(job_id)
    result = picture_of(body)
    assert (result.format, result.size) == ("JPEG", (512, 512))
    assert body["generationTimeMs"] > 0
    original = np.asarray(Image.open(io.BytesIO(base64.b64decode(portrait.partition(",")[2])))).astype(int)
    changed = np.abs(np.asarray(result).astype(int) - original).max(axis=2) > 40
    chest, sky = changed[330:500, 120:330], changed[:150, :80]
    assert chest.mean() > 0.5
    assert sky.mean() < 0.01


def test_a_finished_job_is_billed_once_and_leaves_only_its_picture(stack: Stack, portrait: str, sweater: str) -> None:
    job_id = stack.post({"customerPhotoBase64": portrait, "garmentImageUrl": sweater, "category": "upper_body"})
    stack.finished(job_id)
    until(lambda: True if objects(stack, job_id) == [f"results/{job_id}.jpg"] else None)
    job, entries = books(stack, job_id)
    assert entries == ["reserve", "settle"]
    assert job.engine == "warp"
    assert job.report is not None
    assert job.report["timingsMs"]["segment"] > 0


def test_a_combo_wears_every_garment(stack: Stack, portrait: str, sweater: str) -> None:
    tee = data_uri(encoded(Image.fromarray(pixels_of("plain_tee"))))
    garments = [
        {"garmentImageUrl": tee, "category": "upper_body"},
        {"garmentImageUrl": sweater, "category": "upper_body", "garmentCategory": "cardigan"},
    ]
    job_id = stack.post({"customerPhotoBase64": portrait, "garments": garments}, "/api/v1/tryon/combo")
    assert picture_of(stack.finished(job_id)).size == (SIDE, SIDE)
    job, _ = books(stack, job_id)
    assert job.kind == "combo"


def test_a_photo_without_a_person_fails_with_a_sentence_for_the_shopper(stack: Stack, sweater: str) -> None:
    job_id = stack.post({"customerPhotoBase64": data_uri(), "garmentImageUrl": sweater, "category": "upper_body"})
    # What the segmenter advises, which is more than the catalogue does.
    advised = CATALOGUE["person_not_found"].advised(HOW_TO_BE_FOUND)
    assert stack.finished(job_id) == {"status": "failed", "error": advised}
    until(lambda: True if objects(stack, job_id) == [] else None)


def test_the_store_is_closed_to_whoever_has_no_key(stack: Stack) -> None:
    import httpx

    endpoint = stack.settings.object_store.endpoint
    assert httpx.get(f"{endpoint}/tryon/", trust_env=False).status_code == 403


def test_secrets_are_readable_by_their_owner_alone(stack: Stack) -> None:
    own = {"s3_secret_key", "key_pepper", "signing_certificates", "signing_key"}
    assert stack_secrets(stack.data_dir).keys() == own
    for name in ("secrets.json", "s3.json", EMBEDDED_FILE, "stack.json", "signing-key.pem"):
        assert (stack.data_dir / name).stat().st_mode & 0o077 == 0


def test_a_server_listens_on_loopback_only(stack: Stack) -> None:
    import psutil

    for name, identity in stack.record.children.items():
        for connection in psutil.Process(identity.pid).net_connections("tcp"):
            if connection.status == psutil.CONN_LISTEN:
                assert connection.laddr.ip in ("127.0.0.1", "::1"), (name, connection)
