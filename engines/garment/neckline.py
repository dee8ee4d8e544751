"""The front neckline of a flat garment; the cloth seen above it is the inside of the back."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.ground import to_lab
from engines.garment.regions import BoolMask
from engines.warp.pieces import Cloth

ARC_SHAPES = (1.2, 1.6, 2.0, 2.5, 3.2)
"""Exponents of the arcs tried: 1.2 is a V, 2 is round, 3.2 is square."""

ARC_INSETS = (0.0, 0.04, 0.08)
"""How far inside the neck's highest points the arcs begin, in neck widths; a folded neckband lies outside."""

ARC_DEPTHS = np.linspace(0.06, 0.68, 40)
"""Depths of the arcs tried, in neck widths."""

CLEAR_EDGE = 10.0
"""Edge strength (Sobel of CIE Lab across the arc) from which an edge counts in full on plain cloth. Stronger ones
count no more, or a label would outweigh a whole neckline."""

LEAST_SCORE = 0.55
"""Share of the arc that must lie on an edge on plain cloth."""

BUSY = 0.62
"""Where the median arc reaches this score, the cloth itself is full of edges, and strength has to decide."""

LEAST_LEAD = 2.0
"""On such cloth: how many times stronger than the median arc the neckline's edge must be."""


def _edge_across(cloth: Cloth, arcs: NDArray[np.float64], columns: NDArray[np.intp]) -> NDArray[np.float32]:
    """Strength of the colour change across each arc at each column, within two pixels of it.

    Args:
        cloth: The garment.
        arcs: ``(n, c)`` rows of the arcs.
        columns: ``(c,)`` their columns.
    """
    colour = np.asarray(np.clip(cloth.colour * 255, 0, 255), dtype=np.uint8)
    left, right = int(columns[0]) - 8, int(columns[-1]) + 9
    top, bottom = max(int(arcs.min()) - 8, 0), min(int(arcs.max()) + 9, colour.shape[0])
    lab = to_lab(np.asarray(cv2.GaussianBlur(colour[top:bottom, left:right], (0, 0), 1.5), dtype=np.uint8))
    slope = np.gradient(arcs, axis=1)
    steepness = np.hypot(slope, 1)
    strength = np.zeros(arcs.shape, dtype=np.float32)
    for nearby in (-2, 0, 2):
        y = np.clip(arcs + nearby - top, 0, lab.shape[0] - 1).astype(int)
        here = np.zeros_like(strength)
        for channel in range(3):
            plane = np.ascontiguousarray(lab[..., channel])
            change_x = cv2.Sobel(plane, cv2.CV_32F, 1, 0)[y, columns - left]
            change_y = cv2.Sobel(plane, cv2.CV_32F, 0, 1)[y, columns - left]
            here += np.abs(change_y - slope * change_x) / steepness
        strength = np.maximum(strength, here)
    return strength


def _arcs(
    neck_left: NDArray[np.float64], neck_right: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """All arcs to try: their rows ``(n, c)``, nan beyond an arc's ends, and their columns ``(c,)``."""
    width = neck_right[0] - neck_left[0]
    columns = np.arange(int(neck_left[0]), int(neck_right[0]) + 1)
    across = (columns - (neck_left[0] + neck_right[0]) / 2) / (width / 2)
    chord = neck_left[1] + (neck_right[1] - neck_left[1]) * (columns - neck_left[0]) / width
    rows = []
    for inset in ARC_INSETS:
        inner = np.abs(across) / (1 - 2 * inset)
        for shape in ARC_SHAPES:
            bow = np.where(inner <= 1, 1 - np.minimum(inner, 1) ** shape, np.nan)
            rows.append(chord + ARC_DEPTHS[:, None] * width * bow)
    return np.concatenate(rows), columns


def inner_back(cloth: Cloth, neck_left: NDArray[np.float64], neck_right: NDArray[np.float64]) -> BoolMask:
    """Find the part of the photo that shows the inside of the back, with the label.

    Arcs of several shapes and depths are hung between the neck points; the one with the largest share on an edge
    is the front neckline, if that share is large enough.

    Args:
        cloth: The garment.
        neck_left: (x, y) of the neck's highest point left in the picture.
        neck_right: The same on the right.

    Returns:
        ``(h, w)`` bool, empty where no front neckline is seen.
    """
    mask = cloth.alpha > 0.5
    back = np.zeros(mask.shape, dtype=bool)
    if neck_right[0] - neck_left[0] < 20 or neck_left[0] < 10 or neck_right[0] > mask.shape[1] - 11:
        return back
    arcs, columns = _arcs(neck_left, neck_right)
    spanned = np.isfinite(arcs)
    rows = np.clip(np.nan_to_num(arcs), 0, mask.shape[0] - 1)
    top = mask[:, columns].argmax(axis=0)
    on_cloth = spanned & (rows > top + 4) & mask[rows.astype(int), columns]
    strength = np.where(on_cloth, _edge_across(cloth, np.where(spanned, rows, top), columns), 0)
    best = _best_arc(strength, on_cloth, on_cloth.sum(axis=1) / spanned.sum(axis=1))
    if best is None:
        return back
    above = np.arange(mask.shape[0])[:, None] < rows[best][None]
    back[:, columns] = above & mask[:, columns] & spanned[best]
    return back


def _best_arc(strength: NDArray[np.float32], on_cloth: BoolMask, share_on_cloth: NDArray[np.float64]) -> int | None:
    """Index of the arc that is the neckline, or None. All arrays have one row, or one value, per arc."""
    usable = share_on_cloth > 0.6
    if not usable.any():
        return None
    count = np.maximum(on_cloth.sum(axis=1), 1)
    on_edge = np.minimum(strength / CLEAR_EDGE, 1).sum(axis=1) / count * share_on_cloth**2
    if float(np.median(on_edge[usable])) < BUSY:
        best = int(np.argmax(on_edge))
        return best if on_edge[best] > LEAST_SCORE else None
    known = np.where(on_cloth, strength, np.nan)
    weakest, typical = np.zeros(len(known)), np.zeros(len(known))
    weakest[usable], typical[usable] = np.nanpercentile(known[usable], (25, 50), axis=1)
    lead = np.sqrt(weakest) * typical * share_on_cloth**2
    best = int(np.argmax(lead))
    return best if lead[best] > LEAST_LEAD * float(np.median(lead[usable])) else None


def without_inner_back(cloth: Cloth, back: BoolMask) -> Cloth:
    """The cloth with the inside of its back made transparent, and the matte's ring above it too."""
    if not back.any():
        return cloth
    tall = cv2.dilate(back.astype(np.uint8), np.ones((3, 3), dtype=np.uint8))
    upwards = cv2.dilate(tall, np.ones((7, 1), dtype=np.uint8), anchor=(0, 0))
    cover = cv2.GaussianBlur(upwards.astype(np.float32), (0, 0), 0.8)
    return Cloth(cloth.colour, (cloth.alpha * (1 - cover)).astype(np.float32))
