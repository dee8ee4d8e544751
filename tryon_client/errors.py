"""What can go wrong, as types: a program decides by class and ``code``, and shows ``sentence`` to people."""

from __future__ import annotations

import httpx

from tryon_client.headers import retry_after_seconds

DAILY_CAP_REACHED = "daily_cap_reached"
IDEMPOTENCY_IN_PROGRESS = "idempotency_in_progress"
RATE_LIMITED = "rate_limited"


class TryOnError(Exception):
    """Anything this client raises once it talks to the service.

    Attributes:
        job_id: The job that was being waited for, where there was one. It may still be running: wait for it again
            rather than starting another.
    """

    job_id: str | None = None


class TryOnApiError(TryOnError):
    """The service answered and said no.

    Attributes:
        status: HTTP status.
        code: The service's own code (``X-Error-Code``), or ``None`` where something in between answered. Codes that
            this client has never heard of are as good as any.
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
    """400, 413, 422: the request or one of its pictures cannot be used."""


class AuthenticationFailed(TryOnApiError):
    """401: the API key is missing, wrong or revoked."""


class PaymentRequired(TryOnApiError):
    """402: the trial is over, or the included volume and all top-ups are used up."""


class AccountBlocked(TryOnApiError):
    """403."""


class NotFound(TryOnApiError):
    """404: no such job or product, or none any more."""


class Conflict(TryOnApiError):
    """409: what is there stands in the way, such as another product with the same ``external_id``."""


class IdempotencyConflict(Conflict):
    """409 as well: a request with the same ``Idempotency-Key`` is being accepted at this moment."""


class RateLimited(TryOnApiError):
    """429: too many requests in a short time."""


class DailyCapReached(TryOnApiError):
    """429 as well, but the day's generations are used up: nothing helps before 00:00 UTC."""


class ServiceUnavailable(TryOnApiError):
    """5xx: the service, or something in front of it, is in trouble."""


class UnexpectedAnswer(TryOnApiError):
    """A success that does not read as the API describes it; most likely the base URL leads elsewhere."""


class ConnectionFailed(TryOnError):
    """No answer came back; the cause is the error of httpx."""


class JobFailed(TryOnError):
    """The job ended without a picture, and without being billed.

    Attributes:
        sentence: Why, for the shopper.
    """

    job_id: str

    def __init__(self, job_id: str, sentence: str) -> None:
        super().__init__(job_id, sentence)
        self.job_id = job_id
        self.sentence = sentence

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


BY_CODE: dict[tuple[int, str | None], type[TryOnApiError]] = {
    (409, IDEMPOTENCY_IN_PROGRESS): IdempotencyConflict,
    (429, DAILY_CAP_REACHED): DailyCapReached,
}

BY_STATUS: dict[int, type[TryOnApiError]] = {
    400: InvalidRequest,
    401: AuthenticationFailed,
    402: PaymentRequired,
    403: AccountBlocked,
    404: NotFound,
    409: Conflict,
    413: InvalidRequest,
    422: InvalidRequest,
    429: RateLimited,
}


def api_error(response: httpx.Response) -> TryOnApiError:
    """The error that an answer stands for."""
    status, code = response.status_code, response.headers.get("X-Error-Code")
    kind = BY_CODE.get((status, code)) or BY_STATUS.get(status)
    kind = kind or (ServiceUnavailable if status >= 500 else TryOnApiError)
    return kind(
        status,
        code,
        _sentence(response),
        response.headers.get("X-Request-Id"),
        retry_after_seconds(response.headers),
    )


def unexpected(response: httpx.Response) -> UnexpectedAnswer:
    """The error for a success whose body makes no sense."""
    sentence = "The answer does not read as the API describes it."
    return UnexpectedAnswer(response.status_code, None, sentence, response.headers.get("X-Request-Id"))


def _sentence(response: httpx.Response) -> str:
    """The body's ``error``; a proxy's page has none."""
    try:
        body = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict) and isinstance(body.get("error"), str):
        sentence: str = body["error"]
        return sentence
    return f"The answer had the status {response.status_code} and no explanation."
