"""The client for programs that block, and the one for asyncio: the same operations, sent in two ways."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Literal, Self, TypeAlias, Unpack

import httpx

from tryon_client import calls
from tryon_client.answers import Job, JobStatus, ListedJob, PictureLink, Product, Result, Usage, Verdict
from tryon_client.calls import (
    ANSWER_SECONDS,
    Call,
    Category,
    Connection,
    Garments,
    Hints,
    JobFilter,
    Picture,
    ProductChanges,
    ProductFields,
)
from tryon_client.operations import MAX_RETRIES, PATIENCE_SECONDS, Operation, Operations, Value

PictureFormat: TypeAlias = Literal["jpeg", "png", "webp"]


class Runner:
    """Runs operations to their ends, over the caller's own client of httpx or over one that it makes."""

    def __init__(
        self, connection: Connection, http: httpx.Client | None, sleep: Callable[[float], None], operations: Operations
    ) -> None:
        self._connection = connection
        self._owns_http = http is None
        self._http = http or httpx.Client(**connection.client_options)
        self._sleep = sleep
        self.operations = operations

    def send(self, call: Call[Value]) -> Value:
        """Send a call and read its answer."""
        return self.run(self.operations.send(call))

    def run(self, operation: Operation[Value]) -> Value:
        """Do the steps of an operation."""
        answer: httpx.Response | httpx.RequestError | None = None
        while True:
            try:
                step = operation.send(answer)
            except StopIteration as done:
                value: Value = done.value
                return value
            answer = None
            if not isinstance(step, Call):
                self._sleep(step)
                continue
            try:
                answer = self._http.request(**self._connection.request(step))
            except httpx.RequestError as error:
                answer = error

    def close(self) -> None:
        """Close the client, unless it is the caller's own."""
        if self._owns_http:
            self._http.close()


class Products:
    """The account's registered garments."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def create(
        self,
        name: str,
        category: Category,
        image: Picture,
        **fields: Unpack[ProductFields],
    ) -> Product:
        """Register a garment; the service keeps its own copy of the pictures.

        With an ``external_id`` that is there already, that product is changed. Without one, a connection that breaks
        is not tried again: the garment might be registered twice.
        """
        call = calls.create_product({"name": name, "category": category, "image": image, **fields})
        return self._runner.send(call)

    def list(
        self, status: Literal["active", "archived", "all"] = "active", *, page_size: int | None = None
    ) -> Iterator[Product]:
        """Every product, newest first; the next page is fetched when it is needed."""
        cursor = None
        while True:
            products, cursor = self._runner.send(calls.list_products(status, page_size, cursor))
            yield from products
            if cursor is None:
                return

    def get(self, product_id: str) -> Product:
        """One product."""
        return self._runner.send(calls.get_product(product_id))

    def update(self, product_id: str, **changes: Unpack[ProductChanges]) -> Product:
        """Change what is given; ``None`` empties a field that may be empty."""
        return self._runner.send(calls.update_product(product_id, changes))

    def archive(self, product_id: str) -> None:
        """Take a product out of the catalogue."""
        self._runner.send(calls.archive_product(product_id))


class TryOnClient:
    """A client of the try-on service; threads may share it.

    Args:
        base_url: Where the service is; ``VTO_BASE_URL`` when not given.
        api_key: The account's key; ``VTO_API_KEY`` when not given.
        timeout: Seconds that one answer may take.
        max_retries: How often a request is sent again; while a job is waited for, the time alone counts.
        http: A client of httpx to use, for proxies or certificates of your own. It is not closed.
        sleep: How to wait.
        clock: Seconds that only ever grow.

    Raises:
        ValueError: No base URL or no key.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = ANSWER_SECONDS,
        max_retries: int = MAX_RETRIES,
        http: httpx.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        connection = Connection(base_url, api_key, timeout)
        self._runner = Runner(connection, http, sleep, Operations(max_retries, clock))
        self.products = Products(self._runner)

    def start(
        self,
        person: Picture,
        garments: Garments = None,
        *,
        idempotency_key: str | None = None,
        metadata: Mapping[str, str] | None = None,
        **hints: Unpack[Hints],
    ) -> Job:
        """Start a try-on and return at once.

        Args:
            person: The photo.
            garments: One garment or picture, or up to four for one look.
            idempotency_key: Yours, where a restart of your program must not start the job again.
            metadata: What you want to find the job by, such as an order's number; `jobs` looks for it.
            hints: The fields of `Garment`, for one garment.

        Raises:
            ValueError: A picture or the garments cannot be used; nothing was sent.
            TryOnError: The service refused, or could not be reached.
        """
        return self._runner.send(calls.start_try_on(person, garments, idempotency_key, metadata, **hints))

    def check(self, person: Picture, garments: Garments = None, **hints: Unpack[Hints]) -> Verdict:
        """Ask whether a try-on with these pictures can complete, and what to change; it is free and starts nothing.

        Args:
            person: The photo.
            garments: One garment or picture, or up to four for one look.
            hints: The fields of `Garment`, for one garment.

        Raises:
            ValueError: A picture or the garments cannot be used; nothing was sent.
            TryOnError: The service refused, or could not be reached.
        """
        return self._runner.send(calls.check_pictures(person, garments, **hints))

    def get(self, job_id: str, wait: int | None = None) -> JobStatus:
        """How the job stands; with ``wait``, the server holds the answer up to that many seconds until it has ended."""
        return self._runner.send(calls.poll(job_id, wait))

    def wait(self, job_id: str, timeout: float = PATIENCE_SECONDS) -> Result:
        """Poll until the job has ended.

        Raises:
            JobFailed: It ended without a picture.
            WaitTimeout: It has not ended after ``timeout`` seconds.
            TryOnError: It could not be asked for.
        """
        return self._runner.run(self._runner.operations.wait(job_id, timeout))

    def run_and_wait(
        self,
        person: Picture,
        garments: Garments = None,
        *,
        timeout: float = PATIENCE_SECONDS,
        idempotency_key: str | None = None,
        metadata: Mapping[str, str] | None = None,
        **hints: Unpack[Hints],
    ) -> Result:
        """`start` and `wait` in one, with ``timeout`` for both: where the request rate is used up, it waits to start.

        An error of the second half has the job's ``job_id``.
        """
        call = calls.start_try_on(person, garments, idempotency_key, metadata, **hints)
        return self._runner.run(self._runner.operations.run_and_wait(call, timeout))

    def jobs(self, *, page_size: int | None = None, **wanted: Unpack[JobFilter]) -> Iterator[ListedJob]:
        """The account's jobs, newest first; the next page is fetched when it is needed."""
        cursor = None
        while True:
            found, cursor = self._runner.send(calls.list_jobs(page_size, cursor, **wanted))
            yield from found
            if cursor is None:
                return

    def picture(self, job_id: str, picture_format: PictureFormat = "jpeg", *, size: int | None = None) -> bytes:
        """The picture of a completed job as a file; with ``size``, at most so many pixels on its longer side."""
        return self._runner.send(calls.get_picture(job_id, picture_format, size))

    def picture_link(self, job_id: str, seconds: int = 900) -> PictureLink:
        """An address of the picture for a browser, which works for 60 to 3600 seconds without a key."""
        return self._runner.send(calls.link_picture(job_id, seconds))

    def delete(self, job_id: str) -> None:
        """Delete a job and its picture."""
        self._runner.send(calls.delete_job(job_id))

    def usage(self) -> Usage:
        """What the account has used and may still use."""
        return self._runner.send(calls.get_usage())

    def close(self) -> None:
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncRunner:
    """`Runner` for asyncio."""

    def __init__(
        self,
        connection: Connection,
        http: httpx.AsyncClient | None,
        sleep: Callable[[float], Awaitable[None]],
        operations: Operations,
    ) -> None:
        self._connection = connection
        self._owns_http = http is None
        self._http = http or httpx.AsyncClient(**connection.client_options)
        self._sleep = sleep
        self.operations = operations

    async def send(self, call: Call[Value]) -> Value:
        """Send a call and read its answer."""
        return await self.run(self.operations.send(call))

    async def run(self, operation: Operation[Value]) -> Value:
        """Do the steps of an operation."""
        answer: httpx.Response | httpx.RequestError | None = None
        while True:
            try:
                step = operation.send(answer)
            except StopIteration as done:
                value: Value = done.value
                return value
            answer = None
            if not isinstance(step, Call):
                await self._sleep(step)
                continue
            try:
                answer = await self._http.request(**self._connection.request(step))
            except httpx.RequestError as error:
                answer = error

    async def close(self) -> None:
        """Close the client, unless it is the caller's own."""
        if self._owns_http:
            await self._http.aclose()


class AsyncProducts:
    """The account's registered garments."""

    def __init__(self, runner: AsyncRunner) -> None:
        self._runner = runner

    async def create(
        self,
        name: str,
        category: Category,
        image: Picture,
        **fields: Unpack[ProductFields],
    ) -> Product:
        """As `Products.create`."""
        given = {"name": name, "category": category, "image": image, **fields}
        call = await asyncio.to_thread(calls.create_product, given)
        return await self._runner.send(call)

    async def list(
        self, status: Literal["active", "archived", "all"] = "active", *, page_size: int | None = None
    ) -> AsyncIterator[Product]:
        """Every product, newest first; the next page is fetched when it is needed."""
        cursor = None
        while True:
            products, cursor = await self._runner.send(calls.list_products(status, page_size, cursor))
            for product in products:
                yield product
            if cursor is None:
                return

    async def get(self, product_id: str) -> Product:
        """One product."""
        return await self._runner.send(calls.get_product(product_id))

    async def update(self, product_id: str, **changes: Unpack[ProductChanges]) -> Product:
        """Change what is given; ``None`` empties a field that may be empty."""
        call = await asyncio.to_thread(calls.update_product, product_id, changes)
        return await self._runner.send(call)

    async def archive(self, product_id: str) -> None:
        """Take a product out of the catalogue."""
        await self._runner.send(calls.archive_product(product_id))


class AsyncTryOnClient:
    """A client of the try-on service; tasks may share it.

    Everything is as on `TryOnClient`, and awaited. Pictures are read and encoded in a thread.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = ANSWER_SECONDS,
        max_retries: int = MAX_RETRIES,
        http: httpx.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        connection = Connection(base_url, api_key, timeout)
        self._runner = AsyncRunner(connection, http, sleep, Operations(max_retries, clock))
        self.products = AsyncProducts(self._runner)

    async def start(
        self,
        person: Picture,
        garments: Garments = None,
        *,
        idempotency_key: str | None = None,
        metadata: Mapping[str, str] | None = None,
        **hints: Unpack[Hints],
    ) -> Job:
        """As `TryOnClient.start`."""
        call = await asyncio.to_thread(calls.start_try_on, person, garments, idempotency_key, metadata, **hints)
        return await self._runner.send(call)

    async def check(self, person: Picture, garments: Garments = None, **hints: Unpack[Hints]) -> Verdict:
        """As `TryOnClient.check`."""
        return await self._runner.send(await asyncio.to_thread(calls.check_pictures, person, garments, **hints))

    async def get(self, job_id: str, wait: int | None = None) -> JobStatus:
        """As `TryOnClient.get`."""
        return await self._runner.send(calls.poll(job_id, wait))

    async def wait(
        self,
        job_id: str,
        timeout: float = PATIENCE_SECONDS,  # noqa: ASYNC109 - no cancellation: it ends in WaitTimeout
    ) -> Result:
        """As `TryOnClient.wait`."""
        return await self._runner.run(self._runner.operations.wait(job_id, timeout))

    async def run_and_wait(
        self,
        person: Picture,
        garments: Garments = None,
        *,
        timeout: float = PATIENCE_SECONDS,  # noqa: ASYNC109 - no cancellation: it ends in WaitTimeout
        idempotency_key: str | None = None,
        metadata: Mapping[str, str] | None = None,
        **hints: Unpack[Hints],
    ) -> Result:
        """As `TryOnClient.run_and_wait`."""
        call = await asyncio.to_thread(calls.start_try_on, person, garments, idempotency_key, metadata, **hints)
        return await self._runner.run(self._runner.operations.run_and_wait(call, timeout))

    async def jobs(self, *, page_size: int | None = None, **wanted: Unpack[JobFilter]) -> AsyncIterator[ListedJob]:
        """The account's jobs, newest first; the next page is fetched when it is needed."""
        cursor = None
        while True:
            found, cursor = await self._runner.send(calls.list_jobs(page_size, cursor, **wanted))
            for job in found:
                yield job
            if cursor is None:
                return

    async def picture(self, job_id: str, picture_format: PictureFormat = "jpeg", *, size: int | None = None) -> bytes:
        """The picture of a completed job as a file; with ``size``, at most so many pixels on its longer side."""
        return await self._runner.send(calls.get_picture(job_id, picture_format, size))

    async def picture_link(self, job_id: str, seconds: int = 900) -> PictureLink:
        """An address of the picture for a browser, which works for 60 to 3600 seconds without a key."""
        return await self._runner.send(calls.link_picture(job_id, seconds))

    async def delete(self, job_id: str) -> None:
        """Delete a job and its picture."""
        await self._runner.send(calls.delete_job(job_id))

    async def usage(self) -> Usage:
        """What the account has used and may still use."""
        return await self._runner.send(calls.get_usage())

    async def close(self) -> None:
        await self._runner.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
