"""What is accepted as a picture, and what is handed out."""

from __future__ import annotations

from typing import TypedDict

from pydantic import Field
from pydantic_settings import SettingsConfigDict

from runtime.settings.concern import Concern


class PictureLimits(TypedDict):
    """The bounds among `ImageSettings`."""

    max_bytes: int
    min_side: int
    max_pixels: int
    max_aspect: float


class ImageSettings(Concern):
    """What is accepted as a picture."""

    model_config = SettingsConfigDict(env_prefix="TRYON_IMAGE_")
    title = "Pictures"

    max_bytes: int = Field(default=8 * 1024 * 1024, ge=1024, le=128 * 1024 * 1024)
    """Largest picture in bytes after base64; exactly that many passes."""

    min_side: int = Field(default=256, ge=1, le=10_000)
    """Shorter side in pixels."""

    max_pixels: int = Field(default=50_000_000, ge=1, le=1_000_000_000)
    """Width times height; a 48-megapixel phone photo passes, a decompression bomb does not."""

    max_aspect: float = Field(default=4.0, ge=1, le=100)
    """Longer side over shorter side."""

    jpeg_quality: int = Field(default=92, ge=60, le=100)
    """Quality of the result's JPEG."""

    logo_max_bytes: int = Field(default=1024 * 1024, ge=1024, le=128 * 1024 * 1024)
    """Largest logo file of an account's watermark; exactly that many bytes pass."""

    watermark_width_share: float = Field(default=0.18, gt=0, le=0.5)
    """Width of an account's logo on its results, as a share of the picture's width."""

    watermark_margin_share: float = Field(default=0.03, ge=0, le=0.2)
    """Distance of the logo from the right and lower edge, as a share of the picture's width."""

    def limits(self) -> PictureLimits:
        """The arguments of `imaging.limits.ImageLimits`."""
        return PictureLimits(
            max_bytes=self.max_bytes, min_side=self.min_side, max_pixels=self.max_pixels, max_aspect=self.max_aspect
        )
