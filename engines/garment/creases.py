"""The dark line along which a sleeve lies on the torso."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.garment.cloth import Cloth
from engines.garment.ground import to_lab

INWARDS, OUTWARDS = 0.06, 0.10
"""How far beside the place where the sleeves are thought to begin a crease is looked for, in torso widths."""

LINE, AROUND = 1.5, 8.0
"""Blur at which a crease is dark and blur of the cloth around it, canvas pixels."""

CLEAR = 8.0
"""Lightness, in CIE L, by which a crease that counts in full is darker than the cloth around it."""

ASIDE = 0.5
"""What a path gives up, of one clear crease per row, at the ends of where it is looked for."""

STEADY = 0.03
"""Blur of the path along the crease, as a share of its rows."""


def crease_beside(
    cloth: Cloth, axis: float, side: int, *, offset: float, rows: tuple[int, int], width: float
) -> NDArray[np.float64]:
    """The course of the crease between a resting sleeve and the torso.

    The path of most darkness from the first row to the last, which steps aside by at most one pixel per row: print
    and folds that cross it are short.

    Args:
        cloth: The garment.
        axis: x of its mirror axis.
        side: -1 for the sleeve left in the picture, 1 for the right one.
        offset: Distance from the axis at which the sleeves are thought to begin, pixels.
        rows: First row and the one after the last.
        width: Width of the torso, pixels.

    Returns:
        ``(rows,)`` distance of the crease from the axis, pixels.
    """
    reach = np.arange(round(offset - INWARDS * width), round(offset + OUTWARDS * width) + 1)
    columns = np.clip(np.rint(axis + side * reach).astype(int), 0, cloth.alpha.shape[1] - 1)
    first = max(int(columns.min()) - round(2 * AROUND), 0)
    window = (slice(*rows), slice(first, int(columns.max()) + round(2 * AROUND)))
    lab = to_lab(np.asarray(np.clip(cloth.colour[window] * 255, 0, 255), dtype=np.uint8))
    light = np.ascontiguousarray(lab[..., 0])
    darker = cv2.GaussianBlur(light, (0, 0), AROUND) - cv2.GaussianBlur(light, (0, 0), LINE)
    covered = cloth.alpha[window] > 0.5
    merit = (np.clip(darker / CLEAR, 0.0, 1.0) * covered)[:, columns - first]
    merit -= ASIDE * ((reach - offset) / (OUTWARDS * width)) ** 2
    path = reach[_best_path(merit)].astype(np.float64)
    return np.asarray(ndimage.gaussian_filter1d(path, max(STEADY * len(path), 1.0), mode="nearest"))


def _best_path(merit: NDArray[np.float32]) -> NDArray[np.int64]:
    """Column per row of the path of greatest sum, each at most one column from the one before."""
    beside = np.arange(-1, 2)
    columns = np.arange(merit.shape[1])
    best, came_from = merit[0].astype(np.float64), np.zeros(merit.shape, np.int64)
    for row in range(1, len(merit)):
        padded = np.pad(best, 1, constant_values=-np.inf)
        candidates = padded[columns[None] + beside[:, None] + 1]
        # Straight on where all are alike.
        choice = np.argmax(candidates - 1e-6 * np.abs(beside)[:, None], axis=0)
        came_from[row] = columns + beside[choice]
        best = candidates[choice, columns] + merit[row]
    path = np.empty(len(merit), np.int64)
    path[-1] = int(np.argmax(best))
    for row in range(len(merit) - 1, 0, -1):
        path[row - 1] = came_from[row, path[row]]
    return path
