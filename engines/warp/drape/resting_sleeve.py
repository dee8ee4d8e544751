"""Sleeves that lie against the torso in the photo of the garment: the dark line between both is no part of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.garment.curves import lengths_along
from engines.garment.upper_landmarks import UpperLandmarks
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import ease, towards
from engines.warp.ribbon import Ribbon

BESIDE = (0.015, 0.03, 0.045, 0.06)
"""Distances beyond a sleeve's inner edge at which the torso is looked for, over the garment's width at the chest."""

SMOOTH = 1.5
"""Rows over which the rest of a sleeve begins and ends (standard deviation)."""

SHADED, BEYOND = 0.15, 0.06
"""How much of a sleeve beside the torso lies in the shade of the line between them, and how far beyond the arm's own
edge its cloth goes on there, over its width."""

FAR_INSIDE = 12.0
"""Pixels inside of a cut from which nothing of it is seen."""

AT_ARMPIT = 0.25
"""Length of the inner edge over which that strip grows, over the garment's width at the chest: at the seam sleeve and
torso are one cloth."""


def resting(marks: UpperLandmarks, outer: NDArray[np.float32], inner: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(rows,)`` how far a sleeve lies against the torso in the garment's photo, 0 to 1.

    Args:
        marks: Landmarks of the garment.
        outer: ``(rows, 2)`` the sleeve's outer edge on the canvas.
        inner: ``(rows, 2)`` its inner edge, from the armpit to the cuff.
    """
    beyond = towards(inner - outer)
    touched = np.zeros(len(inner), np.float32)
    for distance in BESIDE:
        inside, framed = values_at(marks.torso_part, inner + beyond * np.float32(distance * marks.chest))
        touched = np.maximum(touched, (inside.astype(bool) & framed).astype(np.float32))
    grown = ease(lengths_along(inner.astype(np.float64)) / (AT_ARMPIT * marks.chest))
    return np.asarray(ndimage.gaussian_filter1d(touched, SMOOTH, mode="nearest") * grown, np.float32)


def without_shade(
    outer: NDArray[np.float32], inner: NDArray[np.float32], rests: NDArray[np.float32]
) -> NDArray[np.float32]:
    """``(rows, 2)`` the inner edge of a sleeve on the canvas without the strip that the torso shades where it rests."""
    return np.asarray(inner + (outer - inner) * (SHADED * rests)[:, None], np.float32)


def from_cut(ribbon: Ribbon, rests: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(rows, cols)`` how far inside of its inner end each point of a sleeve lies, pixels.

    There it is cut where it rests; elsewhere it ends as its cloth does. In its photo it ends in teeth there.

    Args:
        ribbon: The sleeve, its places across it from -1 at the outer edge to 1 at the inner one.
        rests: ``(rows,)`` from `resting`.
    """
    across = np.asarray(ribbon.across, np.float32)
    width = np.linalg.norm(ribbon.target[:, -1] - ribbon.target[:, 0], axis=1) / np.ptp(across, axis=1)
    return np.asarray((1 + 2 * BEYOND - across) * width[:, None] + FAR_INSIDE * (1 - rests)[:, None], np.float32)
