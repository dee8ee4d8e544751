"""Pictures as callers have them, turned into what the API takes. What cannot be used is said before any request."""

from __future__ import annotations

import base64
import binascii
import os
from pathlib import Path
from typing import IO, TypeAlias

Picture: TypeAlias = str | os.PathLike[str] | bytes | bytearray | memoryview | IO[bytes]
"""A path, bytes, an open binary file, or a string: a path, a ``data:`` URI or an ``https://`` address."""

MAX_BYTES = 8 * 1024 * 1024
"""The API's limit for one picture."""


def as_inline(picture: Picture, field: str) -> str:
    """A picture that has to be sent itself, as a ``data:`` URI.

    Args:
        picture: The picture.
        field: What the caller calls it, for error messages.

    Raises:
        ValueError: It is an address, no JPEG, PNG or WebP, or larger than 8 MiB.
        OSError: It is a path and the file cannot be read.
    """
    if isinstance(picture, str) and _scheme(picture) in {"http", "https"}:
        raise ValueError(f"{field}: the picture itself is sent, never an address")
    return _data_uri(_read(picture, field), field)


def as_inline_or_address(picture: Picture, field: str) -> str:
    """A picture as a ``data:`` URI, or its address.

    Raises:
        ValueError: It is an address that is not https, no JPEG, PNG or WebP, or larger than 8 MiB.
        OSError: It is a path and the file cannot be read.
    """
    if isinstance(picture, str):
        if _scheme(picture) == "http":
            raise ValueError(f"{field}: an address must begin with https://")
        if _scheme(picture) == "https":
            return picture
    return _data_uri(_read(picture, field), field)


def media_type(data: bytes) -> str | None:
    """The type by the first bytes; names and labels are not asked."""
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def decode_data_uri(uri: str) -> bytes:
    """The bytes in a base64 ``data:`` URI.

    Raises:
        ValueError: It is not one.
    """
    head, comma, payload = uri.partition(",")
    if not comma or not head.lower().endswith(";base64"):
        raise ValueError("not a base64 data: URI")
    try:
        return base64.b64decode("".join(payload.split()), validate=True)
    except (binascii.Error, ValueError):
        raise ValueError("the base64 of the data: URI is broken") from None


def _scheme(text: str) -> str:
    """``https``, ``http``, ``data``, or nothing for a path."""
    scheme = text[:8].partition(":")[0].lower()
    separator = ":" if scheme == "data" else "://"
    return scheme if text[len(scheme) :].startswith(separator) and scheme in {"data", "http", "https"} else ""


def _read(picture: Picture, field: str) -> bytes:
    if isinstance(picture, str) and _scheme(picture) == "data":
        try:
            return decode_data_uri(picture)
        except ValueError as error:
            raise ValueError(f"{field}: {error}") from None
    if isinstance(picture, str | os.PathLike):
        path = Path(picture)
        _check_size(path.stat().st_size, field)
        return path.read_bytes()
    if isinstance(picture, bytes | bytearray | memoryview):
        return bytes(picture)
    data = picture.read()
    if not isinstance(data, bytes):
        raise ValueError(f"{field}: the file must be opened in binary mode")  # noqa: TRY004 - like every bad picture
    return data


def _data_uri(data: bytes, field: str) -> str:
    if not data:
        raise ValueError(f"{field}: the picture is empty")
    _check_size(len(data), field)
    kind = media_type(data)
    if kind is None:
        raise ValueError(f"{field}: not a JPEG, PNG or WebP picture (it begins with {data[:8].hex(' ')})")
    return f"data:{kind};base64,{base64.b64encode(data).decode()}"


def _check_size(size: int, field: str) -> None:
    if size > MAX_BYTES:
        raise ValueError(f"{field}: the picture has {size} bytes, the limit is {MAX_BYTES} (8 MiB)")
