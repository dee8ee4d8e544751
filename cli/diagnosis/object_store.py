"""The object store: reachable, our key taken, the bucket there, an object written, read and deleted; its clock."""

from __future__ import annotations

import secrets
from collections.abc import AsyncGenerator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from cli.diagnosis.findings import Case, Finding, Subject, in_one_line, judged_clock
from runtime.object_store import ObjectStoreUnavailableError, S3ObjectStore

STORE = Subject("object store")
CLOCK = Subject("clock of the object store")
BUCKET = Subject("bucket")
OBJECTS = Subject("objects")

CONNECT_SECONDS = 2.0
READ_SECONDS = 5.0  # shorter than the service's own: a person waits for the doctor's answer
PREFIX = "doctor/"  # probe objects lie below it, for as long as the probe takes
BODY = b"tryon doctor"


async def look(case: Case) -> AsyncGenerator[Finding, None]:
    """Ask the store of the settings; what is written is deleted again."""
    settings = case.settings.object_store
    before = datetime.now(UTC)
    timeout = httpx.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    try:
        async with httpx.AsyncClient(timeout=timeout, trust_env=False) as client:
            answer = await client.get(settings.endpoint)
    except httpx.HTTPError as error:
        yield STORE.error(
            f"{settings.endpoint} does not answer: {type(error).__name__} {in_one_line(error)}",
            "Look at TRYON_S3_ENDPOINT and whether the store runs: curl -i $TRYON_S3_ENDPOINT",
        )
        for subject in (CLOCK, BUCKET, OBJECTS):
            yield subject.skipped("the object store does not answer")
        return
    yield STORE.ok(f"{settings.endpoint} answers")
    date = answer.headers.get("Date")
    if date is None:
        yield CLOCK.skipped("it does not tell the time in its answers")
    else:
        yield judged_clock(CLOCK, parsedate_to_datetime(date).astimezone(UTC), before, datetime.now(UTC))
    store = S3ObjectStore(
        settings.model_copy(update={"connect_timeout_seconds": CONNECT_SECONDS, "read_timeout_seconds": READ_SECONDS})
    )
    try:
        await store.list_keys(PREFIX)
    except ObjectStoreUnavailableError as error:
        yield BUCKET.error(
            f"{store.bucket} cannot be listed: {in_one_line(error)}",
            "See that TRYON_S3_BUCKET exists (the API and `tryon up` make it at start) and that TRYON_S3_ACCESS_KEY "
            "and TRYON_S3_SECRET_KEY may use it.",
        )
        yield OBJECTS.skipped("the bucket cannot be used")
        return
    yield BUCKET.ok(f"{store.bucket} is there, and our key may list it")
    yield await _objects(store)


async def _objects(store: S3ObjectStore) -> Finding:
    key = PREFIX + secrets.token_hex(8)
    try:
        await store.put(key, BODY, "text/plain")
        same = await store.get(key) == BODY
        await store.delete_prefix(key)
        gone = not await store.list_keys(key)
    except ObjectStoreUnavailableError as error:
        return OBJECTS.error(
            f"put, get or delete failed: {in_one_line(error)}",
            "Look at the store's log and disk, and at what the key may do: it has to put, get, list and delete.",
        )
    if not same or not gone:
        wrong = "an object came back changed" if not same else "a deleted object is still there"
        return OBJECTS.error(wrong, "Do not use this store before its own log or its maker explains that.")
    return OBJECTS.ok("put, read and deleted one")
