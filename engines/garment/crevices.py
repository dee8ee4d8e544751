"""Narrow ground between two parts of a garment: where a sleeve leaves the body, and where two legs part.

There the ground runs to a point. What smooths an outline fills the point, and a white or grey rag stays in the armpit.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import distance
from engines.garment.ground import Ground
from engines.garment.regions import BoolMask, dilated, eroded, opened, pieces, spread, window_of

AROUND, NARROW = 16, 0.36
"""Ground is narrow where less than this share of the square so many canvas pixels around it is ground; beside a
straight outline it is more than a half."""

REACH = 110
"""How far from such a place the ground goes on at most, canvas pixels."""

EXACTLY, OVER_NOISE = 4.0, 2.5
"""How near a pixel is to the ground's colour that may be ground beside any cloth, CIE Lab, and in spreads of it."""

SHADE, HUE = 0.28, 7.0
"""Share of its lightness that the ground keeps between two parts, and by how much a and b change there, CIE Lab."""

TINTED, PALE = 14.0, 12.0
"""By how much a and b of the ground, and its lightness, differ where coloured cloth on both sides of a point lends it
some of its own, CIE Lab: cameras store hue more coarsely than lightness."""

UPPERMOST = 4
"""Rows of a point from which the ground is followed upwards, canvas pixels."""

DEEP, BESIDE, IN_CLOTH = 12, 24, 0.08
"""Such a shade is told from cloth if of the cloth so many canvas pixels inside the outline, in the square so many
around, no more than this share has one."""

WIDEST, STEEP, POINT = 9, 1.2, 60
"""Half the width of what is taken off at most, canvas pixels, its height over its width at least, and the area up to
which its shape says nothing; other places are print as pale as the ground."""


def crevices(lab: NDArray[np.float32], ground: Ground, mask: BoolMask) -> BoolMask:
    """Ground in the points of notches that a garment's mask has filled.

    Args:
        lab: ``(h, w, 3)`` CIE Lab of the canvas.
        ground: The surface fitted to its border.
        mask: ``(h, w)``, the garment.
    """
    found = np.zeros_like(mask)
    narrow = ~mask & (_share_of(~mask, AROUND) < NARROW)
    if not narrow.any():
        return found
    window = window_of(narrow, REACH)
    inside, part, below, seeds = mask[window], lab[window], ground.colour[window], narrow[window]
    deep = eroded(mask, DEEP)[window]
    exactly = distance(part, below) < max(EXACTLY, OVER_NOISE * ground.noise)
    shaded = inside & _shaded(part, below)
    cloth = deep & ~dilated(_running_down(_led_to(seeds, shaded)), 2)
    in_cloth = _share_of(cloth & shaded, BESIDE) / np.maximum(_share_of(cloth, BESIDE), 1e-3)
    way = _led_to(seeds, inside & (exactly | (shaded & (in_cloth < IN_CLOTH))))
    away = cv2.distanceTransform((~seeds).astype(np.uint8), cv2.DIST_L2, 3)
    way &= away < REACH
    found[window] = _running_down(way)
    found[window] |= _tinted_ends(part, below, inside, found[window])
    return found


def _tinted_ends(lab: NDArray[np.float32], ground: NDArray[np.float32], inside: BoolMask, way: BoolMask) -> BoolMask:
    """Where the ground goes on above its points as they were found, in a tint of the cloth beside it.

    Args:
        lab: ``(h, w, 3)`` CIE Lab of a window of the canvas.
        ground: The ground's colour there.
        inside: ``(h, w)``, the garment.
        way: ``(h, w)``, ground in it.
    """
    tinted = inside & (lab[..., 0] > ground[..., 0] - PALE)
    for channel in (1, 2):
        tinted &= np.abs(lab[..., channel] - ground[..., channel]) < TINTED
    ends = np.zeros_like(way)
    for (rows, columns), point in pieces(opened(way, 1)):
        if np.count_nonzero(point) <= POINT:
            continue
        # Beside what was found there may be pale cloth; above it the two parts close in.
        above = slice(max(rows.start - REACH, 0), rows.start + UPPERMOST)
        near = slice(max(columns.start - WIDEST, 0), columns.stop + WIDEST)
        seeds = np.zeros_like(tinted[above, near])
        seeds[-UPPERMOST:, columns.start - near.start :][:, : point.shape[1]] = point[:UPPERMOST]
        ends[above, near] |= _running_down(_led_to(seeds, tinted[above, near] | seeds))
    return ends


def _led_to(seeds: BoolMask, candidates: BoolMask) -> BoolMask:
    """The candidates that hang together with a seed."""
    return spread(seeds, candidates) & candidates


def _running_down(mask: BoolMask) -> BoolMask:
    """Places that are narrow and run downwards, as ground between sleeves and legs does, or are hardly a point."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=8)
    wide, high, area = (stats[:, key] for key in (cv2.CC_STAT_WIDTH, cv2.CC_STAT_HEIGHT, cv2.CC_STAT_AREA))
    kept = (high > STEEP * wide) | (area <= POINT)
    kept[0] = False
    kept[np.unique(labels[opened(mask, WIDEST)])] = False
    return np.asarray(kept[labels])


def _share_of(mask: BoolMask, reach: int) -> NDArray[np.float32]:
    """``(h, w)`` share of a mask in the square around each pixel."""
    size = (2 * reach + 1, 2 * reach + 1)
    return np.asarray(cv2.blur(mask.astype(np.float32), size, borderType=cv2.BORDER_REPLICATE), dtype=np.float32)


def _shaded(lab: NDArray[np.float32], ground: NDArray[np.float32]) -> BoolMask:
    """Which pixels have the ground's hue and lie in a shade on it."""
    hue = np.maximum(np.abs(lab[..., 1] - ground[..., 1]), np.abs(lab[..., 2] - ground[..., 2]))
    return np.asarray((hue < HUE) & (lab[..., 0] > SHADE * ground[..., 0]), dtype=bool)
