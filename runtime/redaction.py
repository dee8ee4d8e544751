"""Keeps pictures, keys, credentials and e-mail addresses out of logs and traces.

They are not logged on purpose, but come along in an exception's text, an address or a repr. So every string is checked,
however deeply nested, right before it is written.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date
from functools import lru_cache
from pathlib import PurePath
from typing import Any

LONGEST_TEXT = 1024  # characters; anything longer is a body and does not belong in a log
LONGEST_TRACEBACK = 16 * 1024  # characters; the end of a traceback says most
DEEPEST, MOST_ITEMS = 6, 50  # levels and items of a nested value that are shown
HIDDEN = "[hidden]"

SECRET_NAMES = frozenset(
    {
        *("authorization", "proxy_authorization", "cookie", "cookies", "set_cookie", "x_api_key", "api_key"),
        *("password", "secret_key", "token"),
    }
)
"""Names whose values are never shown; in any case, and with ``-`` or ``_``."""

_MARK = re.compile(r"data[:%]|vto_|authorization|bearer|basic|cookie|://|@|%40", re.IGNORECASE)
"""A text without any of these matches none of the `_RULES`, and needs no closer look."""


def _without_query(address: re.Match[str]) -> str:
    return re.sub(r"[?#].*", "?[query]", address[0])


_RULES: tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...] = (
    # A picture or anything else inline, down to its last character; escaped and folded lines belong to it.
    (
        r"data(?::|%3a)[\w.+/%-]{0,100}(?:[;,]|%3b|%2c)(?:[^\s\"'<>\\]|\\[rn]|[\r\n](?=[\w+/=]))*",
        "[data: URI]",
    ),
    (r"vto_(?:live|test)_[\w-]*", "[API key]"),
    # Before the scheme alone, which would leave what follows it.
    (r"(authorization\W{1,6})(?:(?:bearer|basic|digest|token)\s+)?[^\s\"',;}\])]+", rf"\1{HIDDEN}"),
    (r"\b(bearer|basic)\s+[\w.~+/=:-]{6,}", rf"\1 {HIDDEN}"),
    # To the end of the line: what follows may be a further cookie. In a repr, lines end with escapes.
    (r"(cookies?(?:\\{0,4}[\"']\s{0,4}[:=,]|\s{0,4}[:=]))(?:(?!\\[rn])[^\r\n])+", rf"\1 {HIDDEN}"),
    # Credentials, queries and fragments of addresses: what is signed is as good as a key. The whole address is matched,
    # with a query or without, so that no part of it is searched again.
    (r"(?<=://)[^\s/@\"'<>]{1,512}@", f"{HIDDEN}@"),
    (r"[a-z][a-z0-9+.-]{1,10}://[^\s\"'<>]*", _without_query),
    (r"[^\s@\"'<>()\[\]{}:;,=/?&|]{1,64}(?:@|%40)[\w-]{1,63}(?:\.[\w-]{1,63})+", "[e-mail]"),
)
"""Patterns and their replacements. Every repetition before a fixed part is bounded, so that no text
makes the search slow."""

_PATTERNS = [(re.compile(pattern, re.IGNORECASE), stand_in) for pattern, stand_in in _RULES]


def redact_text(text: str, longest: int = LONGEST_TEXT) -> str:
    """The text without secrets; if it is too long, only its beginning."""
    clipped, half = text, 2 * LONGEST_TRACEBACK
    if len(text) > 2 * half:  # megabytes need not be searched to be left out
        clipped = f"{text[:half]} … {text[-half:]}"
    if _MARK.search(clipped):
        for pattern, stand_in in _PATTERNS:
            clipped = pattern.sub(stand_in, clipped)
    if len(clipped) > longest:
        return f"{clipped[:64]}… ({len(text)} characters)"
    return clipped


def redact_traceback(text: str) -> str:
    """As `redact_text`, for a traceback, whose end is kept."""
    return redact_text(
        text if len(text) <= LONGEST_TRACEBACK else f"…{text[-LONGEST_TRACEBACK:]}", LONGEST_TRACEBACK * 2
    )


def redact(value: Any, depth: int = 0) -> Any:
    """The value as it may be written: plain types, strings through `redact_text`, bytes by their length."""
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, str):
        return redact_text(str(value))
    if isinstance(value, bytes | bytearray | memoryview):
        return f"({len(value)} bytes)"
    if isinstance(value, uuid.UUID | date | PurePath):
        return redact_text(str(value))
    if depth < DEEPEST:
        if isinstance(value, Mapping):
            return redact_mapping(value, depth)
        if isinstance(value, Sequence | AbstractSet):
            return _redact_items(list(value)[:MOST_ITEMS], depth)
    return redact_text(_description(value))


def redact_mapping(values: Mapping[Any, Any], depth: int = 0) -> dict[str, Any]:
    """Names and values as they may be written."""
    shown = list(values.items())[:MOST_ITEMS]
    return {
        _shown_name(name): HIDDEN if is_secret_name(name) and value is not None else redact(value, depth + 1)
        for name, value in shown
    }


@lru_cache(maxsize=1024)
def _shown_name(name: object) -> str:
    return redact_text(_name(name))


@lru_cache(maxsize=1024)
def is_secret_name(name: object) -> bool:
    """Whether a header, field or attribute of this name holds a credential."""
    return _name(name).lower().replace("-", "_") in SECRET_NAMES


def _redact_items(items: list[Any], depth: int) -> list[Any]:
    # Headers come as pairs of a name and a value.
    if len(items) == 2 and isinstance(items[0], str | bytes) and is_secret_name(items[0]):
        return [_name(items[0]), HIDDEN]
    return [redact(item, depth + 1) for item in items]


def _name(name: object) -> str:
    return name.decode("latin-1") if isinstance(name, bytes) else str(name)


def _description(value: object) -> str:
    try:
        return f"{type(value).__name__}: {value}" if isinstance(value, BaseException) else repr(value)
    except Exception:  # noqa: BLE001  # a repr that fails must not take the line with it
        return f"({type(value).__name__})"
