"""An account's logo, beyond its row: what may be fetched, what it looks like on a picture, and how it is deleted."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from domain.errors import TryOnError
from domain.tables import Watermark
from imaging.decode import decode_logo
from imaging.encode import encode_jpeg
from imaging.errors import ImageError
from imaging.limits import STORED_LIMITS
from imaging.remote_url import check_remote_url
from imaging.watermark import stamp_logo
from runtime.object_store import ObjectStore
from runtime.settings import ImageSettings
from workflows.contracts import ObjectRef


def check_logo_url(url: str) -> None:
    """Refuse an address that could not lead to a public server, before anything is asked to fetch it.

    Raises:
        TryOnError: ``logo_url_refused``.
    """
    try:
        check_remote_url(url)
    except ImageError:
        raise TryOnError("logo_url_refused") from None


async def read_logo(store: ObjectStore, watermark: Watermark) -> bytes:
    """The kept copy.

    Raises:
        ObjectMissingError: It is gone.
        ObjectStoreUnavailableError: The object store is away.
    """
    return await store.get(ObjectRef.model_validate(watermark.logo).key)


def stamped_jpeg(picture: NDArray[np.uint8], logo: bytes, images: ImageSettings) -> bytes:
    """A picture with the logo where results carry it, as a JPEG. It takes a while: for threads.

    Args:
        picture: ``(height, width, 3)`` sRGB.
        logo: The kept copy.
        images: Says how wide the logo is, and how far from the edges.

    Raises:
        ImageError: The kept copy is damaged.
    """
    kept = decode_logo(logo, STORED_LIMITS)
    stamped = stamp_logo(picture, kept, images.watermark_width_share, images.watermark_margin_share)
    return encode_jpeg(stamped, images.jpeg_quality)


def widest_sharp_picture(logo_width: int, images: ImageSettings) -> int:
    """Width in pixels of the widest picture on which the logo is not enlarged."""
    return round(logo_width / images.watermark_width_share)


def key_of(removed: dict[str, Any]) -> str:
    """Where the logo lies that a setting named which is gone now."""
    return ObjectRef.model_validate(removed).key
