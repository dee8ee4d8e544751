"""From any exception to a page that says what to do, or to ``{error}`` where a script has asked."""

from __future__ import annotations

from collections.abc import Mapping

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.responses import Response

from api.dashboard.rendering import page
from api.errors import EXPECTED, as_tryon_error, error_response

HEADINGS = {
    400: "That did not work",
    403: "That is not allowed",
    404: "Page not found",
    413: "That is too large",
    429: "Too many requests",
    503: "Not available right now",
}

log = structlog.get_logger(__name__)


class PageRefused(Exception):
    """A request for a page that is turned down.

    Attributes:
        status: Of the answer.
        sentence: For the visitor.
    """

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        self.status = status
        self.sentence = sentence
        self.headers = dict(headers or {})
        super().__init__(sentence)


def wants_json(request: Request) -> bool:
    """Whether a script has asked, not a person."""
    return request.headers.get("Accept", "").startswith("application/json")


def refusal_page(request: Request, error: Exception) -> Response:
    """The answer for whatever was raised; faults of ours are logged."""
    if isinstance(error, PageRefused):
        if wants_json(request):
            return JSONResponse({"error": error.sentence}, error.status, headers=error.headers)
        return _error_page(request, error.status, error.sentence, error.headers)
    known = as_tryon_error(error)
    status = known.entry.status or 422
    if status >= 500:
        log.error("page failed", code=known.code, exc_info=error)
    if wants_json(request):
        return error_response(known) if known.entry.status else JSONResponse({"error": known.sentence}, status)
    headers = {} if known.retry_after is None else {"Retry-After": str(known.retry_after)}
    return _error_page(request, status, known.sentence, headers)


def _error_page(request: Request, status: int, sentence: str, headers: Mapping[str, str]) -> Response:
    heading = HEADINGS.get(status, HEADINGS[400] if status < 500 else "Something went wrong")
    answer = page(request, "error.html", status, heading=heading, sentence=sentence)
    answer.headers.update(headers)
    return answer


async def _handle(request: Request, error: Exception) -> Response:
    return refusal_page(request, error)


def register_refusals(app: FastAPI) -> None:
    """Send every expected exception through `refusal_page`; unexpected ones end in `api.dashboard.door`."""
    for kind in (PageRefused, *EXPECTED, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, _handle)
