"""Small pictures of products, for pages to show."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from fastapi import Request, Response

from api.dashboard.forms import PageRefused
from api.dashboard.rendering import YEAR_SECONDS
from api.parts import parts_of
from api.routes import PAGES
from domain.products import public_id
from domain.tables import Product
from imaging.decode import decode_image
from imaging.decoder_pool import DecoderPool
from imaging.encode import encode_webp
from imaging.limits import STORED_LIMITS
from runtime.object_store import ObjectMissingError

SIDES = ("front", "back")
WIDTHS = (240, 480)
"""Pixels that the longer side has at most: in a grid, and on a product's own page."""

VERSION_DIGITS = 8
UNKNOWN = "There is no such picture."


def picture_address(product: Product, side: str, width: int = WIDTHS[-1]) -> str | None:
    """Where the page finds it: an address that changes with the picture. None where there is no picture."""
    reference = _reference(product, side)
    if reference is None:
        return None
    query = urlencode({"v": reference["sha256"][:VERSION_DIGITS], "w": width})
    return f"{PAGES}/products/{public_id(product.id)}/picture/{side}.webp?{query}"


async def picture_answer(request: Request, product: Product, side: str) -> Response:
    """The picture, no larger than asked for; browsers that have it already get none.

    Raises:
        PageRefused: There is none.
    """
    parts = parts_of(request)
    reference = _reference(product, side)
    if reference is None:
        raise PageRefused(404, UNKNOWN)
    asked = request.query_params.get("w", "")
    width = int(asked) if asked in map(str, WIDTHS) else WIDTHS[-1]
    tag = f'"{reference["sha256"][:32]}-{width}"'
    lasting = request.query_params.get("v") == reference["sha256"][:VERSION_DIGITS]
    keeping = f"private, max-age={YEAR_SECONDS}, immutable" if lasting else "private, no-cache"
    headers = {"ETag": tag, "Cache-Control": keeping}
    if tag in request.headers.get("If-None-Match", ""):
        return Response(status_code=304, headers=headers)
    try:
        data = await parts.store.get(reference["key"])
    except ObjectMissingError:
        raise PageRefused(404, UNKNOWN) from None
    decoders: DecoderPool = request.app.state.page_decoders
    small = await decoders.in_thread(product.account_id, shrunken, data, width)
    return Response(small, media_type="image/webp", headers=headers)


def shrunken(data: bytes, longest: int) -> bytes:
    """A WebP of a picture out of our own store, whose longer side has at most so many pixels."""
    return encode_webp(decode_image(data, STORED_LIMITS, max_side=longest))


def _reference(product: Product, side: str) -> dict[str, Any] | None:
    return {"front": product.front, "back": product.back}.get(side)
