"""A sheet of cloth that is longer than the body below it, let go until it has found its folds.

The sheet is a grid of points that keep their distances (position based dynamics: Müller et al. 2007; with compliance:
Macklin et al. 2016). It cannot get shorter and cannot sink into the body, so it rises in folds, which branch, join and
end as those of cloth do. Nothing of this runs when pictures are made: its result is kept as pictures of heights.
"""

from __future__ import annotations

from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import griddata

from engines.warp.folds.excess import Sheet, excess_of

STEPS = 2500
"""After which the sheet has come to rest."""

LINKS = (
    (0, 1, 0.0, True),
    (1, 0, 0.0, True),
    (1, 1, 0.5, True),
    (1, -1, 0.5, True),
    (0, 2, 0.1, False),
    (2, 0, 0.1, False),
    (0, 4, 0.3, False),
    (4, 0, 0.3, False),
)
"""Rows and columns between the points of a link, its compliance, and whether it pulls as well: threads keep their
length, cloth shears more easily, and the long links, which only push, keep it from bending sharply."""

KEPT = 0.98
"""Share of its speed that a point keeps from one step to the next."""

HELD, PRESSED = 0.0005, 0.0001
"""Share of the way home, and down to the body, that cloth goes in a step: the less, the further apart folds are."""

HIGHEST = 0.12
"""No point rises higher, shoulder widths."""

ROUGH, ROUGH_SIZES = 0.004, (0.02, 0.05, 0.1)
"""Height and sizes of the unevenness it begins with, shoulder widths."""

SMOOTH = 1.0
"""Smoothing of the heights, points."""

_Slices = tuple[slice, slice]


def buckled(sheet: Sheet, steps: int = STEPS) -> NDArray[np.float32]:
    """``(h, w)`` height of the sheet above the body once it has come to rest, shoulder widths.

    Args:
        sheet: Its size and where it is too long.
        steps: How long it is let go.
    """
    points = _laid_flat(sheet)
    home, speed = points.copy(), np.zeros_like(points)
    links = list(_links(sheet))
    for _ in range(steps):
        speed *= np.float32(KEPT)
        before = points.copy()
        points += speed
        for one, other, length, compliance, pulls in links:
            _keep_apart(points, one, other, length, compliance, pulls=pulls)
        points[:2] += np.float32(HELD) * (home[:2] - points[:2])
        points[2] = np.clip(points[2] * np.float32(1 - PRESSED), 0, HIGHEST)
        speed = points - before
    return _heights(points, home)


def _laid_flat(sheet: Sheet) -> NDArray[np.float32]:
    """``(3, h, w)`` places of the points on an uneven body."""
    rows, columns = sheet.shape
    x, y = np.meshgrid(np.arange(columns), np.arange(rows))
    chance = np.random.default_rng(sheet.seed + 1)
    rough = np.zeros((rows, columns), dtype=np.float32)
    for size in ROUGH_SIZES:
        dots = size / sheet.spacing
        rough += cv2.GaussianBlur(chance.normal(size=(rows, columns)).astype(np.float32), (0, 0), dots) * dots
    rough = np.abs(rough)
    rough *= ROUGH / rough.std()
    return np.stack([x * sheet.spacing, y * sheet.spacing, rough]).astype(np.float32)


def _links(sheet: Sheet) -> Iterator[tuple[_Slices, _Slices, NDArray[np.float32], float, bool]]:
    """Links in groups in which no point occurs twice: two grids of points, their distances, compliance, pulling."""
    rows, columns = sheet.shape
    excess = excess_of(sheet)
    for down, right, compliance, pulls in LINKS:
        length = float(np.hypot(down, right))
        u, v = right / length, down / length
        first = (slice(0, rows - down), slice(max(0, -right), columns - max(0, right)))
        second = (slice(down, rows), slice(max(0, right), columns + min(0, right)))
        mean = (excess[:, *first] + excess[:, *second]) / 2
        lengths = sheet.spacing * length * (1 + u * u * mean[0] + 2 * u * v * mean[1] + v * v * mean[2])
        step, axis = (abs(right), 1) if right else (down, 0)
        for begin in range(2 * step):
            every = (
                (slice(begin, None, 2 * step), slice(None))
                if axis == 0
                else (slice(None), slice(begin, None, 2 * step))
            )
            yield _within(first, every), _within(second, every), lengths[every], compliance, pulls


def _within(window: _Slices, every: _Slices) -> _Slices:
    """Slices of the whole grid that take every so many points of a window of it."""
    row, column = (
        slice(outer.start + (inner.start or 0), outer.stop, inner.step)
        for outer, inner in zip(window, every, strict=True)
    )
    return row, column


def _keep_apart(
    points: NDArray[np.float32],
    one: _Slices,
    other: _Slices,
    length: NDArray[np.float32],
    compliance: float,
    *,
    pulls: bool,
) -> None:
    """Move linked points towards their distance, both by the same way."""
    apart = points[:, *one] - points[:, *other]
    distance = np.sqrt(np.einsum("khw,khw->hw", apart, apart)) + np.float32(1e-9)
    error = distance - length if pulls else np.minimum(distance - length, 0)
    apart *= error / (distance * np.float32(2 + compliance))
    points[:, *one] -= apart
    points[:, *other] += apart


def _heights(points: NDArray[np.float32], home: NDArray[np.float32]) -> NDArray[np.float32]:
    """Heights above the places where the points began, from where they have gone."""
    heights = griddata(points[:2].reshape(2, -1).T, points[2].ravel(), tuple(home[:2]), method="linear", fill_value=0.0)
    return np.asarray(cv2.GaussianBlur(heights.astype(np.float32), (0, 0), SMOOTH), dtype=np.float32)
