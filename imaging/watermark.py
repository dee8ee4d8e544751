"""Logos: the stored copy, the halo that keeps a logo legible, and stamping it on a picture."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from imaging.encode import encode_png
from imaging.errors import ImageError, ImageErrorCode

HALO_SHARE_OF_SIDE, HALO_SHARE_OF_SIZE = 0.05, 0.08
"""Reach of the halo around the logo: a share of its longer side, and at most this share of the square root of its area,
so that it stays an outline around a long and low wordmark and does not become a bar behind it."""

LEAST_REACH = 3
"""Pixels; a narrower halo sets nothing off."""

HALO_LIMIT = 0.85
"""How much of the ground the halo hides at most, 0 to 1; some of it always shows through."""

ENOUGH_CONTRAST = 120.0
"""Difference in brightness, 0 to 255, between ink and ground that the halo sees to. White on a grey that is this
much darker has a ratio of 3.6:1; WCAG 2.2 (1.4.11) asks 3:1 of graphics."""

LEAST_CONTRAST = 80.0
"""Ink this far from black and from white may be set off on either side: the ground is then pushed away from it on
the side where it is already."""

CLEARLY_ASIDE = 40.0
"""Difference in brightness, 0 to 255, from which a spot of the ground has a side of its own. Less than that may be a
fold or noise, and the side of the wider surroundings is taken: a halo that changes sides at each fold looks dirty."""

TIE = 4.0
"""Surroundings of the ink's own brightness, give or take this much, count as lighter; rounding must not decide."""

FULL_HALO = 1.6
"""The halo's soft shape is raised by this factor and cut at 1, so that it is dense where it touches the ink."""

LIGHT, DARK = 255.0, 0.0

LUMA = np.array([0.299, 0.587, 0.114], np.float32)
"""Weights of red, green and blue in perceived brightness (ITU-R BT.601)."""


def _set_off(ground: NDArray[np.float32], layer: NDArray[np.float32], reach: int) -> NDArray[np.float32]:
    """Lighten or darken the ground around a logo wherever the two would be about equally bright.

    Args:
        ground: ``(height, width, 3)``, 0 to 255: the picture where the logo will lie, ``reach`` pixels more all around.
        layer: ``(height, width, 4)``, the logo there: colour times alpha, 0 to 255, and alpha, 0 to 1.
        reach: Pixels from the logo's edge to where its halo ends.

    Returns:
        The ground with its halo, light around dark ink and dark around light ink, each part of the logo by itself.
    """
    shape = _shape_of_halo(layer[..., 3], reach)
    lift, drop = _need_of_halo(ground @ LUMA, _brightness_of_ink(layer, reach), reach)
    lifted = ground + (LIGHT - ground) * (shape * lift)[..., None]
    return np.asarray(lifted + (DARK - lifted) * (shape * drop)[..., None], np.float32)


def _brightness_of_ink(layer: NDArray[np.float32], reach: int) -> NDArray[np.float32]:
    """Perceived brightness, 0 to 255, of the part of the logo that is nearest to each pixel."""
    side = 4 * reach + 1
    weighed, cover = (
        cv2.GaussianBlur(plane, (side, side), reach / 2, borderType=cv2.BORDER_CONSTANT)
        for plane in (layer[..., :3] @ LUMA, np.ascontiguousarray(layer[..., 3]))
    )
    return np.asarray(weighed / np.maximum(cover, np.finfo(np.float32).eps), np.float32)


def _shape_of_halo(alpha: NDArray[np.float32], reach: int) -> NDArray[np.float32]:
    """The logo's shape, widened and softened: full behind it, gone after ``reach`` pixels, faint for a faint logo."""
    widening = max(1, reach // 3)
    wide = cv2.dilate(alpha, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * widening + 1, 2 * widening + 1)))
    softening = reach - widening
    side = 2 * softening + 1
    soft = cv2.GaussianBlur(wide, (side, side), softening / 2, borderType=cv2.BORDER_CONSTANT)
    return np.asarray(np.minimum(soft * FULL_HALO, cv2.dilate(alpha, np.ones((2 * reach + 1,) * 2))), np.float32)


def _need_of_halo(
    ground: NDArray[np.float32], ink: NDArray[np.float32], reach: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How far the ground has to be lifted towards white, and dropped towards black, to differ from the ink.

    Args:
        ground: ``(height, width)``, brightness of the picture, 0 to 255.
        ink: ``(height, width)``, brightness of the logo, 0 to 255.
        reach: Of the halo, in pixels.

    Returns:
        Both as ``(height, width)``, 0 to `HALO_LIMIT`: just so much that they differ by `ENOUGH_CONTRAST`.
    """
    near, around = (cv2.blur(ground, (side, side)) for side in (reach | 1, 8 * reach + 1))
    aside = near - ink
    lifted = np.where(np.abs(aside) > CLEARLY_ASIDE, aside > 0, around > ink - TIE)
    lifted = (lifted | (ink < LEAST_CONTRAST)) & (ink <= LIGHT - LEAST_CONTRAST)
    lift = (ENOUGH_CONTRAST - aside) / np.maximum(LIGHT - near, 1.0)
    drop = (ENOUGH_CONTRAST + aside) / np.maximum(near - DARK, 1.0)
    return _softened(np.where(lifted, lift, 0.0), reach), _softened(np.where(lifted, 0.0, drop), reach)


def _softened(need: NDArray[np.float32], reach: int) -> NDArray[np.float32]:
    return np.asarray(cv2.blur(np.clip(need, 0.0, HALO_LIMIT).astype(np.float32), (reach | 1, reach | 1)), np.float32)


KEPT_SIDE = 1024
"""Longer side in pixels of the kept copy: sharp at 18 % of the width of pictures up to 5600 pixels wide."""

VISIBLE_ALPHA = 8
"""Opacity, 0 to 255, from which a pixel counts as part of the logo; fainter ones are left-overs of drawing tools."""


@dataclass(frozen=True)
class KeptLogo:
    """A logo as it is kept.

    Attributes:
        png: RGBA, sRGB, without metadata and without an invisible border.
        width: Pixels.
        height: Pixels.
    """

    png: bytes
    width: int
    height: int


def normalise_logo(logo: NDArray[np.uint8]) -> KeptLogo:
    """Cut off a logo's border where nothing can be seen, and encode it afresh.

    Without the cut, a logo in the middle of a large empty canvas would come out tiny and far from its corner.

    Args:
        logo: ``(height, width, 4)``, straight alpha, with `KEPT_SIDE` pixels at most.

    Raises:
        ImageError: ``image_not_readable`` for a logo that is wholly transparent.
    """
    rows, columns = np.nonzero(logo[..., 3] >= VISIBLE_ALPHA)
    if rows.size == 0:
        raise ImageError(ImageErrorCode.NOT_READABLE, "a logo that is wholly transparent")
    visible = logo[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    return KeptLogo(encode_png(visible, kept=True), width=visible.shape[1], height=visible.shape[0])


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
    own_height, own_width = logo_rgba.shape[:2]
    scale = min(
        width * width_share / own_width,
        max(1, width - 2 * margin) / own_width,
        max(1, min(height - 2 * margin, height * MAX_HEIGHT_SHARE)) / own_height,
    )
    logo_width, logo_height = max(1, round(own_width * scale)), max(1, round(own_height * scale))
    logo = _resize_premultiplied(logo_rgba, (logo_width, logo_height))
    by_side, by_size = max(logo_width, logo_height), math.sqrt(logo_width * logo_height)
    reach = max(LEAST_REACH, round(min(by_side * HALO_SHARE_OF_SIDE, by_size * HALO_SHARE_OF_SIZE)))
    layer = np.pad(logo, ((reach, reach), (reach, reach), (0, 0)))

    left, top = width - margin - logo_width - reach, height - margin - logo_height - reach
    rows = slice(max(0, top), min(height, top + layer.shape[0]))
    columns = slice(max(0, left), min(width, left + layer.shape[1]))
    seen = (slice(rows.start - top, rows.stop - top), slice(columns.start - left, columns.stop - left))

    ink = layer[seen]
    ground = _set_off(picture[rows, columns].astype(np.float32), ink, reach)
    blended = ink[..., :3] + ground * (1.0 - ink[..., 3:])
    stamped[rows, columns] = np.clip(np.rint(blended), 0, 255).astype(np.uint8)
    return stamped


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
