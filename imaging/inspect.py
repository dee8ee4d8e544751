"""The complete check of a picture at the door, without keeping its pixels."""

from __future__ import annotations

from dataclasses import dataclass

from imaging.limits import PHOTO_LIMITS, ImageLimits
from imaging.opening import JPEG_FORMATS, open_picture, unreadable_on_failure
from imaging.orientation import SIDES_SWAPPED, stored_orientation

CONTENT_TYPES = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}

DRAFT_DIVISOR = 8
"""A JPEG decoded at an eighth of its size still has its whole stream read, but few pixels made from it."""


@dataclass(frozen=True)
class ImageFacts:
    """What a picture is, judged by its content.

    Attributes:
        format: ``JPEG``, ``PNG`` or ``WEBP``.
        width: Pixels, the photo held upright.
        height: Pixels, the photo held upright.
        content_type: The media type that fits the content.
    """

    format: str
    width: int
    height: int
    content_type: str


def inspect_image(data: bytes, limits: ImageLimits = PHOTO_LIMITS) -> ImageFacts:
    """Prove that the bytes are one whole, still, usable picture.

    The header is judged first. Then the whole stream is decoded, as cheaply as its format allows, so that a
    truncated or damaged picture is known here and not by the worker that would have drawn with it.

    Args:
        data: The encoded picture. No label is asked for: the content decides.
        limits: What it has to meet.

    Raises:
        ImageError: Any of the ``image_…`` codes.
    """
    image = open_picture(data, limits)
    width, height = image.size
    with unreadable_on_failure():
        if image.format in JPEG_FORMATS:
            image.draft(None, (max(1, width // DRAFT_DIVISOR), max(1, height // DRAFT_DIVISOR)))
        image.load()
    if stored_orientation(image) in SIDES_SWAPPED:
        width, height = height, width
    name = "JPEG" if image.format in JPEG_FORMATS else str(image.format)
    return ImageFacts(format=name, width=width, height=height, content_type=CONTENT_TYPES[name])
