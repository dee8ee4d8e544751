"""What is accepted as a picture, and what is handed out."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from imaging.limits import LOGO_LIMITS, PHOTO_LIMITS, ImageLimits
from runtime.settings.concern import Concern

IN_SINGLE, IN_COMBO, IN_PRODUCT = 1 + 2, 1 + 4 * 2, 2
"""Pictures that a request may come with: the person's, and two of each garment."""


class ImageSettings(Concern):
    """What is accepted as a picture."""

    model_config = SettingsConfigDict(env_prefix="TRYON_IMAGE_")
    title = "Pictures"

    max_bytes: int = Field(default=PHOTO_LIMITS.max_bytes, ge=1024, le=128 * 1024 * 1024)
    """Largest picture in bytes after base64; exactly that many passes. The largest bodies follow: one garment may come
    with three pictures, a combo with nine, a product with two, each a third larger in base64, and some air."""

    min_side: int = Field(default=PHOTO_LIMITS.min_side, ge=1, le=10_000)
    """Shorter side in pixels."""

    max_pixels: int = Field(default=PHOTO_LIMITS.max_pixels, ge=1, le=1_000_000_000)
    """Width times height; a 48-megapixel phone photo passes, a decompression bomb does not."""

    max_aspect: float = Field(default=PHOTO_LIMITS.max_aspect, ge=1, le=100)
    """Longer side over shorter side."""

    jpeg_quality: int = Field(default=92, ge=60, le=100)
    """Quality of the result's JPEG."""

    logo_max_bytes: int = Field(default=LOGO_LIMITS.max_bytes, ge=1024, le=128 * 1024 * 1024)
    """Largest logo file of an account's watermark; exactly that many bytes pass."""

    watermark_width_share: float = Field(default=0.18, gt=0, le=0.5)
    """Width of an account's logo on its results, as a share of the picture's width."""

    watermark_margin_share: float = Field(default=0.03, ge=0, le=0.2)
    """Distance of the logo from the right and lower edge, as a share of the picture's width."""

    def limits(self) -> ImageLimits:
        """What photos and pictures of garments have to meet."""
        return ImageLimits(self.max_bytes, self.min_side, self.max_pixels, self.max_aspect)

    def logo_limits(self) -> ImageLimits:
        """What logos have to meet."""
        return replace(LOGO_LIMITS, max_bytes=self.logo_max_bytes)

    def body_cap(self, pictures: int) -> int:
        """The largest body in bytes of a request with so many pictures: all in base64, and some air.

        That is a sixth of a picture for each, up to three.
        """
        return self.max_bytes * (8 * pictures + min(pictures, 3)) // 6
