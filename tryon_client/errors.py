"""What can go wrong, as types: a program decides by class and ``code``, and shows ``sentence`` to people."""

from __future__ import annotations


class TryOnError(Exception):
    """Anything this client raises once it talks to the service.

    Attributes:
        job_id: The job that was waited for, if there was one. It may still be running: wait for it again instead of
            starting another.
        idempotency_key: The ``Idempotency-Key`` of the request that failed, if it had one. Whether it was accepted may
            be unknown: the same try-on, asked for under this key, never starts or bills a second job.
    """

    job_id: str | None = None
    idempotency_key: str | None = None


class TryOnApiError(TryOnError):
    """The service refused the request.

    Attributes:
        status: HTTP status.
        code: The service's own code (``X-Error-Code``), or ``None`` if something in between answered. It may be
            one that this client does not know.
        sentence: For people.
        request_id: What the service's log calls this request, if it said so.
        retry_after: Seconds until another try makes sense, if the service said so.
    """

    def __init__(
        self,
        status: int,
        code: str | None,
        sentence: str,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        # All of them go to the base class, so that the error survives pickling.
        super().__init__(status, code, sentence, request_id, retry_after)
        self.status = status
        self.code = code
        self.sentence = sentence
        self.request_id = request_id
        self.retry_after = retry_after

    def __str__(self) -> str:
        known = {"status": self.status, "code": self.code, "request": self.request_id}
        return f"{self.sentence} ({', '.join(f'{name} {value}' for name, value in known.items() if value is not None)})"


class InvalidRequest(TryOnApiError):
    """400, 408, 413, 422, 431: the request or one of its pictures cannot be used, or did not arrive whole."""


class AuthenticationFailed(TryOnApiError):
    """401: the API key is missing, wrong or revoked."""


class PaymentRequired(TryOnApiError):
    """402: the trial is over, or the included volume and all top-ups are used up."""


class NotAllowed(TryOnApiError):
    """403: the API key may not do this. Its ``code`` says what is missing, such as ``key_scope_missing``."""


class AccountBlocked(NotAllowed):
    """403 as well: the account is blocked."""


class NotFound(TryOnApiError):
    """404: no such job or product, or none any more."""


class Conflict(TryOnApiError):
    """409: something that exists is in the way, such as another product with the same ``external_id``."""


class IdempotencyConflict(Conflict):
    """409 as well: a request with the same ``Idempotency-Key`` is being accepted at this moment."""


class RateLimited(TryOnApiError):
    """429: too many requests in a short time."""


class DailyCapReached(TryOnApiError):
    """429 as well, but the day's try-ons are used up: nothing helps before 00:00 UTC."""


class ServiceUnavailable(TryOnApiError):
    """5xx: the service, or something in front of it, is in trouble."""


class UnexpectedAnswer(TryOnApiError):
    """A 2xx answer that the API does not describe; most likely the base URL leads elsewhere."""


class ConnectionFailed(TryOnError):
    """No answer came back; the cause is the error of httpx."""


class JobFailed(TryOnError):
    """The job ended without a picture, and without being billed.

    Attributes:
        sentence: Why, for the shopper.
        code: The service's own code for it (``X-Error-Code``), or ``None`` if the answer had none.
    """

    job_id: str

    def __init__(self, job_id: str, sentence: str, code: str | None = None) -> None:
        super().__init__(job_id, sentence, code)
        self.job_id = job_id
        self.sentence = sentence
        self.code = code

    def __str__(self) -> str:
        return f"{self.sentence} (job {self.job_id})"


class WaitTimeout(TryOnError):
    """The job was still in progress when the caller's patience ended; it goes on.

    Attributes:
        seconds: How long the caller was ready to wait.
    """

    job_id: str

    def __init__(self, job_id: str, seconds: float) -> None:
        super().__init__(job_id, seconds)
        self.job_id = job_id
        self.seconds = seconds

    def __str__(self) -> str:
        return f"job {self.job_id} was still in progress after {self.seconds:g} s"
