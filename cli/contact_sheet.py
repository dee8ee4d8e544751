"""Pictures side by side, for eyes."""

from __future__ import annotations

import io
from collections.abc import Sequence

from PIL import Image, ImageOps

SHEET_HEIGHT = 1024
GAP = 16


def contact_sheet(pictures: Sequence[bytes], height: int = SHEET_HEIGHT) -> Image.Image:
    """Scale every picture to one height and lay them in a row on white."""
    images = []
    for data in pictures:
        image = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")
        images.append(image.resize((round(image.width * height / image.height), height), Image.Resampling.LANCZOS))
    width = sum(image.width for image in images) + GAP * (len(images) + 1)
    sheet = Image.new("RGB", (width, height + 2 * GAP), "white")
    left = GAP
    for image in images:
        sheet.paste(image, (left, GAP))
        left += image.width + GAP
    return sheet
