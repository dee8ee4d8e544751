"""Which way up a photo was taken (EXIF tag 274)."""

from __future__ import annotations

from PIL import ExifTags, Image

from imaging.opening import DECODER_FAILURES

TURNS: dict[int, Image.Transpose] = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""How to turn the stored picture upright, by the tag's value. 1 means upright already."""

SIDES_SWAPPED = frozenset({5, 6, 7, 8})
"""Values for which width and height trade places."""


def stored_orientation(image: Image.Image) -> int:
    """Read the tag; a missing, unknown or unreadable one counts as upright.

    Returns:
        1 to 8.
    """
    try:
        value = image.getexif().get(ExifTags.Base.Orientation, 1)
    except DECODER_FAILURES:
        return 1
    return value if value in TURNS else 1


def turn_upright(image: Image.Image, orientation: int) -> Image.Image:
    """Turn the pixels so that the picture is seen as it was taken."""
    turn = TURNS.get(orientation)
    return image if turn is None else image.transpose(turn)
