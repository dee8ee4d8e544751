"""The job that every peer does, from a photo in the object store to a picture there: a test key's job, but billed.

Celery and the bare loop call `Workplace.do`. This service does the same in its own activities. `Workplace.accept` is
for all three, and leaves what the API would.
"""

from __future__ import annotations

import io
import time
import uuid
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from urllib.parse import urlsplit

import urllib3
from minio import Minio
from minio.deleteobjects import DeleteObject

from activities.rehearsal import mark_as_test
from domain.jobs import jobs
from domain.money.plans import load_plans
from domain.object_keys import JOBS, input_key, job_of_key, result_key, work_key
from imaging.decode import decode_image
from imaging.encode import encode_jpeg, encode_png
from imaging.limits import STORED_LIMITS
from intake.job import SentGarment, new_job, workflow_input_of
from runtime.database import Database
from runtime.object_store import CONNECTIONS, ONE_PART_BYTES
from runtime.settings import Settings, load_settings
from workflows.contracts import GarmentHints, ObjectRef, RehearsalScript, TryOnInput

ENGINE = "stub"
PERSON, RENDERED = "0", "rendered.png"  # names of a job's objects, as the API and the GPU worker call them
PLANS = load_plans()
GARMENT = SentGarment(None, "upper_body", GarmentHints(), None, None)  # the stub draws none

DEADLINE = timedelta(minutes=5)
"""Of a job, as the settings have it by default. Only this service ends jobs by it."""


class Workplace:
    """The object store and the database of one peer, as code that may wait uses them. One for each process."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.database = Database(settings.database)
        there = settings.object_store
        self.bucket = there.bucket
        address = urlsplit(there.endpoint)
        timeout = urllib3.Timeout(connect=there.connect_timeout_seconds, read=there.read_timeout_seconds)
        self.store = Minio(
            address.netloc,
            access_key=there.access_key,
            secret_key=there.secret(),
            region=there.region,
            secure=address.scheme == "https",
            http_client=urllib3.PoolManager(maxsize=CONNECTIONS, timeout=timeout),
        )

    def accept(self, account_id: uuid.UUID, photo: bytes, engine_seconds: int) -> TryOnInput:
        """Store the input; then, in one transaction, the job and the reservation of what it costs."""
        job_id = uuid.uuid4()
        key = input_key(str(job_id), PERSON)
        self.put(key, photo, "image/jpeg")
        new = new_job(
            job_id=job_id,
            account_id=account_id,
            api_key_id=None,
            person=ObjectRef.of(self.bucket, key, photo, "image/jpeg"),
            garments=[GARMENT],
            uploads={},
            deadline=DEADLINE,
            rehearsal=RehearsalScript(delay_seconds=engine_seconds),
            relayed=False,
        )
        with self.database.transaction() as session:
            job = jobs.accept_job(session, PLANS, replace(new, test=False), now=datetime.now(UTC))
        return workflow_input_of(job)

    def do(self, job_id: str, engine_seconds: float) -> None:
        """The whole job. It may be done again from the beginning, however far it came before."""
        inputs = [input_key(job_id, PERSON), work_key(job_id, RENDERED)]
        with self.database.reading() as session:
            ended = jobs.get_job(session, job_id=uuid.UUID(job_id)).status != jobs.PROCESSING
        if not ended:
            photo = decode_image(self.get(inputs[0]), STORED_LIMITS)
            time.sleep(engine_seconds)
            picture = mark_as_test(photo)
            self.put(inputs[1], encode_png(picture), "image/png")
            self.put(result_key(job_id), encode_jpeg(picture, self.settings.images.jpeg_quality), "image/jpeg")
            with self.database.transaction() as session:
                jobs.complete_job(
                    session,
                    job_id=uuid.UUID(job_id),
                    result_key=result_key(job_id),
                    engine=ENGINE,
                    report={},
                    keep=timedelta(seconds=self.settings.jobs.result_ttl_seconds),
                    now=datetime.now(UTC),
                )
        for failure in self.store.remove_objects(
            bucket_name=self.bucket, delete_object_list=[DeleteObject(key) for key in inputs]
        ):
            raise OSError(f"{failure.code}: {failure.message}")

    def put(self, key: str, data: bytes, content_type: str) -> None:
        """Write an object in one request."""
        self.store.put_object(
            bucket_name=self.bucket,
            object_name=key,
            data=io.BytesIO(data),
            length=len(data),
            content_type=content_type,
            part_size=ONE_PART_BYTES,
        )

    def get(self, key: str) -> bytes:
        """Read an object."""
        response = self.store.get_object(bucket_name=self.bucket, object_name=key)
        try:
            return response.read()
        finally:
            response.close()
            response.release_conn()

    def littered(self) -> set[uuid.UUID]:
        """The jobs that have inputs or half-made pictures in the store."""
        found = self.store.list_objects(bucket_name=self.bucket, prefix=JOBS, recursive=True)
        return {job_id for entry in found if entry.object_name and (job_id := job_of_key(entry.object_name))}


@cache
def workplace() -> Workplace:
    """This process's own, where its environment says."""
    return Workplace(load_settings())
