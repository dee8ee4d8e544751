"""From any exception to ``{error}`` with the right status; the machine-readable code goes into a header."""

from __future__ import annotations

from collections.abc import Mapping

import structlog
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as ConnectionPoolTimeoutError
from starlette.exceptions import HTTPException

from api.json_body import refusal
from domain.errors import TryOnError
from imaging.errors import ImageError
from runtime.object_store import ObjectStoreUnavailableError

BUSY_RETRY_SECONDS = 2

EXPECTED = (
    TryOnError,
    ImageError,
    ObjectStoreUnavailableError,
    DBAPIError,
    ConnectionPoolTimeoutError,
    OSError,
)
"""Refusals, and other parts being away; anything else is a fault in the code."""

log = structlog.get_logger(__name__)


def error_response(error: TryOnError, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The answer for a refusal.

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
            return TryOnError(error.code)
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


def answer_to(error: Exception, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """The answer for whatever was raised; faults of ours are logged."""
    answer = as_tryon_error(error)
    if answer.entry.status is not None and answer.entry.status >= 500:
        log.error("request failed", code=answer.code, exc_info=error)
    return error_response(answer, headers)
