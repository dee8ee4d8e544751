"""The inside of a back that hangs below the front's hem: on a table a dull band along the lower edge of a top.

Front and back meet at the sides, so that the band is a crescent; a border that belongs to the front is as wide at the
sides as in its middle.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from scipy import ndimage

from engines.garment.cloth import Cloth
from engines.garment.ground import to_lab
from engines.garment.neckline import even_cover
from engines.garment.regions import BoolMask, dilated, eroded, longest_run, opened
from engines.garment.steady_edge import Reals, steadiness

ABOVE_HEM = 0.85
"""Share of the garment's height in whose row its hem begins to be followed."""

CORNERS, BELLIES, POWERS = np.arange(0.0, 0.27, 0.02), np.arange(0.0, 0.25, 0.0125), (2.0, 3.0)
"""Heights of both ends of the front's hem above the lowest place of the garment, how far its middle hangs below them,
in widths of the hem, and exponents of its curve."""

LEAST_DEPTH, MOST_DEPTH, MOST_AT_ENDS = 0.02, 0.09, 0.5
"""Depth of the band in its middle, in widths of the hem, and near its ends, in depths of its middle."""

POINTS = 61
"""Places along the front's hem at which its edge is looked for."""

MIDDLE, NEAR_ENDS, AT_ENDS = slice(POINTS // 3, -(POINTS // 3)), slice(6, -6), (4, -5)
"""Points of its middle, those at which the band is below, and those near its ends."""

RIM, BESIDE = 4, 5
"""Width of the outline in which colours say nothing, and how far beside the edge front and inside are compared, canvas
pixels."""

LEAST_SCORE, DARKER = 0.45, 12.0
"""How steadily colours change across the edge, 1 for a clear edge all along, and by how much darker the inside is, CIE
L: no light falls into a garment from below."""

FITTED, STIFF = 0.04, 2.0
"""How far from the curve its edge is then looked for in each column, in widths of the hem, and blur along it, in
hundredths of them."""

BORDER_ENDS, BORDER_STEP = 0.03, 0.004
"""Share of a hem at either end that is rounded, and steps in which the width of a border is tried, in widths of the
hem."""

SPIKE = 0.025
"""Half the width of a scrap that is no front, in widths of the hem."""

ENDS, ABOVE_ENDS, LIKE_INSIDE = 0.10, 0.06, 0.7
"""Where front and inside meet, the edge is steep and is found too low: share of the hem at either end in which scraps
of the inside may be left, how far above the edge, in widths of the hem, and how near their colour is to the inside's,
over its distance from the front's."""

LEAST_WIDTH = 40
"""Narrowest hem that is looked at, canvas pixels."""


def without_hem_inside(cloth: Cloth) -> Cloth:
    """A top without the inside of its back below its front's hem.

    Args:
        cloth: The whole garment.
    """
    mask = np.asarray(cloth.alpha > 0.5)
    end, top = _hem_part(mask)
    columns = np.flatnonzero(end.any(axis=0))
    if len(columns) < LEAST_WIDTH:
        return cloth
    bottom = (top + end.shape[0] - 1.0 - end[::-1, columns[0] : columns[-1] + 1].argmax(axis=0)).astype(np.float64)
    arcs = _arcs(columns, bottom)
    if not len(arcs):
        return cloth
    window = (
        slice(top, top + min(int(bottom.max()) - top + 2 * RIM, len(end))),
        slice(int(columns[0]), int(columns[-1]) + 1),
    )
    origin = np.array([columns[0], top], np.float64)
    inside = eroded(mask[window], RIM)
    borders = _borders(columns, bottom)
    scores, _ = steadiness(cloth.colour[window], inside, np.concatenate([arcs, borders]) - origin)
    best = int(np.argmax(scores))
    if best >= len(arcs) or scores[best] < LEAST_SCORE:
        return cloth
    arc = arcs[best] - origin
    light = to_lab(np.clip(cloth.colour[window] * 255, 0, 255).astype(np.uint8))[..., 0]
    if _darker(light, arc) < DARKER:
        return cloth
    front = mask[window] & (np.arange(len(light))[:, None] <= _fitted(light, arc, len(columns)))
    above = min(top, round(2 * ABOVE_ENDS * len(columns)))
    taller = slice(top - above, window[0].stop), window[1]
    scraps = _scraps_at_ends(cloth.colour[taller], mask[taller], np.vstack([mask[taller][:above], front]))[above:]
    # Where the edge was found a little too low at a side, a scrap of the inside would be a spike of the hem.
    spikes = front & ~opened(front & ~scraps, max(1, round(SPIKE * len(columns))))
    spikes[: round(float(arc[:, 1].min() - SPIKE * len(columns)))] = False
    beyond = np.zeros_like(mask)
    beyond[window] = end[: len(light), window[1]] & (~front | scraps | spikes)
    # The soft rim of the matte goes with it, beside it too.
    around = np.ones((2 * RIM + 1, 2 * RIM - 1), np.uint8)
    grown = cv2.dilate(beyond.astype(np.uint8), around, anchor=(RIM - 1, 2 * RIM)) > 0
    return replace(cloth, alpha=np.asarray(cloth.alpha * (1.0 - even_cover(grown)), np.float32))


def _scraps_at_ends(colour: np.ndarray, mask: BoolMask, front: BoolMask) -> BoolMask:
    """What of the inside is left above the edge at both ends of a hem, by its colour.

    Args:
        colour: ``(h, w, 3)`` float32 sRGB, 0 to 1.
        mask: ``(h, w)`` bool, the cloth.
        front: ``(h, w)`` bool, what of it lies above the edge.
    """
    width = mask.shape[1]
    reach, count = max(2, round(ABOVE_ENDS * width)), max(2, round(ENDS * width))
    lab = to_lab(np.clip(colour * 255, 0, 255).astype(np.uint8))
    scraps = np.zeros_like(mask)
    for end in (slice(0, count), slice(width - count, width)):
        inside = eroded(mask[:, end] & ~front[:, end], 1)
        near = front[:, end] & dilated(mask[:, end] & ~front[:, end], reach)
        above = front[:, end] & ~near & dilated(near, reach)
        if not (inside.any() and near.any() and above.any()):
            continue
        to_inside, to_front = (
            np.linalg.norm(lab[:, end] - np.median(lab[:, end][part], axis=0), axis=2) for part in (inside, above)
        )
        like, below = near & (to_inside < LIKE_INSIDE * to_front), dilated(mask[:, end] & ~front[:, end], 1)
        numbered, _ = ndimage.label(like | (mask[:, end] & ~front[:, end]))
        scraps[:, end] = like & np.isin(numbered, np.unique(numbered[below & (numbered > 0)]))
    return scraps


def _hem_part(mask: BoolMask) -> tuple[BoolMask, int]:
    """The lower end of the torso, ``(rows, width)`` bool without what hangs beside it, and its first row."""
    rows = np.flatnonzero(mask.any(axis=1))
    if not len(rows):
        return mask[:0], 0
    top = int(rows[0] + ABOVE_HEM * (rows[-1] - rows[0]))
    first, stop = longest_run(mask[top])
    if first == stop:
        return mask[:0], 0
    numbered, _ = ndimage.label(mask[top:])
    return np.asarray(numbered == numbered[0, (first + stop) // 2]), top


def _arcs(columns: np.ndarray, bottom: Reals) -> Reals:
    """``(n, POINTS, 2)`` hems that the front may have above a lower edge with this row per column, if any."""
    first, width = float(columns[0]), float(columns[-1] - columns[0])
    across = np.linspace(-1.0, 1.0, POINTS)
    left, right, belly = (each.ravel()[:, None] for each in np.meshgrid(CORNERS, CORNERS, BELLIES, indexing="ij"))
    chord = left * (1 - across) / 2 + right * (1 + across) / 2
    curves = [belly * (1 - np.abs(across) ** power) - chord for power in POWERS]
    y = float(bottom.max()) + width * np.concatenate(curves)
    x = first + (across + 1) / 2 * width
    depth = (np.interp(x, np.arange(len(bottom)) + first, bottom) - y) / width
    middle = depth[:, MIDDLE].mean(axis=1)
    fits = (middle > LEAST_DEPTH) & (middle < MOST_DEPTH) & (depth[:, NEAR_ENDS].min(axis=1) > 0)
    fits &= depth[:, AT_ENDS].max(axis=1) < MOST_AT_ENDS * middle
    return np.stack([np.broadcast_to(x, y[fits].shape), y[fits]], axis=-1)


def _borders(columns: np.ndarray, bottom: Reals) -> Reals:
    """``(n, POINTS, 2)`` upper edges of borders that are as wide at the sides as in the middle."""
    width = float(columns[-1] - columns[0])
    x = columns[0] + np.linspace(BORDER_ENDS, 1 - BORDER_ENDS, POINTS) * width
    y = np.interp(x, columns, bottom) - width * np.arange(LEAST_DEPTH, MOST_DEPTH, BORDER_STEP)[:, None]
    return np.stack([np.broadcast_to(x, y.shape), y], axis=-1)


def _darker(light: np.ndarray, arc: Reals) -> float:
    """By how much darker it is below an arc than above it."""
    x, y = (np.rint(arc[NEAR_ENDS, axis]).astype(int) for axis in (0, 1))
    above, below = (light[np.clip(y + away, 0, len(light) - 1), x] for away in (-BESIDE, BESIDE))
    return float(np.mean(above - below))


def _fitted(light: np.ndarray, arc: Reals, width: int) -> Reals:
    """Row per column of the edge near an arc at which it becomes darker downwards most."""
    columns = np.arange(width)
    curve = np.interp(columns, arc[:, 0], arc[:, 1])
    slope = -cv2.Sobel(cv2.GaussianBlur(light, (0, 0), 1.2), cv2.CV_32F, 0, 1)
    reach = max(1, round(FITTED * width))
    tried = np.arange(-reach, reach + 1)
    rows = np.clip(np.rint(curve[None] + tried[:, None]).astype(int), 0, len(light) - 1)
    weight = np.maximum(slope[rows, columns[None]], 0.0).astype(np.float64) ** 2
    weight *= np.exp(-0.5 * (2.0 * tried[:, None] / reach) ** 2)
    blur = STIFF / 100 * width
    moved, sure = (
        ndimage.gaussian_filter1d(each.sum(axis=0), blur, mode="nearest") for each in (weight * tried[:, None], weight)
    )
    return np.asarray(curve + moved / np.maximum(sure, 1e-6), np.float64)
