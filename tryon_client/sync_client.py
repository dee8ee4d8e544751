"""The client for programs that block."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, Unpack

import httpx

from tryon_client import calls
from tryon_client.answers import Job, JobStatus, Result, Usage
from tryon_client.connection import ANSWER_SECONDS, Connection
from tryon_client.garments import Garments, Hints
from tryon_client.operations import PATIENCE_SECONDS, Operations
from tryon_client.pictures import Picture
from tryon_client.retries import MAX_RETRIES, RetryPolicy
from tryon_client.sync_products import Products
from tryon_client.sync_runner import Runner


class TryOnClient:
    """A client of the try-on service; threads may share it.

    Args:
        base_url: Where the service is; ``VTO_BASE_URL`` when not given.
        api_key: The account's key; ``VTO_API_KEY`` when not given.
        timeout: Seconds that one answer may take.
        max_retries: How often a request is sent again.
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
        self._runner = Runner(Connection.resolve(base_url, api_key, timeout), http, sleep)
        self._operations = Operations(RetryPolicy(max_retries), clock)
        self.products = Products(self._runner, self._operations)

    def start(
        self,
        person: Picture,
        garments: Garments = None,
        *,
        idempotency_key: str | None = None,
        **hints: Unpack[Hints],
    ) -> Job:
        """Start a try-on and return at once.

        Args:
            person: The photo.
            garments: One garment or picture, or up to four for one look.
            idempotency_key: Yours, where a restart of your program must not start the job again.
            hints: The fields of `Garment`, for one garment.

        Raises:
            ValueError: A picture or the garments cannot be used; nothing was sent.
            TryOnError: The service refused, or could not be reached.
        """
        return self._runner.run(self._operations.start(calls.start_try_on(person, garments, idempotency_key, **hints)))

    def get(self, job_id: str, wait: int | None = None) -> JobStatus:
        """How the job stands; with ``wait``, the server holds the answer up to that many seconds until it has ended."""
        return self._runner.run(self._operations.get(job_id, wait))

    def wait(self, job_id: str, timeout: float = PATIENCE_SECONDS) -> Result:
        """Poll until the job has ended.

        Raises:
            JobFailed: It ended without a picture.
            WaitTimeout: It has not ended after ``timeout`` seconds.
            TryOnError: It could not be asked for.
        """
        return self._runner.run(self._operations.wait(job_id, timeout))

    def run_and_wait(
        self,
        person: Picture,
        garments: Garments = None,
        *,
        timeout: float = PATIENCE_SECONDS,
        idempotency_key: str | None = None,
        **hints: Unpack[Hints],
    ) -> Result:
        """`start` and `wait` in one; an error of the second half has the job's ``job_id``."""
        call = calls.start_try_on(person, garments, idempotency_key, **hints)
        return self._runner.run(self._operations.run_and_wait(call, timeout))

    def delete(self, job_id: str) -> None:
        """Delete a job and its picture."""
        self._runner.run(self._operations.delete_job(job_id))

    def usage(self) -> Usage:
        """What the account has used and may still use."""
        return self._runner.run(self._operations.usage())

    def close(self) -> None:
        self._runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
