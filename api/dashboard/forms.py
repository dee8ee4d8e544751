"""What a page sends, and what it says when that is refused.

This is the one way in for every POST, which asks each of them for its token. The token shows that the form was served
to this very browser. It stands behind what `api.dashboard.admission` asks of the headers, for browsers that do not send
those. A refusal is a page that says what to do, or ``{error}`` where a script has asked.
"""

from __future__ import annotations

import hmac
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

import structlog
from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic.alias_generators import to_camel
from python_multipart.exceptions import MultipartParseError
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.responses import Response

from api.body_limit import body_of
from api.dashboard.rendering import page
from api.dashboard.visitor import form_token_of, possible_visitor
from api.errors import as_tryon_error, error_response
from api.tryon.schemas import GarmentFields
from engines.hints import GarmentHints, ProductHints


def _rule(schema: dict[str, Any]) -> dict[str, Any]:
    said = schema.get("anyOf", [schema])[0]
    choices = [(value, value.replace("_", " ").capitalize()) for value in said.get("enum", ())]
    return {"choices": choices, "longest": said.get("maxLength")}


RULES = {name: _rule(schema) for name, schema in GarmentFields.model_json_schema()["properties"].items()}
"""What the API takes in each field of a garment: one of some values, each with its label, or a text so long."""

CATEGORIES: dict[str, str] = dict(RULES["category"]["choices"])
"""The parts of the body, with their labels."""

PRODUCT_HINTS = [to_camel(name) for name in ProductHints.model_fields]
HINTS = [to_camel(name) for name in GarmentHints.model_fields]

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


TOKEN_FIELD, TOKEN_HEADER = "form_token", "X-Form-Token"  # their names, not their values

MOST_FIELDS = 200

LONGEST_PART = 100 * 1024 * 1024
"""Bytes of one part; the body's own cap is lower everywhere else."""

STALE = (
    "This page was open for too long, or your browser did not keep its cookie, as browsers do not over http:// from "
    "another machine. Open the page again and repeat what you did."
)

OLD_PAGE = "You have signed in again since this page was opened. Reload it and repeat the last step."


@dataclass(frozen=True)
class Upload:
    """A file that came with a form.

    Attributes:
        filename: What the browser calls it; for people only.
    """

    filename: str
    data: bytes = field(repr=False)


@dataclass
class Form:
    """The fields of a form. What is not there reads as empty."""

    _texts: dict[str, list[str]] = field(default_factory=dict)
    _files: dict[str, list[Upload]] = field(default_factory=dict)

    def text(self, name: str) -> str:
        """A field without the space around it."""
        return self.exact(name).strip()

    def exact(self, name: str) -> str:
        """A field to the letter, as passwords need it."""
        return next(iter(self._texts.get(name, ())), "")

    def file(self, name: str) -> Upload | None:
        """A file, if one was chosen."""
        return next(iter(self._files.get(name, ())), None)

    def __contains__(self, name: str) -> bool:
        return name in self._texts or name in self._files

    def add(self, name: str, value: str | Upload) -> None:
        """Add a field; an empty file stands for none.

        Raises:
            ValueError: There is a null character in it.
        """
        if "\0" in name or (isinstance(value, str) and "\0" in value):
            raise ValueError("a null character")  # which PostgreSQL takes nowhere, and no browser sends
        if isinstance(value, str):
            self._texts.setdefault(name, []).append(value)
        elif value.data:
            self._files.setdefault(name, []).append(value)


async def read_form(request: Request) -> Form:
    """Read the body, and refuse one that did not come from a page that was served to this browser.

    Raises:
        PageRefused: It has no token or another one, or cannot be read.
    """
    body, media_type = body_of(request), request.headers.get("Content-Type", "")
    try:
        form = await _multipart(request, body) if media_type.startswith("multipart/form-data") else _urlencoded(body)
    except (ValueError, MultiPartException, MultipartParseError):
        raise PageRefused(400, "The form could not be read. Go back and try again.") from None
    check_token(request, form.exact(TOKEN_FIELD))
    return form


def check_token(request: Request, sent: str = "") -> None:
    """Refuse a request that carries the token neither in its form nor in its header.

    Raises:
        PageRefused: Another token, or none.
    """
    offered = request.headers.get(TOKEN_HEADER) or sent
    if not hmac.compare_digest(offered.encode(), form_token_of(request).encode()):
        raise PageRefused(403, STALE if possible_visitor(request) is None else OLD_PAGE)


def _urlencoded(body: bytes) -> Form:
    form = Form()
    for name, value in parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS):
        form.add(name, value)
    return form


async def _multipart(request: Request, body: bytes) -> Form:
    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    parser = MultiPartParser(
        request.headers, stream(), max_files=MOST_FIELDS, max_fields=MOST_FIELDS, max_part_size=LONGEST_PART
    )
    # What was read stays in memory, where the body is already: a person's photo has no business on this disk.
    parser.spool_max_size = LONGEST_PART
    form, parsed = Form(), await parser.parse()
    try:
        for name, value in parsed.multi_items():
            form.add(name, Upload(value.filename or "", await value.read()) if isinstance(value, UploadFile) else value)
    finally:
        await parsed.close()
    return form
