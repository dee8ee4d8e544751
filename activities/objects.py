"""Reading and writing objects by reference."""

from __future__ import annotations

import hashlib

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
