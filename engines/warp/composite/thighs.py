"""The legs below a straight skirt: two soft ridges of cloth, a hollow between them, a raised knee."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.regions import window_of
from engines.warp.body.limbs import Limb, usual_leg
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.pieces import Piece

FROM, FULLY = 1.0, 1.35
"""Heights between which cloth begins to lie on two legs, not on one belly, torso lengths."""

LEAST_BELOW = 0.25
"""How far below `FROM` a piece reaches at least, torso lengths."""

STRIDE = 3
"""The form is soft: it is worked out on a grid this many times coarser."""

SPREAD = 1.25
"""Half width of the ridge that a leg makes in cloth, over its own."""

BRIDGED = 0.07
"""How far cloth runs straight over what is hollow, in shoulder widths."""

LOOSE, TAUT, SLACKENS = 0.70, 0.95, 0.6
"""Reach of both legs over the width of the cloth at which nothing is seen of them, and from which all is. Below where
it lies on them it hangs on as it lay there, and by how much less over a torso length."""

FORWARD, MOST_FORWARD = 0.6, 0.30
"""How far the knee of somebody who walks comes forward, over how much lower than the other one its foot is seen, which
is nearer to the camera; and the most, in shoulder widths."""

KNEE_SPREAD = (0.75, 0.30)
"""How far above and below a knee the cloth comes forward with it, in the length of a thigh."""

SLOPE_LIGHT, HOLLOW_DARK = 0.34, 0.22
"""Light on cloth that slopes towards it, per slope; how much darker cloth is that looks at more cloth, per slope
squared."""

LEAST_ASIDE = 0.35
"""How far from the side light comes at least: right from above, what runs down would not be seen."""

MOST = 0.18
"""Bound of the change."""

AT_EDGE = 0.35
"""Share of the half width before the edge over which it fades: there cloth turns away as a whole."""


def legs_below(piece: Piece, body: BodyModel, light: tuple[float, float]) -> NDArray[np.float32]:
    """``(h, w)`` change of light around 0 by the legs on which a skirt or the lower part of a dress lies.

    Args:
        piece: Skirt, or torso of any length.
        body: The body below it.
        light: Where light comes from in the picture, a unit vector of x and y; y points down.
    """
    change = np.zeros(body.shape, dtype=np.float32)
    window = window_of((piece.alpha > 0.5) & (body.heights > FROM))
    if not piece.alpha[window].size:
        return change
    heights = body.heights[window]
    if float(heights.max()) < FROM + LEAST_BELOW:
        return change
    rows, columns = (np.arange(part.start, part.stop + STRIDE, STRIDE, dtype=np.float32) for part in window)
    unit = body.shoulder_width
    raised, reach = _raised_by_legs(body, rows, columns)
    soft = cv2.GaussianBlur(raised, (0, 0), BRIDGED * unit / STRIDE)
    down, across = np.gradient(soft, STRIDE)
    aside = float(np.copysign(max(abs(light[0]), LEAST_ASIDE), light[0]))
    lit = SLOPE_LIGHT * -(aside * across - np.sqrt(1 - aside * aside) * down) - HOLLOW_DARK * across * across
    shown = np.clip(lit, -MOST, MOST) * _tautness(piece, window, rows, reach, body.torso_length)[:, None]
    size = (len(columns) * STRIDE, len(rows) * STRIDE)
    fine = cv2.resize(shown.astype(np.float32), size, interpolation=cv2.INTER_LINEAR)
    inside = ease((1 - np.abs(piece.across[window])) / AT_EDGE) * ease((heights - FROM) / (FULLY - FROM))
    change[window] = fine[: inside.shape[0], : inside.shape[1]] * inside
    return change


def _raised_by_legs(
    body: BodyModel, rows: NDArray[np.float32], columns: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How far cloth stands forward over both legs, ``(r, c)`` pixels, and from where to where they reach, ``(r,)``."""
    unit = body.shoulder_width
    raised = np.zeros((len(rows), len(columns)), np.float32)
    ends = []
    ankle = body.skeleton.ankle
    for side, leg in body.legs.items():
        centre, half = _course(leg, rows, unit)
        ends.append((centre - half, centre + half))
        aside = (columns[None] - centre[:, None]) / (SPREAD * half[:, None])
        ridge = np.sqrt(np.maximum(1 - aside * aside, 0)) * half[:, None]
        before = np.clip(FORWARD * float(ankle[side][1] - ankle[-side][1]), 0, MOST_FORWARD * unit)
        knee = float(leg.points(np.array([leg.bend], np.float32))[0, 1])
        thigh = max(knee - float(leg.line[0, 1]), 1.0)
        away = np.where(rows < knee, (rows - knee) / (KNEE_SPREAD[0] * thigh), (rows - knee) / (KNEE_SPREAD[1] * thigh))
        forward = before * np.exp(-(away**2))[:, None] * np.exp(-0.5 * aside * aside)
        raised = np.maximum(raised, (ridge + forward).astype(np.float32))
    reach = np.maximum(ends[0][1], ends[1][1]) - np.minimum(ends[0][0], ends[1][0])
    return raised, np.asarray(reach, np.float32)


def _course(leg: Limb, rows: NDArray[np.float32], unit: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Centre and half width of a leg without its trousers in each row, pixels."""
    order = np.argsort(leg.line[:, 1])
    y = leg.line[order, 1]
    centre = np.interp(rows, y, leg.line[order, 0])
    half = np.interp(rows, y, np.minimum(usual_leg(leg, unit), (leg.outer + leg.inner) / 2)[order])
    return centre.astype(np.float32), np.maximum(half, 1.0).astype(np.float32)


def _tautness(
    piece: Piece, window: tuple[slice, slice], rows: NDArray[np.float32], reach: NDArray[np.float32], torso: float
) -> NDArray[np.float32]:
    """How closely cloth lies on the legs in each row, 0 to 1."""
    widths = np.interp(rows, np.arange(window[0].start, window[0].stop), (piece.alpha[window] > 0.5).sum(axis=1))
    tight = ease(np.asarray((reach / np.maximum(widths, 1.0) - LOOSE) / (TAUT - LOOSE), np.float32))
    slack = SLACKENS * (rows - rows[0]) / torso
    return np.asarray(np.maximum(np.maximum.accumulate(tight + slack) - slack, 0), np.float32)
