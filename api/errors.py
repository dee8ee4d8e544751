"""The one way from an error to its answer: a page for people, ``{error}`` with a code in a header for programs."""

from __future__ import annotations

from collections.abc import Mapping

import structlog
from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as ConnectionPoolTimeoutError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from api.dashboard.rendering import page, wants_json
from api.json_body import refusal
from api.routes import CALL, Call, call_of, is_page
from domain.errors import TryOnError
from imaging.errors import ImageError
from runtime.object_store import ObjectStoreUnavailableError

BUSY_RETRY_SECONDS = 2

HEADINGS = {
    400: "That did not work",
    403: "That is not allowed",
    404: "Page not found",
    413: "That is too large",
    429: "Too many requests",
    503: "Not available right now",
}

TOO_LARGE = "The upload is too large. Choose smaller files and try again."


class PageRefused(Exception):
    """A request for a page that is turned down, with a sentence for the visitor."""

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        self.status = status
        self.sentence = sentence
        self.headers = dict(headers or {})
        super().__init__(sentence)


EXPECTED = (
    PageRefused,
    TryOnError,
    ImageError,
    ObjectStoreUnavailableError,
    DBAPIError,
    ConnectionPoolTimeoutError,
    OSError,
)
"""Refusals, and other parts being away; anything else is a fault in the code."""

log = structlog.get_logger(__name__)


def answer_to(request: Request, error: Exception) -> Response:
    """The answer for whatever was raised; faults of ours are logged."""
    if isinstance(error, PageRefused):
        return _refusal_page(request, error)
    known = as_tryon_error(error)
    status, too_large = known.entry.status or 422, known.code == "body_too_large"
    if status >= 500:
        log.error("request failed", code=known.code, exc_info=error)
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    if "Allow" in headers:  # the router names the methods of the first route of this path alone
        headers["Allow"] = call_of(request.scope).route.allow or headers["Allow"]
    call: Call | None = request.scope["state"].get(CALL)  # the body's middleware stands without it, too
    in_its_shape = call.route.policy(request.method).refused if call else None
    if in_its_shape is not None:
        answer = in_its_shape(known)
        answer.headers.update(headers)
        return answer
    if not is_page(request.scope) or (wants_json(request) and known.entry.status is not None and not too_large):
        return error_response(known, headers)
    if known.retry_after is not None:
        headers["Retry-After"] = str(known.retry_after)
    return _refusal_page(request, PageRefused(status, TOO_LARGE if too_large else known.sentence, headers))


def _refusal_page(request: Request, refused: PageRefused) -> Response:
    if wants_json(request):
        return JSONResponse({"error": refused.sentence}, refused.status, headers=refused.headers)
    heading = HEADINGS.get(refused.status, HEADINGS[400] if refused.status < 500 else "Something went wrong")
    answer = page(request, "error.html", refused.status, heading=heading, sentence=refused.sentence)
    answer.headers.update(refused.headers)
    return answer


def error_response(error: TryOnError, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The answer for a program.

    Raises:
        ValueError: The code is for jobs only and has no HTTP status.
    """
    if error.entry.status is None:
        raise ValueError(f"{error.code} has no HTTP status")
    extra = {"X-Error-Code": error.code, **(headers or {})}
    retry_after = error.retry_after or (BUSY_RETRY_SECONDS if error.entry.status == 503 else None)
    if retry_after is not None:
        extra.setdefault("Retry-After", str(retry_after))
    if error.code == "unauthorized":
        extra["WWW-Authenticate"] = "Bearer"
    return JSONResponse({"error": error.sentence}, error.entry.status, headers=extra)


def as_tryon_error(error: Exception) -> TryOnError:
    """The catalogue's entry for whatever was raised."""
    match error:
        case TryOnError():
            return error
        case RequestValidationError():
            # The first part of a location is where the value was: query or path.
            return refusal([{**complaint, "loc": complaint["loc"][1:]} for complaint in error.errors()])
        case ImageError():
            return TryOnError("busy" if error.retryable else error.code)
        case ConnectionPoolTimeoutError():
            return TryOnError("busy")
        case ObjectStoreUnavailableError() | DBAPIError() | OSError():
            return TryOnError("storage_unavailable")
        case HTTPException(status_code=404):
            return TryOnError("route_not_found")
        case HTTPException(status_code=405):
            return TryOnError("method_not_allowed")
        case _:
            return TryOnError("internal")
