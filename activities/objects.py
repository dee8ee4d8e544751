"""Objects by reference, and pages of outcomes: read and written."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable

from temporalio import activity

from intake.pages import CONTENT_TYPE, Outcome, lines_of, read_outcomes
from runtime.object_store import ObjectMissingError, ObjectStore
from workflows.contracts import ObjectRef


class ObjectChangedError(Exception):
    """The stored bytes are not those that the reference describes."""


async def put_object(store: ObjectStore, key: str, data: bytes, content_type: str) -> ObjectRef:
    """Write an object and describe it.

    Whoever is cancelled meanwhile waits for the end of it: what comes later would lie behind the job's clean-up.
    """
    writing = asyncio.ensure_future(store.put(key, data, content_type))
    try:
        await asyncio.shield(writing)
    except asyncio.CancelledError:
        await asyncio.wait([writing])
        raise
    return ObjectRef.of(store.bucket, key, data, content_type)


async def get_object(store: ObjectStore, ref: ObjectRef) -> bytes:
    """Read what a reference describes.

    Raises:
        ObjectMissingError: It is gone.
        ObjectChangedError: It holds something else by now.
    """
    data = await store.get(ref.key)
    if hashlib.sha256(data).hexdigest() != ref.sha256:
        raise ObjectChangedError(ref.key)
    return data


async def outcomes_at(store: ObjectStore, key: str, model: type[Outcome]) -> dict[int, Outcome]:
    """The outcomes of a page, by number; none of a page that is not there."""
    try:
        return read_outcomes(await store.get(key), model)
    except ObjectMissingError:
        return {}


async def add_outcomes(store: ObjectStore, key: str, outcomes: Iterable[Outcome], model: type[Outcome]) -> None:
    """Write outcomes on a page, beside those of other numbers."""
    known = await outcomes_at(store, key, model) | {outcome.number: outcome for outcome in outcomes}
    await store.put(key, lines_of(known[number] for number in sorted(known)), CONTENT_TYPE)


def holder() -> str:
    """The account whose run this step belongs to, as its fairness key says; a run that has none stands for itself."""
    info = activity.info()
    return info.priority.fairness_key or info.workflow_id or info.activity_id
