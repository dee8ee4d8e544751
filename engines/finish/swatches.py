"""The colours of a garment, and how much of them a region shows."""

from __future__ import annotations

from typing import TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.finish.views import Floats
from engines.regions import BoolMask

Value = TypeVar("Value", np.uint8, np.float32)

SWATCH_PIXELS = 2000
"""Pixels sampled from a garment; more of them do not change its palette."""

PALETTE = 4
"""Colours of a palette: ground, print, seams and shade."""

LIGHTNESS_WEIGHT = 0.5
"""Weight of the lightness: a change of light changes it far more than hue and chroma."""

SAME_COLOUR = 16.0
"""Distance, with lightness weighted, up to which a pixel shows a colour of the palette."""

SEEN_ENOUGH = 0.2
"""Share of its own weight at which a colour counts as fully there; folds, hair and other garments hide the rest."""


def swatch(picture: NDArray[Value], sure: BoolMask) -> NDArray[Value]:
    """Evenly spread pixels of a garment, ``(n, 3)``, at most `SWATCH_PIXELS`.

    Args:
        picture: ``(h, w, 3)``.
        sure: ``(h, w)`` bool, where the garment alone is seen.
    """
    places = np.flatnonzero(sure)
    step = max(1, len(places) // SWATCH_PIXELS)
    return picture.reshape(-1, 3)[places[::step][:SWATCH_PIXELS]]


def colours_seen(swatch_pixels: NDArray[np.uint8], region: Floats, light: float = 1.0) -> float:
    """How much of a garment's palette is seen in a region, 0 to 1.

    Args:
        swatch_pixels: ``(n, 3)`` sRGB of the garment, some at least.
        region: ``(m, 3)`` Lab of the pixels where it ought to be.
        light: How bright the garment is there, of how bright it is in its own picture.
    """
    if not len(region):
        return 0.0
    colours, weights = _palette(swatch_pixels)
    distances = np.stack([np.linalg.norm((region - light * colour) * _scale(), axis=1) for colour in colours])
    # A pixel shows every colour that is near it. The colours of a plain garment differ by a shade only, and in another
    # light one of them would be the nearest to all pixels.
    shares = (distances < SAME_COLOUR).mean(axis=1)
    return float((weights * np.minimum(1.0, shares / (SEEN_ENOUGH * weights))).sum())


def _scale() -> Floats:
    return np.array([LIGHTNESS_WEIGHT, 1.0, 1.0], dtype=np.float32)


def _palette(pixels: NDArray[np.uint8]) -> tuple[Floats, Floats]:
    """``(k, 3)`` Lab colours and their shares, by k-means from a fixed start."""
    lab = cv2.cvtColor(pixels[None].astype(np.float32) / 255.0, cv2.COLOR_RGB2LAB)[0]
    count = min(PALETTE, len(np.unique(pixels, axis=0)))
    # Start from pixels of evenly spread lightness: the same swatch gives the same palette every time.
    order = np.argsort(lab[:, 0], kind="stable")
    groups = np.zeros((len(lab), 1), dtype=np.int32)
    groups[order, 0] = np.arange(len(lab)) * count // len(lab)
    criteria = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 20, 0.5)
    _, groups_found, centres = cv2.kmeans(lab * _scale(), count, groups, criteria, 1, cv2.KMEANS_USE_INITIAL_LABELS)
    weights = np.bincount(np.asarray(groups_found).ravel(), minlength=count) / len(lab)
    used = weights > 0
    return np.asarray(centres, np.float32)[used] / _scale(), np.asarray(weights, np.float32)[used]
