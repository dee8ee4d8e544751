"""The upper end of trousers or a skirt under a top that became shorter: where it lies, and its waistband's form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.garment.regions import BoolMask, largest, window_of
from engines.warp.body.bare_width import bare_half_width
from engines.warp.body.model import LEFT, SIDES, BodyModel
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import ease

NATURAL_TOP = 0.72
"""Height down to which a midriff is bare under a cropped top; below it, trousers are continued upwards."""

HIDDEN_TOP, LEAST_RISE = 0.90, 0.08
"""Height of a waistband that a top hides, and how far trousers reach up under its hem at least, in torso lengths."""

HIDING_WAIST = (0.84, 0.97)
"""Height of the line between top and trousers from which the top may hide a waistband, and from which it does."""

HIPS_FROM = (0.78, 0.84)
"""Heights of that line from which the shadow of a hem may tell that there is a waistband above, and from which it
does, in torso lengths."""

SHADED_UNTIL, SHADOW_STEPS, FRONT = 0.13, 11, 0.30
"""How far below a hem its shadow is looked for, in how many steps, and how far to either side of the axis; lengths in
shoulder widths."""

HEM_SHADOW, SOFT = (0.25, 0.40), 0.45
"""Share of the light that is lost right below a hem from which it hangs over what is below, and from which it
certainly does; and the largest share of the whole change that lies between two steps of a shadow."""

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

OVERHUNG, MOST_OVERHUNG, EDGE_BENDS, REFITS = 0.015, 0.06, 4, 6
"""How far below a smooth course, in shoulder widths, an edge is that of the top which hangs over it there, and how far
up it is led then at most; the degree of that course's polynomial, and how often that is fitted, strips below the one
before counting for less."""

OVER_BELLY = 0.006
"""How far a waistband stands off the belly at either side, in shoulder widths."""

SAG = 0.055
"""How much lower a waistband is in front than at the sides of the body, in shoulder widths: it goes round the body, and
the camera looks down at it."""

CORNER = 0.015
"""How far its upper edge comes down again where it goes round the body, in shoulder widths."""

BAND, BAND_SHARE = 0.10, 0.75
"""Height of a waistband, in shoulder widths, and the most of what a hem hid that it takes."""

EDGE_LIGHT, EDGE_WIDTH = 0.16, 0.008
"""How much lighter the rounded upper edge of a waistband is, and half its width in shoulder widths."""

STITCH_SHADE, STITCHED = 0.10, 0.016
"""How dark the stitches along both edges of a waistband are, and how far from these they run, in shoulder widths."""

SEAM_SHADE, SEAM_LIGHT, SEAM_WIDTH = 0.32, 0.14, 0.007
"""How dark the seam below a waistband is, how light the cloth that begins below it, and half the width of both, in
shoulder widths."""

LIFTED, UNDER_BAND, UNDER_REACH = 0.05, 0.10, 0.035
"""How much lighter a waistband is in its middle, which is the thicker cloth, how much darker the cloth right below its
seam, and how far down that is, in shoulder widths."""

SIDE_SHADE = 0.25
"""How much darker a hidden waistband is where it goes round the body."""

GLEAM = 0.04
"""Brightness from which cloth has all of its form; black cloth shows that of this brightness."""


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
        form: ``(h, w)`` float32, what its form adds, as a share of its brightness; 0 on plain cloth.
        hidden: 0 where the photo shows its edge to 1 where the old top hung over it.
        edge: Its own where the photo shows it, or that of the hem over it.
        seen: Up to where it is seen.
    """

    window: tuple[slice, slice]
    cover: NDArray[np.float32]
    beside: NDArray[np.float32]
    form: NDArray[np.float32]
    hidden: float
    edge: Course
    seen: Course

    def formed(self, colour: NDArray[np.float32]) -> NDArray[np.float32]:
        """Cloth with this form; ``colour`` is ``(h, w, 3)`` sRGB, 0 to 1, of the window."""
        return np.asarray(colour + self.form[..., None] * np.maximum(colour, np.float32(GLEAM)), np.float32)


def upper_end(photo: NDArray[np.float32], body: BodyModel, seen: BoolMask) -> UpperEnd | None:
    """Find out how far up the garment below the waist goes on, and how wide it is there.

    What a top ended at is seen up to its edge and goes on no further. What hid under a hem that hung over it comes
    in from its width there to that of the belly.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        body: The body in the photo.
        seen: ``(height, width)``, the garment as far as it is seen.

    Returns:
        None where it would lie outside the picture.
    """
    unit, length, waist = body.shoulder_width, body.torso_length, body.waist
    hidden = _hidden(photo, body, seen)
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
    bow = SAG * (ring - 0.5) + CORNER * np.minimum(aside / half, 1.0) ** 16
    level = waist.height - rise + bow * np.float32(unit / length)
    top = line + (np.maximum(level, NATURAL_TOP) - line) * np.float32(hidden)
    below = (heights - top) * np.float32(length / unit)
    rows = np.asarray(np.clip(below * unit + 0.5, 0.0, 1.0) * near[window], np.float32)
    within = np.clip((half - aside) * unit + 0.5, 0.0, 1.0)
    form = _form(below, np.minimum(aside / half, 1.0), rise * length / unit) * np.float32(hidden)
    cover, beside = (np.asarray(rows * part, np.float32) for part in (within, (1.0 - within) * np.float32(hidden)))
    return UpperEnd(window, cover, beside, np.asarray(form, np.float32), hidden, edge, seen_until)


def _hidden(photo: NDArray[np.float32], body: BodyModel, seen: BoolMask) -> float:
    """1 where the old top hangs over the waistband to 0 where it ends at it, or above it.

    A top that ends low does; one that ends at the height of the hips does where its hem throws a soft shadow: a
    waistband or a belt that is seen has edges of its own.
    """
    height = body.waist.height
    if body.waist.bare_midriff:
        return 0.0
    low = float(ease((height - HIDING_WAIST[0]) / (HIDING_WAIST[1] - HIDING_WAIST[0])))
    if low >= 1.0 or height < HIPS_FROM[0]:
        return low
    below = (body.heights - body.waist.line(body.laterals)) * np.float32(body.torso_length / body.shoulder_width)
    area = seen & (np.abs(body.laterals) < FRONT) & (below > 0.0) & (below < SHADED_UNTIL)
    steps = (below[area] * (SHADOW_STEPS / SHADED_UNTIL)).astype(np.int64)
    light = photo[area].mean(axis=1)
    if np.bincount(steps, minlength=SHADOW_STEPS).min(initial=LEAST_SEEN) < LEAST_SEEN / 5:
        return low
    # The first step is mixed with the hem.
    course = np.array([np.median(light[steps == step]) for step in range(1, SHADOW_STEPS)])
    lost = 1.0 - float(course[:2].mean()) / max(float(course[-3:].mean()), GLEAM)
    softness = float(np.abs(np.diff(course)).max()) / max(float(course.max() - course.min()), 1e-3)
    shadow = float(ease((lost - HEM_SHADOW[0]) / (HEM_SHADOW[1] - HEM_SHADOW[0]))) * (softness < SOFT)
    return max(low, shadow * float(ease((height - HIPS_FROM[0]) / (HIPS_FROM[1] - HIPS_FROM[0]))))


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
    overhung, say = OVERHUNG * unit / length, np.ones(len(edge))
    for _ in range(REFITS):
        course = np.polyval(np.polyfit(places, edge, EDGE_BENDS, w=say), places)
        say = 1.0 / (1.0 + (2.0 * np.maximum(edge - course, 0.0) / overhung) ** 2)
    bridged = np.clip(edge - course, 0.0, MOST_OVERHUNG * unit / length) * (edge > course + overhung)
    whole = np.asarray(ndimage.gaussian_filter1d(edge - bridged, EDGE_CALM, mode="nearest"), np.float64)
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


def _form(below: NDArray[np.float32], across: NDArray[np.float32], rise: float) -> NDArray[np.float32]:
    """Light and shade of a waistband, all lengths in shoulder widths.

    Args:
        below: ``(h, w)`` distance from the upper edge.
        across: ``(h, w)`` from 0 on the axis to 1 at either side.
        rise: How far it reaches up from the old hem; what is less than a waistband shows no seam.
    """
    band = min(BAND, BAND_SHARE * rise)
    edge = EDGE_LIGHT * _line(below - EDGE_WIDTH, EDGE_WIDTH)
    stitches = _line(below - STITCHED, SEAM_WIDTH / 2) + _line(below - band + STITCHED, SEAM_WIDTH / 2)
    seam = SEAM_LIGHT * _line(below - band - 2.0 * SEAM_WIDTH, SEAM_WIDTH) - SEAM_SHADE * _line(
        below - band, SEAM_WIDTH
    )
    lifted = LIFTED * np.sin(np.pi * np.clip(below / max(band, 1e-3), 0.0, 1.0))
    under = UNDER_BAND * np.exp(-np.maximum(below - band, 0.0) / UNDER_REACH) * (below > band)
    # It dies out towards the hem, below which the photo shows the cloth with its own shade.
    fading = ease((1.15 * rise - below) / max(rise, 1e-3))
    form = edge - STITCH_SHADE * stitches + seam + lifted - under
    return np.asarray(form - SIDE_SHADE * across**4 * fading, np.float32)


def _line(off: NDArray[np.float32], width: float) -> NDArray[np.float32]:
    """1 on a soft line to 0 away from it."""
    return np.asarray(np.exp(-((off / width) ** 2)), np.float32)
