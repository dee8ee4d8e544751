"""Stamp a logo on a finished picture."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

HALO_SHARE = 0.05
"""Reach of the halo around the logo, as a share of the logo's width."""

HALO_STRENGTH = 0.7
"""How much of the ground the halo hides where it is densest, 0 to 1."""

ENOUGH_CONTRAST = 150.0
"""Difference in brightness, 0 to 255, at which a logo is legible without any halo."""

LIGHT, DARK = 255.0, 0.0

LUMA = np.array([0.299, 0.587, 0.114], np.float32)
"""Weights of red, green and blue in perceived brightness (ITU-R BT.601)."""


def stamp_logo(
    picture: NDArray[np.uint8],
    logo_rgba: NDArray[np.uint8],
    width_share: float = 0.18,
    margin_share: float = 0.03,
) -> NDArray[np.uint8]:
    """Lay a logo into the bottom-right corner.

    Where the ground is about as bright as the logo, a soft halo lies between them, light for a dark logo and dark
    for a light one. Where they contrast anyway there is none.

    Args:
        picture: ``(height, width, 3)`` sRGB.
        logo_rgba: ``(height, width, 4)`` sRGB with straight alpha.
        width_share: Width of the logo as a share of the picture's width. A logo that would then not fit between
            the margins is made smaller.
        margin_share: Distance from the right and lower edge as a share of the picture's width.

    Returns:
        A new picture; neither argument is changed.
    """
    stamped = picture.copy()
    height, width = picture.shape[:2]
    margin = round(width * margin_share)
    logo = _resize_premultiplied(logo_rgba, _size_on(width, height, margin, logo_rgba.shape, width_share))
    logo_height, logo_width = logo.shape[:2]
    reach = max(1, round(logo_width * HALO_SHARE))
    layer = np.pad(logo, ((reach, reach), (reach, reach), (0, 0)))

    left, top = width - margin - logo_width - reach, height - margin - logo_height - reach
    rows = slice(max(0, top), min(height, top + layer.shape[0]))
    columns = slice(max(0, left), min(width, left + layer.shape[1]))
    seen = (slice(rows.start - top, rows.stop - top), slice(columns.start - left, columns.stop - left))

    ground = picture[rows, columns].astype(np.float32)
    brightness = _mean_brightness(layer)
    halo = _shape_of_halo(layer[..., 3], reach)[seen] * _need_of_halo(ground, brightness, reach)
    tone = DARK if brightness > (LIGHT + DARK) / 2 else LIGHT
    ground += (tone - ground) * halo[..., None]
    ink = layer[seen]
    blended = ink[..., :3] + ground * (1.0 - ink[..., 3:])
    stamped[rows, columns] = np.clip(np.rint(blended), 0, 255).astype(np.uint8)
    return stamped


def _size_on(width: int, height: int, margin: int, logo_shape: tuple[int, ...], width_share: float) -> tuple[int, int]:
    """Width and height of the logo in pixels of the picture, at least 1."""
    logo_height, logo_width = logo_shape[:2]
    scale = min(
        width * width_share / logo_width,
        max(1, width - 2 * margin) / logo_width,
        max(1, height - 2 * margin) / logo_height,
    )
    return max(1, round(logo_width * scale)), max(1, round(logo_height * scale))


def _resize_premultiplied(logo_rgba: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.float32]:
    """Resize with colours weighted by their alpha, so that what lies under transparency never bleeds out.

    Returns:
        ``(height, width, 4)`` float32: colour times alpha, 0 to 255, and alpha, 0 to 1.
    """
    layer = logo_rgba.astype(np.float32)
    layer[..., 3] /= 255.0
    layer[..., :3] *= layer[..., 3:]
    shrinks = size[0] < logo_rgba.shape[1]
    resized = cv2.resize(layer, size, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)
    return np.asarray(resized, np.float32)


def _mean_brightness(layer: NDArray[np.float32]) -> float:
    """Perceived brightness of what can be seen of the logo, 0 to 255."""
    cover = float(layer[..., 3].sum())
    return float((layer[..., :3] @ LUMA).sum()) / cover if cover > 0 else DARK


def _shape_of_halo(alpha: NDArray[np.float32], reach: int) -> NDArray[np.float32]:
    """The logo's shape, widened and softened: full behind it, gone after ``reach`` pixels, faint for a faint logo."""
    widening = reach // 3
    wide = cv2.dilate(alpha, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * widening + 1, 2 * widening + 1)))
    softening = reach - widening
    side = 2 * softening + 1
    return np.asarray(cv2.GaussianBlur(wide, (side, side), softening / 2, borderType=cv2.BORDER_CONSTANT), np.float32)


def _need_of_halo(ground: NDArray[np.float32], brightness: float, reach: int) -> NDArray[np.float32]:
    """How strong the halo has to be around each pixel, 0 to `HALO_STRENGTH`: the less contrast, the stronger."""
    surroundings = cv2.blur(ground @ LUMA, (2 * reach + 1, 2 * reach + 1))
    lacking = 1.0 - np.abs(surroundings - brightness) / ENOUGH_CONTRAST
    return np.asarray(np.clip(lacking, 0.0, 1.0) * HALO_STRENGTH, np.float32)
