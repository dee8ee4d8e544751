"""Pictures at rest: any S3, or memory for unit tests."""

from __future__ import annotations

import asyncio
import functools
import io
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import ParamSpec, Protocol, TypeVar
from urllib.parse import urlsplit

import urllib3
from minio import Minio
from minio.deleteobjects import DeleteObject
from minio.error import InvalidResponseError, S3Error, ServerError

from runtime.settings import ObjectStoreSettings

ONE_PART_BYTES = 128 * 1024 * 1024
"""No object here is larger, so that every upload is a single request instead of a multipart one."""

CONNECTIONS = 16
"""Requests under way at the same time in one process."""

OnCall = Callable[[str, str, float], None]
"""Told of every call: operation, outcome (``ok``, ``missing``, ``failed``), seconds."""

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


class ObjectMissingError(Exception):
    """There is no object under that key."""


class ObjectStoreUnavailableError(Exception):
    """The store did not answer, or answered with a fault of its own; trying again later may help."""


class ObjectStore(Protocol):
    """What the service needs of an object store. Every method may raise `ObjectStoreUnavailableError`."""

    bucket: str

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        """Write an object; the same key again replaces it."""

    async def get(self, key: str) -> bytes:
        """Read an object.

        Raises:
            ObjectMissingError: There is none.
        """
        ...

    async def delete(self, key: str) -> None:
        """Delete this object alone; there need not be one."""

    async def delete_prefix(self, prefix: str) -> int:
        """Delete every object whose key begins so, and say how many there were."""
        ...

    async def list_keys(self, prefix: str, older_than: timedelta | None = None) -> list[str]:
        """Keys that begin so, in order; only of objects that were written longer ago, if so asked."""
        ...

    async def ensure_bucket(self) -> None:
        """Make the bucket if it is not there."""

    async def ping(self) -> None:
        """Raise if the bucket cannot be reached."""


class S3ObjectStore:
    """`ObjectStore` over the minio client, whose blocking calls run in threads."""

    def __init__(
        self, settings: ObjectStoreSettings, on_call: OnCall = lambda _operation, _outcome, _seconds: None
    ) -> None:
        self._on_call = on_call
        address = urlsplit(settings.endpoint)
        self.bucket = settings.bucket
        # Threads of its own: a store that stalls must not take those that decode pictures.
        self._threads = ThreadPoolExecutor(CONNECTIONS, "object-store")
        self._client = Minio(
            address.netloc,
            access_key=settings.access_key,
            secret_key=settings.secret_key.get_secret_value(),
            region=settings.region,
            secure=address.scheme == "https",
            # The client's own pool retries for six seconds when refused and reads for five minutes.
            http_client=urllib3.PoolManager(
                maxsize=CONNECTIONS,
                retries=urllib3.Retry(connect=1, read=1, redirect=0, backoff_factor=0.1),
                timeout=urllib3.Timeout(connect=settings.connect_timeout_seconds, read=settings.read_timeout_seconds),
            ),
        )

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        await self._call("put", self._put, key, data, content_type)

    async def get(self, key: str) -> bytes:
        return await self._call("get", self._get, key)

    async def delete(self, key: str) -> None:
        await self._call("delete", self._client.remove_object, bucket_name=self.bucket, object_name=key)

    async def delete_prefix(self, prefix: str) -> int:
        return await self._call("delete", self._delete_prefix, prefix)

    async def list_keys(self, prefix: str, older_than: timedelta | None = None) -> list[str]:
        return await self._call("list", self._list_keys, prefix, older_than)

    async def ensure_bucket(self) -> None:
        await self._call("ensure_bucket", self._ensure_bucket)

    async def ping(self) -> None:
        if not await self._call("ping", self._client.bucket_exists, bucket_name=self.bucket):
            raise ObjectStoreUnavailableError(f"there is no bucket {self.bucket}")

    def _put(self, key: str, data: bytes, content_type: str) -> None:
        self._client.put_object(
            bucket_name=self.bucket,
            object_name=key,
            data=io.BytesIO(data),
            length=len(data),
            content_type=content_type,
            part_size=ONE_PART_BYTES,
        )

    def _get(self, key: str) -> bytes:
        response = self._client.get_object(bucket_name=self.bucket, object_name=key)
        try:
            return response.read()
        finally:
            response.close()
            response.release_conn()

    def _list_keys(self, prefix: str, older_than: timedelta | None = None) -> list[str]:
        found = self._client.list_objects(bucket_name=self.bucket, prefix=prefix, recursive=True)
        return sorted(
            entry.object_name
            for entry in found
            if entry.object_name and _is_older(entry.last_modified or datetime.now(UTC), older_than)
        )

    def _delete_prefix(self, prefix: str) -> int:
        keys = self._list_keys(prefix)
        for failure in self._client.remove_objects(
            bucket_name=self.bucket, delete_object_list=[DeleteObject(key) for key in keys]
        ):
            raise ObjectStoreUnavailableError(f"{failure.code}: {failure.message}")
        return len(keys)

    def _ensure_bucket(self) -> None:
        if not self._client.bucket_exists(bucket_name=self.bucket):
            self._client.make_bucket(bucket_name=self.bucket)

    async def _call(
        self,
        operation: str,
        function: Callable[Parameters, Answer],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Answer:
        began, outcome = time.monotonic(), "failed"
        try:
            work = functools.partial(function, *args, **kwargs)
            answer = await asyncio.get_running_loop().run_in_executor(self._threads, work)
            outcome = "ok"
            return answer
        except S3Error as error:
            if error.code == "NoSuchKey":
                outcome = "missing"
                raise ObjectMissingError(str(error.resource)) from error
            raise ObjectStoreUnavailableError(f"{error.code}: {error.message}") from error
        except (urllib3.exceptions.HTTPError, ServerError, InvalidResponseError) as error:
            raise ObjectStoreUnavailableError(str(error)) from error
        finally:
            self._on_call(operation, outcome, time.monotonic() - began)


def _is_older(written_at: datetime, age: timedelta | None) -> bool:
    return age is None or written_at <= datetime.now(UTC) - age


class MemoryObjectStore:
    """`ObjectStore` in a dictionary, for unit tests."""

    def __init__(self, bucket: str = "tryon") -> None:
        self.bucket = bucket
        self.objects: dict[str, tuple[bytes, str]] = {}
        self.written_at: dict[str, datetime] = {}

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        self.objects[key] = (data, content_type)
        self.written_at[key] = datetime.now(UTC)

    async def get(self, key: str) -> bytes:
        if key not in self.objects:
            raise ObjectMissingError(key)
        return self.objects[key][0]

    async def delete(self, key: str) -> None:
        self.objects.pop(key, None)

    async def delete_prefix(self, prefix: str) -> int:
        keys = await self.list_keys(prefix)
        for key in keys:
            del self.objects[key]
        return len(keys)

    async def list_keys(self, prefix: str, older_than: timedelta | None = None) -> list[str]:
        return sorted(
            key for key in self.objects if key.startswith(prefix) and _is_older(self.written_at[key], older_than)
        )

    async def ensure_bucket(self) -> None:
        pass

    async def ping(self) -> None:
        pass
