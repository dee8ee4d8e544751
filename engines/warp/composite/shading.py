"""Light on the new cloth: it only ever multiplies, and never changes a hue."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import PersonMap
from engines.channels import largest_channel
from engines.garment.regions import BoolMask, eroded
from engines.warp.body.silhouette import ease

DARKEST, BRIGHTEST = 0.74, 1.10
"""Bounds of the whole shading factor."""

FOLD_DARKEST, FOLD_BRIGHTEST = 0.84, 1.09
"""Bounds of what is taken over from the old cloth."""

PRINT_CONTRAST = 16.0
"""Difference from the old cloth's usual lightness from which it is a button or a print, not a fold, CIE L."""

REDUCTION = 2
"""Folds are wide: they are measured on a copy this many times smaller."""

BLACK, DARK = 12.0, 35.0
"""Lightness of old cloth up to which its folds are noise, and from which they are believed, CIE L."""


LEAST_DIM, LEAST_DARK = 0.90, 0.4
"""Least factors of a photo without bright areas, and of one without any bright spot."""

NO_HIGHLIGHT = 0.7
"""Brightness that any photo taken in good light reaches somewhere."""


def folds_of_old_cloth(photo: NDArray[np.float32], old: BoolMask, unit: float) -> tuple[NDArray[np.float32], float]:
    """Light and folds of the cloth worn in the photo, as a factor around 1, and how far they are believed, 0 to 1.

    Lightness at the scale of folds over lightness at the scale of the torso. Printed cloth would leave its print
    behind, so the plainer the old cloth, the more is taken over; on black cloth folds cannot be told from noise.

    Args:
        photo: ``(h, w, 3)`` float32, 0 to 1.
        old: ``(h, w)`` bool, the old garment.
        unit: Shoulder width in pixels.
    """
    height, width = old.shape
    half = (max(1, width // REDUCTION), max(1, height // REDUCTION))
    unit = unit / REDUCTION
    core = cv2.resize(old.astype(np.uint8), half, interpolation=cv2.INTER_NEAREST) > 0
    core = eroded(core, max(2, round(0.04 * unit)))
    if core.sum() < 200:
        return np.ones(old.shape, dtype=np.float32), 0.0
    small = np.asarray(cv2.resize(photo, half, interpolation=cv2.INTER_AREA), dtype=np.float32)
    lab = np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2LAB), dtype=np.float32)
    lightness = lab[..., 0] + 1.0
    usual = float(np.median(lightness[core]))
    weight = (core & (np.abs(lightness - usual) < PRINT_CONTRAST)).astype(np.float32)

    def averaged(sigma: float) -> NDArray[np.float32]:
        total = cv2.GaussianBlur(lightness * weight, (0, 0), sigma)
        return np.asarray(total / (cv2.GaussianBlur(weight, (0, 0), sigma) + 1e-3), dtype=np.float32)

    torso = averaged(0.20 * unit)
    folds = np.where(_share_measured(weight, 0.03 * unit) > 0.3, averaged(0.03 * unit), torso)
    fine_contrast = float(np.std((lightness / (folds + 1e-3))[core]))
    colours = float(np.std(lab[core][:, 1:], axis=0).sum())
    plainness = float(np.clip(1.6 - colours / 9, 0, 1) * np.clip(1.7 - fine_contrast / 0.08, 0, 1))
    plainness *= float(np.clip((usual - BLACK) / (DARK - BLACK), 0, 1))
    depth = cv2.distanceTransform(core.astype(np.uint8), cv2.DIST_L2, 5)
    fading = ease(np.asarray(depth / (0.12 * unit), dtype=np.float32))
    change = np.clip(folds / (torso + 1e-3), FOLD_DARKEST, FOLD_BRIGHTEST) - 1.0
    factor = (1.0 + change * fading * plainness * 0.85).astype(np.float32)
    whole = np.asarray(cv2.resize(factor, (width, height), interpolation=cv2.INTER_LINEAR), dtype=np.float32)
    return whole, plainness


def _share_measured(weight: NDArray[np.float32], sigma: float) -> NDArray[np.float32]:
    """Share of the surroundings that has been measured."""
    return np.asarray(cv2.GaussianBlur(weight, (0, 0), sigma), dtype=np.float32)


def exposure(photo: NDArray[np.float32], person_map: PersonMap) -> float:
    """Factor that keeps cloth from being brighter than the brightest parts of a dim photo.

    A person in black is no dim photo: what is behind them counts as well. Where nothing at all is bright, neither eyes
    nor a highlight, the photo was taken in the dark.
    """
    bright = largest_channel(np.ascontiguousarray(photo[::2, ::2]))
    person = person_map.matte[::2, ::2] > 127
    places = [bright[place] for place in (person, ~person) if place.any()]
    dim = np.clip(max(np.percentile(place, 97) for place in places) / 0.96, LEAST_DIM, 1.0)
    dark = np.clip(np.percentile(bright, 99.8) / NO_HIGHLIGHT, LEAST_DARK, 1.0)
    return float(dim * dark)


def bounded(factor: NDArray[np.float32], unit: float) -> NDArray[np.float32]:
    """A shading factor smoothed a little and held between `DARKEST` and `BRIGHTEST`."""
    smooth = cv2.GaussianBlur(factor, (0, 0), max(0.5, 0.006 * unit))
    return np.clip(smooth, DARKEST, BRIGHTEST).astype(np.float32)
