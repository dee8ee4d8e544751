"""Rests of the inside of the back that a front neckline found a little too high would leave on the garment."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.garment.cloth import Cloth
from engines.garment.ground import to_lab
from engines.garment.regions import BoolMask, opened, window_of

REACH = 0.05
"""How far beside the neckline such a rest lies at most, in neck widths: what reaches further is a print or a stripe."""

OTHER, OTHERNESS = 14.0, 4.0
"""Least distance of its colour from the usual one beside the neckline, in CIE Lab, and in usual distances."""

MOST = 0.12
"""Largest share of what lies beside the neckline that rests may have: more is a pattern."""

TOUCHING, LEAST = 1.5, 2.0
"""How near it lies to the inside that was found, and how far it reaches at least, canvas pixels: less goes with the
soft edge of the cut."""

BESIDE, BEND = 3, 1.2
"""Points of the line that are moved with one that is, and blur of how far, in its points."""

SPIKE, SPIKES_WITHIN = 0.02, 0.14
"""Half the width of a scrap that is no neckband, and how far from the ends of the neckline it is looked for, in neck
widths."""


def rests_of_back(cloth: Cloth, back: BoolMask, width: float) -> BoolMask:
    """Corners of a label, and slivers of the back, that hang below the neckline: small, and unlike the front there.

    Args:
        cloth: The garment.
        back: ``(h, w)`` bool, the inside of the back as it was found.
        width: Of the neck, canvas pixels.

    Returns:
        ``(h, w)`` bool.
    """
    rests = np.zeros_like(back)
    reach = REACH * width
    window = window_of(back, int(3 * reach))
    if not back[window].size:
        return rests
    inside, cover = back[window], cloth.alpha[window]
    away = np.asarray(cv2.distanceTransform((~inside).astype(np.uint8), cv2.DIST_L2, 5))
    beside = (away > 0) & (away < 2 * reach) & (cover > 0.9)
    if not beside.any():
        return rests
    lab = to_lab(np.clip(cloth.colour[window] * 255, 0, 255).astype(np.uint8))
    unlike = _unlike(lab, beside & (away < reach), beside)
    numbered, count = ndimage.label(unlike)
    every = np.arange(1, count + 1)
    nearest, farthest = (np.asarray(find(away, numbered, every)) for find in (ndimage.minimum, ndimage.maximum))
    small = np.isin(numbered, every[(nearest <= TOUCHING) & (farthest > LEAST) & (farthest < reach)])
    if small.sum() < MOST * (beside & (away < reach)).sum():
        rests[window] = small
    return rests


def led_around(line: NDArray[np.float32], rests: BoolMask, width: float) -> NDArray[np.float32]:
    """A neckline that runs below the rests of the back in one even bend.

    Args:
        line: ``(n, 2)`` x and y from left to right.
        rests: ``(h, w)`` bool, from `rests_of_back`.
        width: Of the neck, canvas pixels.
    """
    along = np.gradient(line, axis=0)
    along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
    normals = np.stack([-along[:, 1], along[:, 0]], axis=1)
    out = np.arange(0.0, REACH * width + 1.0, 0.5, dtype=np.float32)
    place = np.rint(line[:, None] + out[:, None] * normals[:, None]).astype(int)
    x, y = (np.clip(place[..., axis], 0, rests.shape[1 - axis] - 1) for axis in range(2))
    deep = (rests[y, x] * out).max(axis=1)
    even = ndimage.gaussian_filter1d(ndimage.maximum_filter1d(deep, BESIDE), BEND, mode="nearest")
    return np.asarray(line + normals * even[:, None], np.float32)


def spikes_at(front: BoolMask, ends: tuple[NDArray[np.float64], NDArray[np.float64]], width: float) -> BoolMask:
    """What is thin of the front where its neckline ends: scraps of the back beside the neckband, and torn corners."""
    spikes = np.zeros_like(front)
    reach, radius = int(SPIKES_WITHIN * width), max(2, round(SPIKE * width))
    for x, y in ends:
        rows = slice(max(int(y) - reach, 0), int(y) + reach)
        columns = slice(max(int(x) - reach, 0), int(x) + reach)
        spikes[rows, columns] = front[rows, columns] & ~opened(front[rows, columns], radius)
    return spikes


def _unlike(lab: NDArray[np.float32], usual: BoolMask, asked: BoolMask) -> BoolMask:
    """Where asked for, ``(h, w)``, what is unlike the usual colour."""
    if not usual.any():
        return np.zeros_like(asked)
    away = np.linalg.norm(lab - np.median(lab[usual], axis=0), axis=2)
    return np.asarray(asked & (away > max(OTHER, OTHERNESS * float(np.median(away[usual])))))
