"""Requests as routes describe them whose bodies and headers are read by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel


def read_by_hand(
    model: type[BaseModel] | None = None,
    *,
    examples: dict[str, Any] | None = None,
    headers: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """The ``openapi_extra`` of a route.

    Args:
        model: Of its JSON body, if it has one; the document has to know it, see `api.openapi.document.BODY_MODELS`.
        examples: Bodies, by what they show.
        headers: Parameters.
    """
    extra: dict[str, Any] = {}
    if headers:
        extra["parameters"] = list(headers)
    if model is not None:
        content = {
            "schema": {"$ref": f"#/components/schemas/{model.__name__}"},
            "examples": {name: {"value": value} for name, value in (examples or {}).items()},
        }
        extra["requestBody"] = {"required": True, "content": {"application/json": content}}
    return extra
