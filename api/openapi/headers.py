"""Headers of answers and requests, described once."""

from __future__ import annotations

from typing import Any

from domain.access.idempotency import LONGEST_KEY

_SECONDS = {"type": "integer", "minimum": 0}

DESCRIPTIONS: dict[str, dict[str, Any]] = {
    "X-Request-Id": {
        "description": "What the service's log calls this request: the request's own `X-Request-Id` if that is 1 to 64 "
        "letters, digits, dots, dashes and underscores, else a new one.",
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
    },
    "Cache-Control": {"description": "No answer may be kept.", "schema": {"type": "string", "const": "no-store"}},
    "Retry-After": {
        "description": "Seconds after which the same call may be worth sending again.",
        "schema": _SECONDS,
    },
    "RateLimit": {
        "description": "How the key stands under the policy: `r` calls are left, and there are more in `t` seconds.",
        "schema": {"type": "string", "pattern": '^"[a-z-]+";r=[0-9]+;t=[0-9]+$'},
    },
    "RateLimit-Policy": {
        "description": "The policy that the call counts under: `q` calls in any `w` seconds.",
        "schema": {"type": "string", "pattern": '^"[a-z-]+";q=[0-9]+;w=[0-9]+$'},
    },
    "X-Ignored-Fields": {
        "description": "Names of the request's fields that mean nothing to the service, separated by commas.",
        "schema": {"type": "string"},
    },
    "Idempotent-Replayed": {
        "description": "The answer was given before, to an earlier request with this `Idempotency-Key`.",
        "schema": {"type": "string", "const": "true"},
    },
    "Location": {
        "description": "Path of what was made.",
        "schema": {"type": "string", "format": "uri-reference"},
    },
    "Preference-Applied": {
        "description": "The longest wait that was honoured, in seconds.",
        "schema": {"type": "string", "pattern": "^wait=[0-9]+$"},
    },
    "WWW-Authenticate": {"description": "How to say who calls.", "schema": {"type": "string", "const": "Bearer"}},
    "X-Error-Code": {
        "description": "What is wrong, for programs: with every 4xx and 5xx answer, and with the poll of a failed job.",
        "schema": {"type": "string", "pattern": "^[a-z_]+$"},
    },
    "Allow": {
        "description": "Methods that the address takes, separated by commas.",
        "schema": {"type": "string", "pattern": "^[A-Z]+(, [A-Z]+)*$"},
    },
}

ALWAYS = ("X-Request-Id", "Cache-Control")
"""Come with every answer, whoever makes it."""

RATE = ("RateLimit-Policy", "RateLimit")
"""Come with every answer to a caller who was let in."""

_OPTIONAL = "Optional-"
_REFERENCE = "#/components/headers/{name}"


def required_header(name: str) -> dict[str, Any]:
    """For the ``headers`` of an answer that never comes without it."""
    return {name: {"$ref": _REFERENCE.format(name=name)}}


def optional_header(name: str) -> dict[str, Any]:
    """For the ``headers`` of an answer that may come without it."""
    return {name: {"$ref": _REFERENCE.format(name=_OPTIONAL + name)}}


def header_components(document: str) -> dict[str, Any]:
    """The headers that a document (as text) refers to, for its components."""
    required = {name: {**header, "required": True} for name, header in DESCRIPTIONS.items()}
    optional = {_OPTIONAL + name: header for name, header in DESCRIPTIONS.items()}
    return {
        name: header
        for name, header in {**required, **optional}.items()
        if f'"{_REFERENCE.format(name=name)}"' in document
    }


IDEMPOTENCY_KEY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Send the same value again with the same body, within a day, and no second job is started: the "
    "answer is the first one. Any text of your own, with or without quotes around it.",
    "schema": {
        "type": "string",
        "minLength": 1,
        "maxLength": LONGEST_KEY,
        "pattern": '^(?!""$)[!-~]([ -~]*[!-~])?$',
    },
}

PREFER: dict[str, Any] = {
    "name": "Prefer",
    "in": "header",
    "required": False,
    "description": "`wait=N` holds the answer until the job has ended, but no longer than N seconds (RFC 7240); up to "
    "30 by default. What is not understood is ignored.",
    "schema": {"type": "string"},
    "example": "wait=30",
}
