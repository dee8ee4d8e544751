"""Answers as routes describe them: refusals by their codes of the catalogue, and what comes with a success."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from api.openapi.headers import DESCRIPTIONS, optional_header, required_header
from domain.errors import CATALOGUE
from imaging.errors import ImageErrorCode

Answers: TypeAlias = dict[int | str, dict[str, Any]]
"""The ``responses`` argument of a route."""

GATE = ("unauthorized", "account_blocked", "rate_limited", "busy", "storage_unavailable", "internal")
"""What any call under ``/api/`` may meet, whatever it asks for."""

SENDING = ("body_incomplete", "body_too_large")
"""What a body may meet on its way, wanted or not."""

JSON_BODY = (*SENDING, "content_type_not_json", "json_invalid", "field_invalid")

PICTURES = tuple(code.value for code in ImageErrorCode if CATALOGUE[code].status is not None)
"""What is judged about pictures before the answer."""

IDEMPOTENCY = ("idempotency_key_invalid", "idempotency_in_progress", "idempotency_mismatch")

VOLUME = ("trial_ended", "volume_exhausted", "daily_cap_reached")

WAITS = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
"""Statuses that always come with ``Retry-After``."""


class ErrorBody(BaseModel):
    """Body of every 4xx and 5xx answer."""

    model_config = ConfigDict(extra="forbid")

    error: str = Field(
        description="A sentence that is safe to show to an end user. The code is in the header X-Error-Code.",
        min_length=1,
    )


def refusals(*codes: str) -> Answers:
    """Every refusal that an operation knows, by status; the codes are those of the catalogue.

    Raises:
        ValueError: A code is for jobs only and has no HTTP status.
    """
    by_status: defaultdict[int, list[str]] = defaultdict(list)
    for code in dict.fromkeys(codes):
        status = CATALOGUE[code].status
        if status is None:
            raise ValueError(f"{code} has no HTTP status")
        by_status[status].append(code)
    return {status: {"model": ErrorBody, **refusal(status, by_status[status])} for status in sorted(by_status)}


def refusal(status: int, codes: Iterable[str]) -> dict[str, Any]:
    """One error answer: the codes that come with it, each with its sentence."""
    codes = list(codes)
    headers = {
        "X-Error-Code": {
            "description": DESCRIPTIONS["X-Error-Code"]["description"],
            "required": True,
            "schema": {"type": "string", "enum": codes},
        }
    }
    if status in WAITS:
        headers |= required_header("Retry-After")
    elif any(CATALOGUE[code].retryable for code in codes) and status == HTTPStatus.CONFLICT:
        headers |= optional_header("Retry-After")
    if status == HTTPStatus.UNAUTHORIZED:
        headers |= required_header("WWW-Authenticate")
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        headers |= required_header("Allow")
    examples = {code: {"summary": code, "value": {"error": CATALOGUE[code].sentence}} for code in codes}
    return {
        "description": "\n".join(f"- `{code}`: {CATALOGUE[code].sentence}" for code in codes),
        "headers": headers,
        "content": {"application/json": {"examples": examples}},
    }


def success(
    *,
    always: Iterable[str] = (),
    sometimes: Iterable[str] = (),
    examples: dict[str, Any] | None = None,
    links: dict[str, Any] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """What a route adds to its description of a success.

    Args:
        always: Headers that come with every such answer, by their names.
        sometimes: Headers that may come with it.
        examples: Bodies, by what they show.
        links: What its fields are good for in other operations.
        fields: Anything else of the answer, such as ``model`` and ``description``.
    """
    headers = {name: header for each in always for name, header in required_header(each).items()}
    headers |= {name: header for each in sometimes for name, header in optional_header(each).items()}
    answer: dict[str, Any] = {**fields, "headers": headers}
    if examples:
        shown = {name: {"value": value} for name, value in examples.items()}
        answer["content"] = {"application/json": {"examples": shown}}
    if links:
        answer["links"] = links
    return answer
