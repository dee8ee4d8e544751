"""Takes large inline pictures out of a body before it is parsed.

A parser makes text of every string in one go, and nothing else runs in the process meanwhile: with 90 MB of pictures
that would hold up every other request for a tenth of a second and more. So a picture stays where it is in the body,
and the parser sees a short stand-in. Nothing here judges: what is taken out is plain text between two quotes, and
stays as well-formed, or as malformed, as it was.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import TypeAlias

WORTH_BYTES = 64 * 1024
"""Shorter ones are parsed with the rest."""

STAND_IN_LENGTH = 512
"""Longer than any other text that a request may hold: in the place of a name it is as wrong as the picture was."""

_OPENING, _QUOTE, _BACKSLASH = b'"data:', b'"', b"\\"

InlinePictures: TypeAlias = Mapping[str, memoryview]
"""Stand-in to the data: URI that it stands for."""

NO_PICTURES: InlinePictures = {}


def take_pictures_out(body: bytes) -> tuple[bytes, InlinePictures]:
    """Put a stand-in in the place of each long string that begins with ``data:``.

    Strings with escapes are left: their text is not what stands between the quotes.

    Returns:
        What is to be parsed, and what was taken out of it. A stand-in begins with ``data:`` too, and cannot be
        guessed by whoever sent the body.
    """
    view, token = memoryview(body), secrets.token_hex(8)
    taken: dict[str, memoryview] = {}
    pieces: list[bytes | memoryview] = []
    kept_from = position = 0
    while (opening := body.find(_OPENING, position)) >= 0:
        start = opening + len(_QUOTE)
        end = body.find(_QUOTE, start)
        escaped = body[max(0, opening - 1) : opening] == _BACKSLASH
        if end - start < WORTH_BYTES or escaped or body.find(_BACKSLASH, start, end) >= 0:
            position = start
            continue
        stand_in = f"data:{token}:{len(taken)}:".ljust(STAND_IN_LENGTH, "x")
        taken[stand_in] = view[start:end]
        pieces += [view[kept_from:start], stand_in.encode()]
        kept_from = position = end
    return (b"".join([*pieces, view[kept_from:]]) if taken else body), taken
