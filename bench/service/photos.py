"""Pictures of a known weight."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from api.dashboard.samples import PORTRAIT, pixels_of
from imaging.data_uri import encode_data_uri_bytes


def jpeg_uri(image: Image.Image, quality: int = 92) -> str:
    """A JPEG as the API takes it."""
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return encode_data_uri_bytes(buffer.getvalue()).decode()


def grainy_photo_uri(width: int, least_bytes: int) -> str:
    """The sample portrait in 3:4 with a camera's grain, at the lowest quality that weighs at least so much."""
    height = width * 4 // 3
    grain = np.random.default_rng(0).normal(0, 9, (height, width, 3))
    enlarged = np.asarray(Image.fromarray(pixels_of(PORTRAIT)).resize((width, height)))
    photo = Image.fromarray(np.clip(enlarged + grain, 0, 255).astype(np.uint8))
    for quality in range(60, 101, 2):
        uri = jpeg_uri(photo, quality)
        if len(uri) * 3 / 4 >= least_bytes:
            return uri
    raise RuntimeError(f"a photo of {width} x {height} does not reach {least_bytes} bytes")


def portrait_body() -> dict[str, str]:
    """A job that the engine can do."""
    return {
        "customerPhotoBase64": jpeg_uri(Image.fromarray(pixels_of(PORTRAIT)).resize((1024, 1024))),
        "garmentImageUrl": jpeg_uri(Image.fromarray(pixels_of("striped_sweater"))),
        "category": "upper_body",
    }
