"""The client for asyncio."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, Unpack

import httpx

from tryon_client import calls
from tryon_client.answers import Job, JobStatus, Result, Usage
from tryon_client.async_products import AsyncProducts
from tryon_client.async_runner import AsyncRunner
from tryon_client.connection import ANSWER_SECONDS, Connection
from tryon_client.garments import Garments, Hints
from tryon_client.operations import PATIENCE_SECONDS, Operations
from tryon_client.pictures import Picture
from tryon_client.retries import MAX_RETRIES, RetryPolicy


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
        self._runner = AsyncRunner(Connection.resolve(base_url, api_key, timeout), http, sleep)
        self._operations = Operations(RetryPolicy(max_retries), clock)
        self.products = AsyncProducts(self._runner, self._operations)

    async def start(
        self,
        person: Picture,
        garments: Garments = None,
        *,
        idempotency_key: str | None = None,
        **hints: Unpack[Hints],
    ) -> Job:
        """As `TryOnClient.start`."""
        call = await asyncio.to_thread(calls.start_try_on, person, garments, idempotency_key, **hints)
        return await self._runner.run(self._operations.start(call))

    async def get(self, job_id: str, wait: int | None = None) -> JobStatus:
        """As `TryOnClient.get`."""
        return await self._runner.run(self._operations.get(job_id, wait))

    async def wait(
        self,
        job_id: str,
        timeout: float = PATIENCE_SECONDS,  # noqa: ASYNC109 - no cancellation: it ends in WaitTimeout
    ) -> Result:
        """As `TryOnClient.wait`."""
        return await self._runner.run(self._operations.wait(job_id, timeout))

    async def run_and_wait(
        self,
        person: Picture,
        garments: Garments = None,
        *,
        timeout: float = PATIENCE_SECONDS,  # noqa: ASYNC109 - no cancellation: it ends in WaitTimeout
        idempotency_key: str | None = None,
        **hints: Unpack[Hints],
    ) -> Result:
        """As `TryOnClient.run_and_wait`."""
        call = await asyncio.to_thread(calls.start_try_on, person, garments, idempotency_key, **hints)
        return await self._runner.run(self._operations.run_and_wait(call, timeout))

    async def delete(self, job_id: str) -> None:
        """Delete a job and its picture."""
        await self._runner.run(self._operations.delete_job(job_id))

    async def usage(self) -> Usage:
        """What the account has used and may still use."""
        return await self._runner.run(self._operations.usage())

    async def close(self) -> None:
        await self._runner.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
