"""Pictures at rest, in any S3."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import io
import itertools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ParamSpec, Protocol, TypeVar
from urllib.parse import urlsplit

import urllib3
from minio import Minio
from minio.deleteobjects import DeleteObject
from minio.error import InvalidResponseError, S3Error, ServerError
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.response import HTTPResponse

from runtime.settings import ObjectStoreSettings

ONE_PART_BYTES = 5 * 1024**3
"""The most that S3 takes in one request, so that every upload is one: of one in parts that breaks off, something stays
that no listing shows, and its threads go on when nobody waits any more."""

CONNECTIONS = 16  # requests under way at the same time in one process
AT_ONCE = 256 * 1024  # bytes read or sent between two looks at the time that is left
PING_KEY = "ping"  # always the same object, so that a process that dies leaves one at most

OnCall = Callable[[str, str, float], None]
"""Told of every call: operation, outcome (``ok``, ``missing``, ``failed``), seconds."""

PAGE = 1000  # keys in one answer of a store, and in one request to delete: S3 takes no more

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


class ObjectMissingError(Exception):
    """There is no object under that key."""


class ObjectStoreUnavailableError(Exception):
    """The store did not answer, or answered with a fault of its own; trying again later may help."""


class _Patience:
    """The time left for waiting for the store; simultaneous calls spend it once."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._calls = 0
        self._since = 0.0

    def left(self) -> float:
        return self._left - (time.monotonic() - self._since if self._calls else 0.0)

    @contextmanager
    def spent(self) -> Iterator[None]:
        if not self._calls:
            self._since = time.monotonic()
        self._calls += 1
        try:
            yield
        finally:
            left = self.left()
            self._calls -= 1
            if not self._calls:
                self._left = left


_PATIENCE: contextvars.ContextVar[_Patience | None] = contextvars.ContextVar("patience", default=None)


@contextmanager
def waiting_at_most(seconds: float) -> Iterator[None]:
    """Bound the time that all calls of the block together wait for the store, whatever the settings allow each.

    Once it is over, a call raises `ObjectStoreUnavailableError`, and its thread is free.
    """
    token = _PATIENCE.set(_Patience(seconds))
    try:
        yield
    finally:
        _PATIENCE.reset(token)


class _TimeLeft(urllib3.Timeout):
    """The settings' timeouts, or the rest of the block's time if that is less; asked for before each attempt."""

    def __init__(self, connect: float, read: float) -> None:
        super().__init__(connect=connect, read=read)
        self._each = connect, read

    def clone(self) -> urllib3.Timeout:
        left = _seconds_left(_PATIENCE.get())
        connect, read = (min(each, left) for each in self._each)
        return urllib3.Timeout(connect=connect, read=read)


def _pools(longest_silence: float) -> dict[str, type[HTTPConnectionPool]]:
    """Pools whose connections send in pieces, by scheme.

    A socket's timeout is for all that one call sends, and urllib3's is the one for connecting: an upload over a slow
    line would end after two seconds.
    """

    class InPieces(HTTPConnection):
        def send(self, data: Any) -> None:
            for place in range(0, len(data), AT_ONCE):
                silence = min(longest_silence, _seconds_left(_PATIENCE.get()))
                if self.sock is not None:  # else this connects
                    self.sock.settimeout(silence)
                super().send(data[place : place + AT_ONCE])

        def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # as urllib3's own
            silence = float("inf") if self.timeout is None else self.timeout
            self.timeout = min(silence, _seconds_left(_PATIENCE.get()))  # since it was set, time went into sending
            return super().getresponse()

    class InPiecesOverTls(InPieces, HTTPSConnection):
        pass

    class Pool(HTTPConnectionPool):
        ConnectionCls = InPieces

    class TlsPool(HTTPSConnectionPool):
        ConnectionCls = InPiecesOverTls

    return {"http": Pool, "https": TlsPool}


def _seconds_left(patience: _Patience | None) -> float:
    left = float("inf") if patience is None else patience.left()
    if left <= 0:
        raise ObjectStoreUnavailableError("no answer came in the time that there was")
    return left


@dataclass(frozen=True)
class StoredKey:
    """An object without what it holds."""

    key: str
    written_at: datetime


class ObjectStore(Protocol):
    """The object store as the service uses it. Every method may raise `ObjectStoreUnavailableError`."""

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
        """Delete every object whose key begins so, a page at a time, and say how many there were."""
        ...

    async def list_keys(self, prefix: str) -> list[str]:
        """Keys that begin so, in order."""
        ...

    async def list_page(self, prefix: str, *, after: str = "", limit: int = PAGE) -> list[StoredKey]:
        """The next keys that begin so, in order: those that come after ``after``, at most ``limit``."""
        ...

    async def list_folders(self, prefix: str) -> list[str]:
        """Names of the folders directly below ``prefix``, which ends with a slash; in order."""
        ...

    async def delete_keys(self, keys: Sequence[str]) -> None:
        """Delete these objects alone, at most `PAGE` of them; none of them need be there."""

    async def ensure_bucket(self) -> None:
        """Make the bucket if it is not there."""

    async def ping(self) -> None:
        """Raise if the bucket is not there, or takes nothing."""


class S3ObjectStore:
    """`ObjectStore` over the minio client, whose blocking calls run in threads."""

    def __init__(
        self, settings: ObjectStoreSettings, on_call: OnCall = lambda _operation, _outcome, _seconds: None
    ) -> None:
        self._on_call = on_call
        address = urlsplit(settings.endpoint)
        self.bucket = settings.bucket
        # The client's own pool retries for six seconds when refused and reads for five minutes.
        pools = urllib3.PoolManager(
            maxsize=CONNECTIONS,
            retries=urllib3.Retry(connect=1, read=1, redirect=0, backoff_factor=0.1),
            timeout=_TimeLeft(connect=settings.connect_timeout_seconds, read=settings.read_timeout_seconds),
        )
        pools.pool_classes_by_scheme = _pools(settings.read_timeout_seconds)
        # Threads of its own: a store that stalls must not take those that decode pictures.
        self._threads = ThreadPoolExecutor(CONNECTIONS, "object-store")
        self._client = Minio(
            address.netloc,
            access_key=settings.access_key,
            secret_key=settings.secret(),
            region=settings.region,
            secure=address.scheme == "https",
            http_client=pools,
        )

    async def put(self, key: str, data: bytes, content_type: str) -> None:
        await self._call("put", self._put, key, data, content_type)

    async def get(self, key: str) -> bytes:
        return await self._call("get", self._get, key)

    async def delete(self, key: str) -> None:
        await self._call("delete", self._client.remove_object, bucket_name=self.bucket, object_name=key)

    async def delete_prefix(self, prefix: str) -> int:
        deleted = 0
        while page := await self.list_page(prefix):
            await self.delete_keys([each.key for each in page])
            deleted += len(page)
            if len(page) < PAGE:
                break
        return deleted

    async def list_keys(self, prefix: str) -> list[str]:
        return [each.key for each in await self.list_page(prefix, limit=sys.maxsize)]

    async def list_page(self, prefix: str, *, after: str = "", limit: int = PAGE) -> list[StoredKey]:
        return await self._call("list", self._list_page, prefix, after, limit)

    async def list_folders(self, prefix: str) -> list[str]:
        return await self._call("list", self._list_folders, prefix)

    async def delete_keys(self, keys: Sequence[str]) -> None:
        if keys:
            await self._call("delete", self._delete_keys, keys)

    async def ensure_bucket(self) -> None:
        await self._call("ensure_bucket", self._ensure_bucket)

    async def ping(self) -> None:
        await self._call("ping", self._ping)

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
        response, pieces = self._client.get_object(bucket_name=self.bucket, object_name=key), []
        try:
            # The timeout of a connection is for each silence, and a store may trickle.
            while piece := response.read1(AT_ONCE):
                pieces.append(piece)
                _seconds_left(_PATIENCE.get())
            return b"".join(pieces)
        finally:
            response.close()
            response.release_conn()

    def _list_page(self, prefix: str, after: str, limit: int) -> list[StoredKey]:
        # The client asks for the next thousand when they are wanted.
        found = self._client.list_objects(
            bucket_name=self.bucket, prefix=prefix, recursive=True, start_after=after or None
        )
        return [
            StoredKey(entry.object_name, entry.last_modified or datetime.now(UTC))
            for entry in itertools.islice(found, limit)
            if entry.object_name
        ]

    def _list_folders(self, prefix: str) -> list[str]:
        found = self._client.list_objects(bucket_name=self.bucket, prefix=prefix)
        names = (entry.object_name for entry in found if entry.is_dir)
        return sorted(name.removeprefix(prefix).rstrip("/") for name in names if name)

    def _delete_keys(self, keys: Sequence[str]) -> None:
        for failure in self._client.remove_objects(
            bucket_name=self.bucket, delete_object_list=[DeleteObject(key) for key in keys]
        ):
            raise ObjectStoreUnavailableError(f"{failure.code}: {failure.message}")

    def _ping(self) -> None:
        # Asked first: some stores make a bucket that something is put into.
        if not self._client.bucket_exists(bucket_name=self.bucket):
            raise ObjectStoreUnavailableError(f"there is no bucket {self.bucket}")
        self._put(PING_KEY, b"ping", "text/plain")
        self._client.remove_object(bucket_name=self.bucket, object_name=PING_KEY)

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
        began, outcome, patience = time.monotonic(), "failed", _PATIENCE.get()
        try:
            left = _seconds_left(patience)
            work = functools.partial(contextvars.copy_context().run, function, *args, **kwargs)
            answer = asyncio.get_running_loop().run_in_executor(self._threads, work)
            if patience is None:
                found = await answer
            else:
                with patience.spent():
                    found = await asyncio.wait_for(answer, left)
            outcome = "ok"
            return found
        except S3Error as error:
            if error.code == "NoSuchKey":
                outcome = "missing"
                raise ObjectMissingError(str(error.resource)) from error
            raise ObjectStoreUnavailableError(f"{error.code}: {error.message}") from error
        except (urllib3.exceptions.HTTPError, ServerError, InvalidResponseError, TimeoutError) as error:
            raise ObjectStoreUnavailableError(str(error) or "no answer came in the time that there was") from error
        finally:
            self._on_call(operation, outcome, time.monotonic() - began)
