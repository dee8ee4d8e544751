"""Objects by reference: read, written, and turned into what steps work with."""

from __future__ import annotations

import hashlib
import io

import numpy as np
from temporalio import activity

from engines.base import PersonMap
from runtime.object_store import ObjectStore
from workflows.contracts import ObjectRef


class ObjectChangedError(Exception):
    """The stored bytes are not those that the reference describes."""


async def put_object(store: ObjectStore, key: str, data: bytes, content_type: str) -> ObjectRef:
    """Write an object and describe it."""
    await store.put(key, data, content_type)
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


CONTENT_TYPE = "application/x-npz"


def pack_person_map(person_map: PersonMap) -> bytes:
    """Compressed NumPy archive."""
    archive = io.BytesIO()
    np.savez_compressed(
        archive,
        labels=person_map.labels,
        matte=person_map.matte,
        landmarks=person_map.landmarks,
        score=np.float64(person_map.score),
    )
    return archive.getvalue()


def unpack_person_map(data: bytes) -> PersonMap:
    """The reverse of `pack_person_map`; never unpickles anything."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        return PersonMap(
            labels=archive["labels"],
            matte=archive["matte"],
            landmarks=archive["landmarks"],
            score=float(archive["score"]),
        )


def holder() -> str:
    """The account whose run this step belongs to, as its fairness key says; a run that has none stands for itself."""
    info = activity.info()
    return info.priority.fairness_key or info.workflow_id or info.activity_id
