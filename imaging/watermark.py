"""Stamp a logo on a finished picture."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from imaging.halo import reach_of_halo, set_off

MAX_HEIGHT_SHARE = 0.25
"""A logo takes at most this share of the picture's height, however tall it is for its width."""


def stamp_logo(
    picture: NDArray[np.uint8],
    logo_rgba: NDArray[np.uint8],
    width_share: float = 0.18,
    margin_share: float = 0.03,
) -> NDArray[np.uint8]:
    """Lay a logo into the bottom-right corner.

    Where the ground is about as bright as the logo, a soft halo lies between them: light around dark ink, dark around
    light ink, each part of the logo by itself. Where they contrast anyway there is none.

    Args:
        picture: ``(height, width, 3)`` sRGB.
        logo_rgba: ``(height, width, 4)`` sRGB with straight alpha.
        width_share: Width of the logo as a share of the picture's width. A logo that would then not fit between
            the margins, or be taller than `MAX_HEIGHT_SHARE`, is made smaller.
        margin_share: Distance from the right and lower edge as a share of the picture's width.

    Returns:
        A new picture; neither argument is changed.
    """
    stamped = picture.copy()
    height, width = picture.shape[:2]
    margin = round(width * margin_share)
    logo = _resize_premultiplied(logo_rgba, _size_on(width, height, margin, logo_rgba.shape, width_share))
    logo_height, logo_width = logo.shape[:2]
    reach = reach_of_halo(logo_width, logo_height)
    layer = np.pad(logo, ((reach, reach), (reach, reach), (0, 0)))

    left, top = width - margin - logo_width - reach, height - margin - logo_height - reach
    rows = slice(max(0, top), min(height, top + layer.shape[0]))
    columns = slice(max(0, left), min(width, left + layer.shape[1]))
    seen = (slice(rows.start - top, rows.stop - top), slice(columns.start - left, columns.stop - left))

    ink = layer[seen]
    ground = set_off(picture[rows, columns].astype(np.float32), ink, reach)
    blended = ink[..., :3] + ground * (1.0 - ink[..., 3:])
    stamped[rows, columns] = np.clip(np.rint(blended), 0, 255).astype(np.uint8)
    return stamped


def _size_on(width: int, height: int, margin: int, logo_shape: tuple[int, ...], width_share: float) -> tuple[int, int]:
    """Width and height of the logo in pixels of the picture, at least 1."""
    logo_height, logo_width = logo_shape[:2]
    scale = min(
        width * width_share / logo_width,
        max(1, width - 2 * margin) / logo_width,
        max(1, min(height - 2 * margin, height * MAX_HEIGHT_SHARE)) / logo_height,
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
    resized = cv2.resize(layer, size, interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_CUBIC)
    # The cubic filter overshoots beside edges.
    alpha = np.clip(resized[..., 3:], 0.0, 1.0)
    return np.concatenate([np.clip(resized[..., :3], 0.0, 255.0 * alpha), alpha], axis=2, dtype=np.float32)
