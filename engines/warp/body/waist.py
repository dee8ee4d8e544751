"""Where the top ends and the lower garment begins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.base import Label, Mask
from engines.labels import labelled_as
from engines.warp.pieces import Reals

NATURAL_WAIST = 0.80
"""Height of a waistband nobody can see, in torso lengths below the shoulders."""

TUCKED_ABOVE = 0.93
"""A top that ends above this height is worn tucked in, or is cropped."""

SEARCHED = (0.50, 1.40)
"""Heights between which a waist is looked for."""

BARE_ROW = 0.02
"""Height of the rows in which a bare midriff is looked for."""


@dataclass(frozen=True)
class Waist:
    """The line between top and lower garment.

    Attributes:
        height: On the body's axis, in torso lengths below the shoulders.
        bend: Quadratic and linear coefficient of the line over the lateral position in shoulder widths.
        tucked: Whether the waistband is open to view.
        bare_midriff: Whether skin shows between the two.
        seen: Whether the line was measured; false where it is only the natural height.
    """

    height: float
    bend: tuple[float, float]
    tucked: bool
    bare_midriff: bool
    seen: bool

    def line(self, laterals: Reals) -> NDArray[np.float32]:
        """Height of the line at lateral positions given in shoulder widths."""
        bounded = np.clip(laterals, -0.45, 0.45)
        curve = self.height + self.bend[0] * bounded**2 + self.bend[1] * bounded
        return np.asarray(np.clip(curve, self.height - 0.12, self.height + 0.12), dtype=np.float32)


def find_waist(
    labels: Mask,
    heights: NDArray[np.float32],
    laterals: NDArray[np.float32],
    clear_of_arms: NDArray[np.bool_],
) -> Waist:
    """Measure the waist from the labels.

    Args:
        labels: ``(height, width)`` of `Label`.
        heights: ``(height, width)`` in torso lengths below the shoulders.
        laterals: ``(height, width)`` in shoulder widths from the axis.
        clear_of_arms: False on arms and hands.
    """
    upper, lower = labels == Label.UPPER, labels == Label.LOWER
    worn = clear_of_arms & ~labelled_as(labels, (Label.BACKGROUND, Label.HAIR, Label.FACE)) & (np.abs(laterals) < 0.30)
    area = clear_of_arms & (np.abs(laterals) < 0.40) & (heights > 0.45) & (heights < 1.5)
    if (area & upper).sum() < 40 or (area & lower).sum() < 40:
        return Waist(NATURAL_WAIST, (0.0, 0.0), tucked=True, bare_midriff=False, seen=False)
    positions, splits = _split_per_column(area & (upper | lower), lower, heights, laterals)
    if len(splits) < 4:
        return Waist(NATURAL_WAIST, (0.0, 0.0), tucked=True, bare_midriff=False, seen=False)
    sound = np.abs(splits - np.median(splits)) < 0.09
    degree = 2 if sound.sum() > 8 else 0
    curve = np.polyfit(positions[sound], splits[sound], degree)
    bend = (float(curve[0]), float(curve[1])) if degree == 2 else (0.0, 0.0)
    height = float(np.clip(curve[-1], *SEARCHED))
    bare_rows = _bare_rows(worn & (np.abs(laterals) < 0.2), labels == Label.TORSO_SKIN, heights)
    bare = len(bare_rows) > 0
    if bare:
        height = max(height, float(bare_rows[-1]) + BARE_ROW)
    return Waist(height, bend, tucked=height < TUCKED_ABOVE or bare, bare_midriff=bare, seen=True)


def _bare_rows(middle: NDArray[np.bool_], skin: NDArray[np.bool_], heights: NDArray[np.float32]) -> NDArray[np.float64]:
    """Heights around the waist at which most of the body's middle is skin."""
    edges = np.arange(0.5, 1.0, BARE_ROW)
    worn, _ = np.histogram(heights[middle], edges)
    bare, _ = np.histogram(heights[middle & skin], edges)
    return np.asarray(edges[:-1][bare > 0.5 * np.maximum(worn, 12)], dtype=np.float64)


def _split_per_column(
    area: NDArray[np.bool_], lower: NDArray[np.bool_], heights: NDArray[np.float32], laterals: NDArray[np.float32]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Per lateral strip the height with the fewest pixels of the wrong garment on either side."""
    edges = np.linspace(0.45, 1.5, 106)
    positions, splits = [], []
    at, across, is_lower = heights[area], laterals[area], lower[area]
    for begin in np.linspace(-0.40, 0.36, 20):
        strip = (across >= begin) & (across < begin + 0.04)
        if strip.sum() < 30:
            continue
        below, _ = np.histogram(at[strip & is_lower], edges)
        above, _ = np.histogram(at[strip & ~is_lower], edges)
        wrong = below.cumsum() + above.sum() - above.cumsum()
        positions.append(begin + 0.02)
        splits.append(edges[int(np.argmin(wrong)) + 1])
    return np.array(positions), np.array(splits)
