"""Where trousers end that are tucked into boots: labels run a little beside the rim of the shaft, colours do not."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.garment.regions import BoolMask, eroded
from engines.warp.body.boots import rim_of_boot
from engines.warp.body.model import SIDES, BodyModel

ABOVE, BELOW, BESIDE = 0.16, 0.12, 0.26
"""How far around the rim in the labels it is looked for, upwards, downwards and to both sides, in shoulder widths."""

SURE, SHAFT = 0.02, (0.06, 0.20)
"""How far inside its labels cloth is surely cloth, and how far below the rim lies what is surely shaft, in shoulder
widths."""

SHADES = (0.3, 1.2)
"""Between which brightnesses over its own a colour may be seen, in the folds of the cloth and in the light."""

TOLD_APART = 0.06
"""Least difference of both colours in whatever light by which they are told apart, per channel on average."""

LEAST_SEEN = 40
"""Pixels from which a colour is known."""

STRAY = 0.08
"""How far from the rim the line between both colours strays at most, in shoulder widths."""


def rims_of_boots_told(photo: NDArray[np.float32], labels: NDArray[np.uint8], body: BodyModel) -> NDArray[np.uint8]:
    """Labels in which trousers and the boots that they are tucked into meet at the rim that the photo shows.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        labels: ``(height, width)`` of `Label`.
        body: Measured from that photo.
    """
    told = labels
    for side in SIDES:
        rim = rim_of_boot(body, side)
        if rim is None:
            continue
        x, y = body.legs[side].points(np.array([rim]))[0]
        unit = body.shoulder_width
        window = (
            slice(max(0, round(y - ABOVE * unit)), round(y + SHAFT[1] * unit)),
            slice(max(0, round(x - BESIDE * unit)), round(x + BESIDE * unit)),
        )
        if told is labels:
            told = labels.copy()
        middle = round(y) - window[0].start, round(x) - window[1].start
        told[window] = _told(photo[window], labels[window], middle, unit)
    return told


def _told(
    photo: NDArray[np.float32], labels: NDArray[np.uint8], middle: tuple[int, int], unit: float
) -> NDArray[np.uint8]:
    """The same in a window; ``middle`` is the row and the column of the rim on the leg's line."""
    rows = np.arange(len(labels))[:, None]
    cloth = eroded(labels == Label.LOWER, max(1, round(SURE * unit)))
    shaft = eroded(labels == Label.FEET, 1) & (rows > middle[0] + SHAFT[0] * unit)
    if min(cloth.sum(), shaft.sum()) < LEAST_SEEN:
        return labels
    smooth = np.asarray(cv2.GaussianBlur(photo, (0, 0), 0.8), np.float32)
    colours = [np.median(photo[known], axis=0) for known in (cloth, shaft)]
    if _unlike(colours[0][None], colours[1])[0] < TOLD_APART:
        return labels
    worn = (labels == Label.LOWER) | (labels == Label.FEET)
    # Over a column the rim lies where most above it is like the cloth, and most below it like the shaft.
    likeness = (_unlike(smooth, colours[1]) - _unlike(smooth, colours[0])) * worn
    likeness[rows[:, 0] > middle[0] + BELOW * unit] = -np.inf
    gained = np.cumsum(likeness, axis=0)
    line = np.argmax(gained, axis=0) + 1
    columns = _of_shaft(worn, labels == Label.FEET, middle)
    if not columns.any():
        return labels
    level = _round_rim(np.flatnonzero(columns), line[columns], unit)(np.arange(labels.shape[1]))
    return np.asarray(np.where(worn, np.where(rows < level, np.uint8(Label.LOWER), np.uint8(Label.FEET)), labels))


def _round_rim(columns: NDArray[np.int64], rows: NDArray[np.int64], unit: float) -> np.poly1d:
    """The rim as one bow, as a round shaft seen from above or below has it; laces and loops stray from it."""
    bow = np.poly1d([float(np.median(rows))])
    for stray in (STRAY * unit, STRAY * unit / 2.0):
        near = np.abs(rows - bow(columns)) < max(stray, 2.0)
        if near.sum() < len(rows) // 3:
            break
        bow = np.poly1d(np.polyfit(columns[near], rows[near], 2))
    return bow


def _of_shaft(worn: BoolMask, feet: BoolMask, middle: tuple[int, int]) -> BoolMask:
    """``(w,)``: the columns in which the shaft of this boot is seen below its rim."""
    numbered, _ = ndimage.label(feet)
    own = numbered[middle[0] :, middle[1]]
    own = own[own > 0]
    if not len(own):
        return np.zeros(worn.shape[1], bool)
    return np.asarray((numbered[middle[0] :] == own[0]).any(axis=0))


def _unlike(pixels: NDArray[np.float32], colour: NDArray[np.float32]) -> NDArray[np.float32]:
    """How far pixels are from a colour in the light that suits them best, per channel on average."""
    tone = np.clip(pixels @ colour / max(float(colour @ colour), 1e-4), *SHADES)
    return np.asarray(np.abs(pixels - tone[..., None] * colour).mean(axis=-1), np.float32)
