"""Cloth under tension bridges hollows: it runs straight from one raised place to the next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.garment.curves import Polyline, lengths_along


def bridged(positions: NDArray[np.float64], heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lowest curve without hollows that lies nowhere below the given heights.

    Args:
        positions: ``(n,)`` rising.
        heights: ``(n,)`` what the cloth lies on.

    Returns:
        ``(n,)`` concave, equal to ``heights`` at both ends.
    """
    line = np.stack([positions, heights], axis=1)
    kept = _without_hollows(line, 1)
    return np.asarray(np.interp(positions, positions[kept], heights[kept]))


def tautened(line: Polyline, bulge: int) -> Polyline:
    """A polyline whose hollows are bridged by straight stretches; its points keep their shares of each stretch.

    Args:
        line: ``(n, 2)`` x and y, y downwards.
        bulge: To which side the line may bulge: 1 for that of a line from left to right bulging upwards, -1 for the
            other one.

    Returns:
        ``(n, 2)`` with the same ends.
    """
    flipped = line * (1.0, -1.0)
    kept = _without_hollows(flipped, bulge)
    along = lengths_along(line)
    return np.stack([np.interp(along, along[kept], line[kept, axis]) for axis in range(2)], axis=1)


def _without_hollows(line: Polyline, turn: int) -> list[int]:
    """Indices of the points, y upwards, that remain when every point where the line turns the other way is left out."""
    kept: list[int] = []
    for index, point in enumerate(line):
        while len(kept) > 1:
            before, last = line[kept[-2]], line[kept[-1]]
            first, second = last - before, point - last
            if (first[0] * second[1] - first[1] * second[0]) * turn < 0:
                break
            kept.pop()
        kept.append(index)
    return kept
