"""How large, small and long a picture may be: figures alone, the defaults of settings and sentences among them."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

MIB = 1024 * 1024

COUNTS: dict[float, str] = dict(
    enumerate("two three four five six seven eight nine ten eleven twelve".split(), start=2)  # noqa: SIM905
)


@dataclass(frozen=True)
class ImageLimits:
    """The bounds of one kind of picture; a picture that meets a bound exactly passes.

    Attributes:
        max_bytes: Length of the encoded picture.
        min_side: Pixels of the shorter side. Below this no face or fabric can be made out.
        max_pixels: Width times height. Bounds the memory of a decoded picture: 3 bytes per pixel.
        max_aspect: Longer side divided by shorter side.
        max_chunks: Of a PNG or WebP. The usual chunk of a PNG's pixels has 8 KB, so that 8 MB are 1,024 of them.
    """

    max_bytes: int = 8 * MIB
    min_side: int = 256
    max_pixels: int = 50_000_000
    max_aspect: float = 4.0
    max_chunks: int = 20_000

    @property
    def size(self) -> str:
        """The largest size for people, never more than it is."""
        each, unit = (1024, "KB") if self.max_bytes < MIB else (MIB, "MB")
        return f"{math.floor(100 * self.max_bytes / each) / 100:g} {unit}"

    @property
    def megapixels(self) -> str:
        """The most pixels for people."""
        return f"{self.max_pixels / 1_000_000:g} megapixels"

    @property
    def times(self) -> str:
        """How many times as long as wide, in words as far as people count in words."""
        return COUNTS.get(self.max_aspect, f"{self.max_aspect:g}")


PHOTO_LIMITS = ImageLimits()
"""For customer photos and garments."""

LOGO_LIMITS = ImageLimits(max_bytes=MIB, min_side=16, max_pixels=16_000_000, max_aspect=12.0)
"""For the logo of an account's watermark, which may well be a long and low wordmark."""

STORED_LIMITS = ImageLimits(
    max_bytes=sys.maxsize, min_side=1, max_pixels=sys.maxsize, max_aspect=float("inf"), max_chunks=sys.maxsize
)
"""For pictures out of our own store: each was judged when it came in, by the limits that the operator has set."""
