"""JSON Schemas of fields that carry pictures.

A schema cannot say that a text is a picture of some size, nor that a host is a public one: what can be said is in the
names of the formats and in the descriptions of the fields. A pattern would only say less than the format does.
"""

from __future__ import annotations

from typing import Any

INLINE: dict[str, Any] = {"type": "string", "format": "picture-data-uri"}
REMOTE: dict[str, Any] = {"type": "string", "format": "public-https-url"}
INLINE_OR_REMOTE: dict[str, Any] = {"anyOf": [REMOTE, INLINE]}
