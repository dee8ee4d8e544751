"""Pydantic's errors in plain words. Values are never repeated: they may be pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic.alias_generators import to_camel

MOST_FIELDS = 20  # named at once; more would not help. A combo of four garments has 41 fields.

WORDINGS = {
    "missing": "required",
    "extra_forbidden": "is not a known field",
    "literal_error": "must be {expected}",
    "string_type": "must be a string",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}
"""By pydantic's error types; other types keep their own message. ``string_too_short`` occurs only at fields that
need one character."""


def complaints_of(errors: Sequence[Mapping[str, Any]], spelling: Callable[[str], str] = to_camel) -> dict[str, str]:
    """A clause with a full stop for each wrong field, at most `MOST_FIELDS`, from pydantic's list of errors.

    The keys are the fields' names as the caller sent them, such as ``garments[1].category``; the empty name stands for
    the whole. ``spelling`` makes them of attributes' names.
    """
    found: dict[str, str] = {}
    for error in errors:
        facts = {name: str(value).replace("'", "") for name, value in error.get("ctx", {}).items()}
        wording = WORDINGS.get(error["type"])
        said = wording.format(**facts) if wording else str(error["msg"]).removeprefix("Value error, ")
        found.setdefault(field_name(error["loc"], spelling), f"{said.removesuffix('.')}.")
    return dict(list(found.items())[:MOST_FIELDS])


def field_name(location: Sequence[int | str], spelling: Callable[[str], str] = to_camel) -> str:
    """The caller's name of a field: ``garments[1].category``."""
    name = ""
    for part in location:
        if isinstance(part, int):
            name += f"[{part}]"
        else:
            # Pydantic goes by an attribute's own name where a default was judged.
            name += ("." if name else "") + (spelling(part) if "_" in part else part)
    return name
