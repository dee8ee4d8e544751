"""Finds the inside of the back, seen through the neck opening, and removes it from the cloth or keeps it alone.

The network says where it is; which curve between the neck's highest points it ends at is told by the colours as well,
which change all along a front neckline in one way, and along stripes, prints and folds now in one and now in another.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.cloth import Cloth
from engines.garment.network import Part
from engines.regions import BoolMask, window_of

if TYPE_CHECKING:
    from engines.garment.upper_landmarks import Shoulders

DEPTHS = np.linspace(0.1, 1.7, 33)
"""Depths of front necklines that are tried, in widths of the neck."""

FORMS = ((1.0, 1.0), (1.4, 1.3), (2.0, 2.0), (3.5, 2.0))
"""Forms that are tried, from a V to a U: powers of the superellipse that hangs between the neck's points."""

ALIKE, EDGE_SAY = 0.3, 0.8
"""Overlap with what the network takes for the inside, at least; and what the steadiest change of colours counts beside
the best overlap."""

BAND, CLEAR = 0.7, 0.9
"""Of the curves that are so likely beside the likeliest one, and change colours so clearly, the highest is the
neckline: a neckband has two edges. On 55 marked necklines 0.85 to 0.95 are alike in their overlap."""

FEWER, PLACES, BLUR, USUAL = 3, 48, 2.0, 1.0
"""Overlaps are counted on each so many-th pixel; colours are read at so many places along a curve, blurred by so many
canvas pixels; and how many usual changes of colour count as much as any more: a label would outweigh a neckline."""

ABOVE = 9
"""How far above the inside of the back the matte's ring is taken off, canvas pixels."""

EVEN, STEEPER = 2.5, 3.0
"""Blur that takes the stairs off the cut, canvas pixels, and by how much what it leaves is made steeper again."""


def inside_of_back(cloth: Cloth, axis: float, shoulders: Shoulders, lowest: float) -> BoolMask:
    """Where the cloth shows the inside of its back; empty where the network sees none.

    Args:
        cloth: The garment.
        axis: x of the garment's middle.
        shoulders: The curve hangs from the neck's highest point, as wide as that, as a band's edge, or as the foot.
        lowest: Row of the armpits, above which a neckline ends in the middle of its curve.
    """
    mask = cloth.alpha > 0.5
    back, row = np.zeros_like(mask), float(shoulders.neck_top[1])
    widest = max(float(shoulders.neck_foot[0]), float(shoulders.neck_top[0]), 2.0)
    first, last = max(int(axis - widest), 0), min(int(axis + widest) + 1, mask.shape[1])
    top, bottom = max(int(row - widest / 4), 0), min(int(lowest) + 1, mask.shape[0])
    box = np.s_[top:bottom, first:last]
    seen = np.asarray(cloth.shown.chance(Part.BACK, *mask.shape)[box] * mask[box], np.float32)
    if seen.max(initial=0.0) < 0.5:
        return back
    slopes, usual = _slopes(cloth.colour[box])
    few = np.s_[::FEWER, ::FEWER]
    rows, places, cover, seen = np.arange(top, bottom), np.arange(first, last) - axis, mask[box][few], seen[few]
    across = np.linspace(-1.0, 1.0, PLACES)[1:-1]
    tried: list[tuple[float, float, float, NDArray[np.float64]]] = []
    top_half = max(float(shoulders.neck_top[0]), 2.0)
    for half, depth, (power, root) in product({top_half, 0.82 * top_half, widest}, DEPTHS, FORMS):
        hang = row + 2 * half * depth * (1 - np.clip(np.abs(places / half), 0, 1) ** power) ** (1 / root)
        inside = cover & (rows[few[0], None] < hang[few[1]])
        alike = float(seen[inside].sum() / max(seen.sum() + inside.sum() - seen[inside].sum(), 1.0))
        if alike > ALIKE and hang.max() < max(lowest, row + half):
            down = 2 * half * depth * (1 - np.abs(across) ** power) ** (1 / root)
            steep = np.gradient(down, across * half)
            normals = np.stack([-steep, np.ones_like(steep)], axis=1) / np.hypot(steep, 1.0)[:, None]
            edge = _steadiness(slopes, usual, (row + down - top, axis + across * half - first), normals)
            tried.append((alike + EDGE_SAY * edge, edge, half * depth, hang))
    if tried:
        best, clear = max((likely, edge) for likely, edge, _, _ in tried)
        equal = [each for each in tried if each[0] >= BAND * best and each[1] >= CLEAR * clear]
        back[box] = mask[box] & (rows[:, None] < min(equal, key=lambda each: each[2])[3])
    return back


def _slopes(colour: NDArray[np.float32]) -> tuple[NDArray[np.float32], float]:
    """``(h, w, 2, 3)`` how CIE Lab changes along x and y, and how strongly it does in the median."""
    lab = cv2.cvtColor(cv2.GaussianBlur(colour, (0, 0), BLUR), cv2.COLOR_RGB2LAB)
    slopes = np.asarray(np.stack([cv2.Sobel(lab, cv2.CV_32F, *way) for way in ((1, 0), (0, 1))], axis=2), np.float32)
    return slopes, max(float(np.median(np.abs(slopes).sum(axis=(2, 3)))), 0.5)


def _steadiness(
    slopes: NDArray[np.float32],
    usual: float,
    at: tuple[NDArray[np.float64], NDArray[np.float64]],
    normals: NDArray[np.float64],
) -> float:
    """How much the colours change across a curve in one way all along it, 0 to 1.

    Args:
        slopes: From `_slopes`.
        usual: The same.
        at: Rows and columns of places on the curve.
        normals: ``(n, 2)`` x and y across it.
    """
    row, column = (
        np.clip(np.rint(place), 0, size - 1).astype(int) for place, size in zip(at, slopes.shape[:2], strict=True)
    )
    change = np.einsum("nkc,nk->nc", slopes[row, column], normals)
    limit = np.maximum(np.abs(change).sum(axis=1), USUAL * usual)
    return float(np.abs((change / limit[:, None]).mean(axis=0)).sum())


def without_inner_back(cloth: Cloth, back: BoolMask) -> Cloth:
    """The cloth with the inside of its back, and the matte's ring above it, made transparent."""
    if not back.any():
        return cloth
    return replace(cloth, alpha=(cloth.alpha * (1 - _cover_of(back))).astype(np.float32))


def inner_back_alone(cloth: Cloth, back: BoolMask) -> Cloth:
    """The part that `without_inner_back` removes."""
    return replace(cloth, alpha=(cloth.alpha * _cover_of(back)).astype(np.float32))


def _cover_of(back: BoolMask) -> NDArray[np.float32]:
    """How much of each pixel is taken off with the inside of the back, along a line as even as a neckline."""
    upwards, cover = np.zeros_like(back), np.zeros(back.shape, np.float32)
    window = window_of(back, ABOVE + 1)
    if back[window].size:
        tall = cv2.dilate(back[window].astype(np.uint8), np.ones((3, 3), dtype=np.uint8))
        upwards[window] = cv2.dilate(tall, np.ones((ABOVE, 1), dtype=np.uint8), anchor=(0, 0)) > 0
        window = window_of(upwards, 4 * int(np.ceil(EVEN)))
        even = np.asarray(cv2.GaussianBlur(upwards[window].astype(np.float32), (0, 0), EVEN), np.float32)
        cover[window] = np.clip((even - 0.5) * np.float32(STEEPER) + 0.5, 0, 1)
    return cover
