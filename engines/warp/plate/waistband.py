"""The upper end of trousers or a skirt under a top that became shorter: where it lies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.garment.regions import BoolMask, largest, window_of
from engines.warp.body.bare_parts import bare_half_width
from engines.warp.body.model import LEFT, SIDES, BodyModel
from engines.warp.body.silhouette import ease, values_at

NATURAL_TOP = 0.72
"""Height down to which a midriff is bare under a cropped top; below it, trousers are continued upwards."""

HIDDEN_TOP, LEAST_RISE = 0.90, 0.08
"""Height of a waistband that a top hides, and how far trousers reach up under its hem at least, in torso lengths."""

HIDING_WAIST = (0.84, 0.97)
"""Height of the line between top and trousers from which the top may hide a waistband, and from which it does."""

LOWEST = 1.25
"""Height down to which trousers are continued, in torso lengths."""

MEASURED, LEAST_SEEN = (0.005, 0.04), 50
"""Heights below the line between which the seen trousers tell the width of their hidden part, and pixels that are
enough for it on one side."""

WITHIN = 0.17
"""How far above or below the waist's height its line and what is measured beside it lie at most, in torso lengths."""

EDGE_STEP, ACROSS, EDGE_STEPS, EDGE_CALM, ABOVE_EDGE = 0.015, 0.60, 12, 1.0, 3.0
"""Width of the strips in which the upper edge of seen trousers is measured, and how far from the axis they lie, in
shoulder widths; how many are enough to tell its course, over how many it is smoothed (standard deviation), and where
it is asked what they end at, pixels above."""

OVER_BELLY = 0.006
"""How far a waistband stands off the belly at either side, in shoulder widths."""

SAG = 0.055
"""How much lower a waistband is in front than at the sides of the body, in shoulder widths: it goes round the body, and
the camera looks down at it."""


@dataclass(frozen=True)
class Course:
    """A line across the body.

    Attributes:
        places: ``(n,)`` in shoulder widths from the axis, ascending.
        heights: ``(n,)`` in torso lengths.
    """

    places: NDArray[np.float64]
    heights: NDArray[np.float64]

    def at(self, laterals: NDArray[np.float32]) -> NDArray[np.float32]:
        """Its heights at laterals, of the same shape."""
        return np.asarray(np.interp(laterals, self.places, self.heights), np.float32)


@dataclass(frozen=True)
class UpperEnd:
    """What is continued of the garment below, within a window of the picture.

    Attributes:
        window: Rows and columns.
        cover: ``(h, w)`` float32, 0 to 1.
        beside: ``(h, w)`` float32, 1 below its upper edge and beside it: no belly stands out there.
        hidden: 0 where the photo shows its edge to 1 where the old top hung over it.
        edge: Its own where the photo shows it, or that of the hem over it.
        seen: Up to where it is seen.
    """

    window: tuple[slice, slice]
    cover: NDArray[np.float32]
    beside: NDArray[np.float32]
    hidden: float
    edge: Course
    seen: Course


def upper_end(body: BodyModel, seen: BoolMask) -> UpperEnd | None:
    """Find out how far up the garment below the waist goes on, and how wide it is there.

    What a top ended at is seen up to its edge and goes on no further. What hid under a hem that hung over it comes
    in from its width there to that of the belly.

    Args:
        body: The body in the photo.
        seen: ``(height, width)``, the garment as far as it is seen.

    Returns:
        None where it would lie outside the picture.
    """
    unit, length, waist = body.shoulder_width, body.torso_length, body.waist
    hidden = _hidden(body)
    rise = hidden * max(waist.height - HIDDEN_TOP, LEAST_RISE)
    near = (body.heights > max(NATURAL_TOP, waist.height - rise) - 0.15) & (body.heights < LOWEST)
    if not near.any():
        return None
    window = window_of(near)
    heights, laterals = body.heights[window], body.laterals[window]
    edge, seen_until = _seen_edge(body, seen)
    offsets = _seen_offsets(body, seen, edge)
    halves = {side: _half_widths(body, offsets * side, heights, rise, edge, side=side) for side in SIDES}
    half = np.where(laterals < 0, halves[LEFT], halves[-LEFT]) / np.float32(unit)
    aside = np.abs(laterals)
    ring = np.maximum(1.0 - (aside / half) ** 2, 0.0)
    # A seen edge is followed; that of a hem says nothing about the waistband below it.
    line = edge.at(laterals)
    bow = SAG * (ring - 0.5)
    level = waist.height - rise + bow * np.float32(unit / length)
    top = line + (np.maximum(level, NATURAL_TOP) - line) * np.float32(hidden)
    below = (heights - top) * np.float32(length / unit)
    rows = np.asarray(np.clip(below * unit + 0.5, 0.0, 1.0) * near[window], np.float32)
    within = np.clip((half - aside) * unit + 0.5, 0.0, 1.0)
    cover, beside = (np.asarray(rows * part, np.float32) for part in (within, (1.0 - within) * np.float32(hidden)))
    return UpperEnd(window, cover, beside, hidden, edge, seen_until)


def _hidden(body: BodyModel) -> float:
    """1 where the old top hangs over the waistband to 0 where it ends at it, or above it.

    A top that ends low does.
    """
    height = body.waist.height
    if body.waist.bare_midriff:
        return 0.0
    return float(ease((height - HIDING_WAIST[0]) / (HIDING_WAIST[1] - HIDING_WAIST[0])))


def _seen_edge(body: BodyModel, seen: BoolMask) -> tuple[Course, Course]:
    """The upper edge of the garment where the top hung over it a little as well, and that of what is seen."""
    unit, length, waist = body.shoulder_width, body.torso_length, body.waist
    window = window_of(np.abs(body.heights - waist.height) < WITHIN)
    trousers = largest(seen[window]) & (np.abs(body.laterals[window]) < ACROSS)
    bins = np.round(body.laterals[window][trousers] / EDGE_STEP).astype(np.int64)
    first = int(bins.min(initial=0))
    edge = np.full(int(bins.max(initial=0)) - first + 1, np.inf, np.float32)
    np.minimum.at(edge, bins - first, body.heights[window][trousers])
    places = np.asarray((np.arange(len(edge)) + first) * EDGE_STEP, np.float64)
    at = np.isfinite(edge)
    # A thigh before the wall, or behind an arm, has another edge.
    above, framed = values_at(body.labels, body.point(np.where(at, edge, 0.0) - ABOVE_EDGE / length, places * unit))
    at &= framed & np.isin(above, (Label.UPPER, Label.TORSO_SKIN))
    if at.sum() < EDGE_STEPS:
        ends = np.linspace(-ACROSS, ACROSS, EDGE_STEPS)
        line = Course(ends, np.asarray(waist.line(ends), np.float64))
        return line, line
    places, edge = places[at], np.asarray(ndimage.median_filter(edge[at], 3, mode="nearest"), np.float64)
    whole = np.asarray(ndimage.gaussian_filter1d(edge, EDGE_CALM, mode="nearest"), np.float64)
    return Course(places, whole), Course(places, np.asarray(np.maximum(edge, whole), np.float64))


def _seen_offsets(body: BodyModel, seen: BoolMask, edge: Course) -> NDArray[np.float32]:
    """Offsets from the axis of the garment's pixels just below its upper edge, ``(n,)`` pixels."""
    near = np.abs(body.heights - body.waist.height) < WITHIN
    window = window_of(near)
    heights, laterals = body.heights[window], body.laterals[window]
    below = heights - edge.at(laterals)
    beside = seen[window] & (below > MEASURED[0]) & (below < MEASURED[1])
    return np.asarray(laterals[beside] * np.float32(body.shoulder_width))


def _half_widths(
    body: BodyModel, offsets: NDArray[np.float32], heights: NDArray[np.float32], rise: float, edge: Course, *, side: int
) -> NDArray[np.float32]:
    """Half width of the garment on one side in pixels, ``(h, w)``, at heights; ``offsets`` grow towards that side."""
    outwards = offsets[offsets > 0]
    if len(outwards) <= LEAST_SEEN:
        return np.asarray(body.half_width(heights, side))
    # At the hem it is as wide as what is seen below, and no step shows.
    wide = float(np.percentile(outwards, 99.5))
    if rise <= 0.0:
        return np.full(heights.shape, wide, np.float32)
    hem = edge.at(np.array([side * wide / body.shoulder_width], np.float32))
    top = np.array([body.waist.height - rise], np.float32)
    narrow = min(float(bare_half_width(body, top, side)[0]) + OVER_BELLY * body.shoulder_width, wide)
    # Hips are round: upright where they are widest, and again where the waist begins.
    way_up = ease((hem - heights) / np.float32(rise))
    return np.asarray(wide + (narrow - wide) * way_up, np.float32)
