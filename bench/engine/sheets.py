"""Many pairs on one picture, for eyes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

from engines.base import Picture

HEIGHT = 320
"""Pixels of each picture."""

GAP, CAPTION = 12, 22
CAPTION_SIZE = 14
LEAST_COLUMNS, MOST_LINES = 3, 150
"""A sheet is at least three pairs wide, and never longer than a JPEG can be."""

Thumbnail = Image.Image


@dataclass(frozen=True)
class Strip:
    """Photo, garment and result of one pair, and what to write below."""

    pictures: tuple[Thumbnail, ...]
    caption: str


def thumbnail(picture: Picture) -> Thumbnail:
    """A picture at the height of a sheet's line."""
    image = Image.fromarray(picture)
    width = max(1, round(image.width * HEIGHT / image.height))
    return image.resize((width, HEIGHT), Image.Resampling.LANCZOS)


def sheet(strips: Sequence[Strip]) -> Image.Image:
    """Lay strips out in lines on white, from left to right and down."""
    columns = min(len(strips), max(LEAST_COLUMNS, -(-len(strips) // MOST_LINES)))
    lines = -(-len(strips) // columns)
    strip_width = max(sum(image.width + GAP for image in strip.pictures) for strip in strips) + GAP
    line_height = HEIGHT + CAPTION + GAP
    page = Image.new("RGB", (columns * strip_width + GAP, lines * line_height + GAP), "white")
    draw, font = ImageDraw.Draw(page), ImageFont.load_default(CAPTION_SIZE)
    for number, strip in enumerate(strips):
        left, top = GAP + number % columns * strip_width, GAP + number // columns * line_height
        draw.text((left, top + HEIGHT + 3), strip.caption, fill="black", font=font)
        for image in strip.pictures:
            page.paste(image, (left, top))
            left += image.width + GAP
    return page
