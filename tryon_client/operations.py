"""What the client does, without doing any of it: generators that hand out calls and take in answers.

Both clients run the same generators. One gives a `Call` at a time, and is sent its answer or thrown the transport's
error; pausing before a call is the runner's part too. Nothing here sleeps, connects or awaits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import TypeAlias, TypeVar

import httpx

from tryon_client import answers, calls
from tryon_client.answers import COMPLETED, FAILED, Job, JobStatus, Product, ProductPage, Result, Usage
from tryon_client.calls import Call
from tryon_client.errors import (
    ConnectionFailed,
    JobFailed,
    RateLimited,
    TryOnApiError,
    TryOnError,
    WaitTimeout,
    api_error,
    unexpected,
)
from tryon_client.pace import Pace, asked_pause
from tryon_client.retries import RetryPolicy

Value = TypeVar("Value")
Operation: TypeAlias = Generator[Call, httpx.Response, Value]

LONGEST_HOLD_SECONDS = 25
"""How long a poll asks the server to hold it: below the 30 that the API allows, and what proxies put up with."""

PATIENCE_SECONDS = 600.0
"""How long a caller waits who does not say: as long as the service lets a look of several garments take."""


class Operations:
    """The operations of one client.

    Args:
        retries: How patient it is with one request.
        clock: Seconds that only ever grow.
    """

    def __init__(self, retries: RetryPolicy, clock: Callable[[], float]) -> None:
        self._retries = retries
        self._clock = clock
        self._pace = Pace()

    def start(self, call: Call) -> Operation[Job]:
        """Start the job that the call describes."""
        return answers.read_job((yield from self._send(call)))

    def get(self, job_id: str, wait: int | None) -> Operation[JobStatus]:
        """Poll once."""
        return answers.read_status((yield from self._send(calls.poll(job_id, wait))), job_id)

    def wait(self, job_id: str, timeout: float) -> Operation[Result]:
        """Poll until the job has ended.

        Raises:
            JobFailed: It ended without a picture.
            WaitTimeout: It did not end in time.
            TryOnError: It could not be asked for, though retries were made.
        """
        try:
            return (yield from self._wait(job_id, timeout))
        except TryOnError as error:
            error.job_id = job_id
            raise

    def run_and_wait(self, call: Call, timeout: float) -> Operation[Result]:
        """Start a job and poll until it has ended."""
        job = yield from self.start(call)
        return (yield from self.wait(job.job_id, timeout))

    def delete_job(self, job_id: str) -> Operation[None]:
        """Delete a job and its picture."""
        yield from self._send(calls.delete_job(job_id))

    def usage(self) -> Operation[Usage]:
        """What the account has used."""
        return answers.read_usage((yield from self._send(calls.get_usage())))

    def product(self, call: Call) -> Operation[Product]:
        """Any call whose answer is one product."""
        return answers.read_product((yield from self._send(call)))

    def product_page(self, call: Call) -> Operation[ProductPage]:
        """One page of the catalogue."""
        return answers.read_product_page((yield from self._send(call)))

    def archive_product(self, product_id: str) -> Operation[None]:
        """Take a product out of the catalogue."""
        yield from self._send(calls.archive_product(product_id))

    def _wait(self, job_id: str, timeout: float) -> Operation[Result]:
        deadline = self._clock() + timeout
        at_least, first = 0.0, True
        while True:
            now = self._clock()
            left = deadline - now
            # One more held poll fits in; where polls are not held, the rest is halved and halved again.
            at_most = max(left - LONGEST_HOLD_SECONDS, left / 2)
            pause = self._pace.pause(now, at_least=at_least, at_most=at_most, first=first)
            sent_at = now + pause
            if sent_at >= deadline and (pause or not first):
                raise WaitTimeout(job_id, timeout)
            first = False
            hold = max(0, min(LONGEST_HOLD_SECONDS, int(deadline - sent_at)))
            try:
                response = yield from self._send(calls.poll(job_id, hold, pause), deadline)
            except RateLimited as error:
                # The job runs on, and the caller said how long to be patient.
                if error.retry_after is None or self._clock() + error.retry_after >= deadline:
                    raise
                at_least = error.retry_after
                continue
            status = answers.read_status(response, job_id)
            if status.status == COMPLETED and status.image is not None and status.generation_ms is not None:
                return Result(job_id, status.image, status.generation_ms)
            if status.status == FAILED:
                raise JobFailed(job_id, status.error or "")
            at_least = asked_pause(response.headers, self._clock() - sent_at)

    def _send(self, call: Call, deadline: float | None = None) -> Operation[httpx.Response]:
        """Send a call, and send it again where that may help, though not beyond the deadline.

        Returns:
            An answer with a 2xx status.
        """
        retries = 0
        while True:
            failure: TryOnApiError | ConnectionFailed
            try:
                response = yield call
            except httpx.RequestError as error:
                failure = ConnectionFailed(f"{call.method} {call.path}: {error or type(error).__name__}")
                failure.__cause__ = error
            else:
                if call.paced:
                    self._pace.note(response.headers, self._clock())
                # Missing what an earlier try, whose answer was lost, has deleted.
                deleted_before = (
                    call.method == "DELETE" and retries > 0 and response.status_code == httpx.codes.NOT_FOUND
                )
                if response.is_success or deleted_before:
                    return response
                failure = api_error(response) if response.is_error else unexpected(response)
            delay = self._retries.delay(call, failure, retries)
            if delay is None or (deadline is not None and self._clock() + delay >= deadline):
                raise failure
            retries += 1
            call = replace(call, pause=delay)
