"""A garment's torso on the body's: how large it is there, and one closed-form map that lays it down, no solver.

The print keeps its scale at the centre; towards the sides the cloth is stretched or gathered until its edge lies
on the silhouette plus ease, and the shoulder seam is laid on the body's shoulder line.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.garment.upper_landmarks import UpperLandmarks
from engines.regions import labelled_as
from engines.warp.body.model import LEFT, NECK_HALF_WIDTH, NECK_RISE, RIGHT, SIDES, BodyModel
from engines.warp.body.silhouette import ease, reach, values_at
from engines.warp.drape.hang import FITTING, Sizing
from engines.warp.ribbon import Reals, Ribbon, forced_monotone

CROPPED_RATIO = 0.98
"""A garment wider at the chest than this share of its length is cropped and is never stretched to the waist."""

OUTERMOST_STRAP = 0.82
"""How far out on the shoulder the outer edge of a strap lies at most, over the offset of its tip: further out it would
slip off."""

LEAST_TIP, MOST_TIP = 0.88, 0.93
"""Where on the shoulder a sleeve is sewn in, over the offset of the body's tip: further in the seam that lies farthest
out would be on the shoulder, and beyond it the sleeve goes round the shoulder while a torso would end in a corner, as
one without sleeves does."""

NARROWEST_COLLAR, BESIDE_NECK, NECK_WITHIN = 0.20, 0.03, 0.29
"""Least distance of the foot of a collar from the middle of the neck, and from its side as far as that is seen so near
to the axis, in shoulder widths: a neckband lies on the slope of the shoulder, and does not climb the neck."""

NECK_SEEN, NECK_WIDE, LEAST_ROWS = (-0.42, -0.20), (0.22, 0.52), 5
"""Between which heights the neck is looked at, shoulder widths below the mid-shoulder: the head begins above, the
shoulders begin below. Believable widths of it there, in shoulder widths, and rows that have to show both its edges."""

UNSURE, FARTHEST = 0.04, 0.20
"""Distance of the neck from the axis that says nothing, and the farthest it may lie, in shoulder widths."""

MOST_AT_NECK = 0.30
"""Highest believable rise of a shoulder where it meets the neck, in shoulder widths; what is higher is a collar."""

UNDER_CLOTH, ROUNDING, ROUNDING_IN_SLEEVE = 0.012, 0.050, 0.032
"""How far the shoulder lies below the silhouette of the cloth worn on it, everywhere and in addition at the tip, where
it stays bare and where a sleeve goes on from it; in shoulder widths."""

HOLLOW = 1.3
"""Exponent of the bare shoulder's rise from the tip to the neck; 1 is straight."""

CLOTH_ON_TOP = 0.010
"""Thickness of cloth above the skin, in shoulder widths."""

SLIM, BOXY = 0.47, 0.60
"""Width at the chest over the length of a garment that is worn close to the body, and of one that stands off it."""

HOOD_HEIGHT = 0.21
"""How high above its foot on the shoulders a hood that is worn down reaches, in shoulder widths: to below the jaw. In
its picture it stands up as if a head were in it."""

FORWARDS, TAKEN_BACK = 0.34, 0.50
"""By what share of its length cloth lies higher near the collar, and within which length that is taken back, since the
hem keeps its place, in shoulder widths. Crew necks that people wear are 0.12 deep in the median, and the same ones on a
table 0.19."""

EDGE_POWER = 1.4
"""How strongly the stretch is kept to the sides: share of the edge's stretch at a relative offset, as a power."""

LEAST_STRETCH = 0.62
"""Edge offset on the body over edge offset of the cloth; below 1 - 1 / (1 + `EDGE_POWER`) the map would fold."""

HIPS_FROM, FALLS_FROM, MOST_FLARE = 0.80, 0.60, 0.30
"""Height below which a top no longer follows the body inwards, torso lengths below the shoulders; and from which what
it hangs over grows wider by at most so many pixels for one pixel down: what stands out is a thigh or a hand."""

HEAD_REACH = 1.06
"""How far out the shoulder is looked at when cloth is strung over it, in offsets of its tip."""

STRAP_OVER = 0.06
"""How far a strap is laid over the shoulder, in shoulder widths: it is cut off where the skin ends, and reaches it."""

SEAM_POINTS, ROUNDED = 240, 0.10
"""Columns at which the seam is read, and the blur that rounds its bends at the collar, in seam lengths."""

HEM_BOW = 0.058
"""How much lower the middle of a hem is than its ends, in shoulder widths."""

GRID_ROWS, GRID_COLUMNS = 48, 41
"""Size of the torso's grid."""

OVER_EDGE, UNDER_SLEEVE = 1.04, 1.12
"""How far the grid reaches, over the distance of the torso's edge from the axis; and its outermost columns, which hold
what goes on under sleeves."""


@dataclass(frozen=True)
class Fit:
    """The measures by which a garment was sized to a body.

    Attributes:
        scale: Photo pixels per canvas pixel across.
        scale_down: The same along the body.
        origin: Canvas row that lies at ``origin_drop``.
        origin_drop: Where the foot of the collar lies, pixels below the mid-shoulder (negative is above).
        hem_height: Where the hem comes to lie, torso lengths below the shoulders.
        neck: Per side, offset of the foot of the collar from the axis, photo pixels.
        tip: Per side, offset of the shoulder tip.
        girth: By what its sides stand wider than fitting; its print keeps its scale.
        neck_middle: Offset of the collar's middle from the axis, positive towards the right of the picture.
    """

    scale: float
    scale_down: float
    origin: float
    origin_drop: float
    hem_height: float
    neck: dict[int, float]
    tip: dict[int, float]
    girth: float
    neck_middle: float = 0.0


def fit_garment(marks: UpperLandmarks, body: BodyModel, sizing: Sizing = FITTING) -> Fit:
    """Choose the scale of a garment on a body, and where its neck, shoulders and hem come to lie."""
    torso, shoulders = body.torso_length, marks.shoulders
    proportion = marks.chest / max(marks.length, 1.0)
    # Boxy garments are worn wide, slim ones close to the body.
    chest_ease = 1.04 + float(np.clip(0.7 * (proportion - 0.62), 0.0, 0.20))
    # Shoulder seams lie near the body's shoulder tips; straps may lie anywhere between neck and tip.
    narrowest, widest = (0.30, 2.2) if marks.sleeves is None else (0.85, 1.30)
    per_seam = (body.tip_offset(LEFT) + body.tip_offset(RIGHT)) / (2 * max(float(shoulders.tip[0]), 1.0))
    scale = float(np.clip(body.width(0.30) * chest_ease / marks.chest, narrowest * per_seam, widest * per_seam))

    low, high = 0.40 if marks.sleeves is None else LEAST_TIP, OUTERMOST_STRAP if is_strap(marks) else MOST_TIP
    tip_of = {side: body.tip_offset(side) for side in SIDES}
    tip = {side: float(np.clip(shoulders.tip[0] * scale, low * tip_of[side], high * tip_of[side])) for side in SIDES}
    neck, middle = _feet(marks, body, float(shoulders.neck_foot[0]) * scale, tip)
    rises = [float(shoulder_rise(body, np.array([neck[side]]), side)[0]) for side in SIDES]
    origin_drop = -float(np.mean(rises))
    natural = (origin_drop + marks.length * scale * sizing.length) / torso
    cropped = proportion > CROPPED_RATIO or marks.length * scale / torso <= 0.80
    wanted = natural if cropped else _hem_height(natural, body)
    stretch = (wanted * torso - origin_drop) / max(natural * torso - origin_drop, 1.0)
    scale_down = scale * sizing.length * float(np.clip(stretch, 0.80, 1.30))
    hem_height = (origin_drop + marks.length * scale_down) / torso
    origin = float(shoulders.neck_foot[1])
    return Fit(scale, scale_down, origin, origin_drop, hem_height, neck, tip, sizing.girth, middle)


def _feet(
    marks: UpperLandmarks, body: BodyModel, natural: float, tip: dict[int, float]
) -> tuple[dict[int, float], float]:
    """Offset of both feet of the collar from the axis, photo pixels, and that of its middle."""
    unit, shoulders = body.shoulder_width, marks.shoulders
    if is_strap(marks):
        return {side: tip[side] * float(shoulders.neck_foot[0] / max(shoulders.tip[0], 1.0)) for side in SIDES}, 0.0
    if shoulders.hood:  # a hood's foot lies far out on the shoulder and stays there
        return {side: float(np.clip(natural, 0.17 * unit, 0.94 * tip[side])) for side in SIDES}, 0.0
    # Wide necklines are drawn in a little: on the body cloth slides towards the neck.
    wide = natural if natural < 0.25 * unit else 0.25 * unit + 0.75 * (natural - 0.25 * unit)
    middle, sides = neck_base(body)
    feet = {side: max(wide, NARROWEST_COLLAR * unit) + side * middle for side in SIDES}
    if not shoulders.stands:
        wider = {
            side: max(min(sides[side] + BESIDE_NECK * unit, NECK_WITHIN * unit) - feet[side], 0.0) for side in SIDES
        }
        feet = {side: feet[side] + wider[side] for side in SIDES}
        middle += (wider[RIGHT] - wider[LEFT]) / 2
    return {side: float(np.clip(feet[side], 0.0, 0.88 * tip[side])) for side in SIDES}, middle


def neck_base(body: BodyModel) -> tuple[float, dict[int, float]]:
    """Where the neck stands, from what is seen of it above the shoulders; zeros where that is little.

    Rows in which hair, chin or a hand hides an edge of the neck are left out.

    Returns:
        The offset of its middle from the axis, positive towards the right, and the distance of its sides, pixels.
    """
    unit = body.shoulder_width
    height = body.heights * np.float32(body.torso_length / unit)
    neck = (body.labels == Label.NECK) & (height > NECK_SEEN[0]) & (height < NECK_SEEN[1])
    rows = np.flatnonzero(neck.any(axis=1))
    first, last = neck[rows].argmax(axis=1), neck.shape[1] - 1 - neck[rows, ::-1].argmax(axis=1)
    free = (last - first > NECK_WIDE[0] * unit) & (last - first < NECK_WIDE[1] * unit)
    for columns in (first - 2, last + 2):
        beside, _ = values_at(body.labels, np.stack([columns, rows], axis=1).astype(np.float32))
        free &= ~labelled_as(beside, (Label.HAIR, Label.FACE, Label.HANDS))
    if free.sum() < max(LEAST_ROWS, 0.03 * unit):
        return 0.0, dict.fromkeys(SIDES, 0.0)
    ends = np.stack([body.laterals[rows, first], body.laterals[rows, last]])[:, free]
    middle = float(np.median(ends.mean(axis=0)))
    middle = float(np.sign(middle) * np.clip(abs(middle) - UNSURE, 0.0, FARTHEST)) * unit
    return middle, {side: float(np.median(side * ends[k])) * unit for k, side in enumerate(SIDES)}


def _hem_height(natural: float, body: BodyModel) -> float:
    """The hem's wanted height: it covers waistband and old hem, and very long garments are shortened a little."""
    worn = (body.labels == Label.UPPER) & (np.abs(body.laterals) < 0.35) & (body.heights < 1.5)
    old_hem = float(np.percentile(body.heights[worn], 98)) if worn.sum() > 200 else 0.0
    waistband = body.waist.height + 0.05 if body.waist.seen else 0.0
    least = max(0.96, min(max(waistband, old_hem + 0.03), 1.25))
    most = 1.18 + 0.35 * max(natural - 1.18, 0.0)
    return float(np.clip(natural, least, max(most, least)))


def is_strap(marks: UpperLandmarks) -> bool:
    """Whether neck and shoulder tip are the two sides of a strap rather than of a shoulder."""
    return bool(marks.sleeves is None and marks.shoulders.neck_foot[0] > 0.72 * marks.shoulders.tip[0])


def shoulder_rise(
    body: BodyModel, offsets: NDArray[np.float64], side: int, *, under_sleeve: bool = False
) -> NDArray[np.float64]:
    """How far the shoulder lies above the mid-shoulder at offsets from the axis.

    The silhouette without hair and face, bounded by what a bare shoulder can be: an old collar or hood is
    higher. Where hair or a raised hand leaves nothing to measure, the usual form of a shoulder.

    Args:
        body: The body.
        offsets: ``(n,)`` pixels from the axis.
        side: Picture side.
        under_sleeve: Whether a sleeve goes on from the shoulder and has some thickness there.

    Returns:
        ``(n,)`` pixels.
    """
    unit, bone = body.shoulder_width, body.skeleton
    tip_rise = float((bone.shoulders - body.tips[side]) @ bone.down)
    tip, neck = body.tip_offset(side), NECK_HALF_WIDTH * unit
    share = np.clip((tip - offsets) / max(tip - neck, 1.0), 0, 1)
    # A bare shoulder is hollow between neck and tip; beyond the tip it falls off.
    beyond = -0.5 * np.maximum(offsets - tip, 0)
    usual = tip_rise + max(NECK_RISE * unit - tip_rise, 0.06 * unit) * share**HOLLOW + beyond
    most = tip_rise + max(MOST_AT_NECK * unit - tip_rise, 0.12 * unit) * share + 0.02 * unit
    solid = (body.matte > 0.5) & ~labelled_as(body.labels, (Label.HAIR, Label.FACE))
    starts = body.point(np.zeros(len(offsets), np.float32), (offsets * side).astype(np.float32))
    measured = reach(solid, starts, -bone.down, 0.5 * unit).astype(np.float64)
    believed = np.isfinite(measured) & (measured > 0.6 * usual)
    rise = np.where(believed, np.minimum(measured, np.maximum(most, usual)), usual)
    # Cloth on the shoulder hides how the shoulder rounds off below it.
    label, framed = values_at(body.labels, np.nan_to_num(starts - bone.down * (measured - 2)[:, None], nan=-1.0))
    hidden = believed & framed & labelled_as(label, (Label.UPPER, Label.FULL))
    rounding = ROUNDING_IN_SLEEVE if under_sleeve else ROUNDING
    rounded = UNDER_CLOTH + rounding * np.clip((offsets / tip - 0.6) / 0.4, 0, 1) ** 2
    return rise - hidden * rounded * unit + CLOTH_ON_TOP * unit


class TorsoLoft:
    """The map from the garment's canvas to the body.

    Args:
        marks: Landmarks of the garment.
        body: The body.
        fit: From `fit_garment`.
    """

    def __init__(self, marks: UpperLandmarks, body: BodyModel, fit: Fit) -> None:
        self._marks, self._body, self.fit = marks, body, fit
        self._strap = is_strap(marks)
        self._rows = np.arange(marks.half_widths.shape[1], dtype=np.float64)
        self._cloth_edge = {side: np.maximum(marks.half_widths[k] * fit.scale, 1.0) for k, side in enumerate(SIDES)}
        self._body_edge = {side: self._edge_on_body(side) for side in SIDES}
        self._seam_x, self._seam_top, self._seam_shift = self._seam()

    def _drop(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Photo pixels below the mid-shoulder of a canvas row, before the shoulder seam is laid down."""
        unit = self._body.shoulder_width
        length = (y - self.fit.origin) * self.fit.scale_down
        if self._marks.shoulders.hood:
            standing = float(self._marks.shoulders.neck_foot[1] - self._marks.frame.top) * self.fit.scale_down
            length = np.where(length < 0, length * min(1.0, HOOD_HEIGHT * unit / max(standing, 1.0)), length)
        # Below the foot of the collar cloth first runs forwards: seen from the front it is shorter than on a table.
        below = np.maximum(length, 0.0) / unit
        forwards = 0.0 if self._strap else FORWARDS * unit * below * np.exp(-((below / TAKEN_BACK) ** 2))
        return np.asarray(self.fit.origin_drop + length - forwards)

    def _edge_on_body(self, side: int) -> NDArray[np.float64]:
        """Offset of the torso's edge per canvas row: the silhouette plus ease, never far from the cloth's own."""
        unit, marks = self._body.shoulder_width, self._marks
        heights = self._drop(self._rows) / self._body.torso_length
        body_edge = self._body.half_width(heights, side).astype(np.float64)
        hanging, falling = heights > HIPS_FROM, heights > FALLS_FROM
        body_edge[hanging] = np.maximum.accumulate(body_edge[hanging])
        most = MOST_FLARE * heights[falling] * self._body.torso_length
        body_edge[falling] = np.minimum.accumulate(body_edge[falling] - most) + most
        natural = self._cloth_edge[side]
        if marks.sleeves is None:
            edge = np.clip(natural, 0.99 * body_edge, 1.10 * body_edge + 0.02 * unit)
        else:
            # Cloth stands off more lower down, and boxy garments more than slim ones.
            slack = float(np.clip((marks.chest / max(marks.length, 1.0) - SLIM) / (BOXY - SLIM), 0, 1))
            hang = 1.05 + slack * (0.05 + 0.12 * ease(((heights - 0.2) / 0.5).astype(np.float32)))
            edge = np.clip(natural, 1.02 * body_edge + 0.008 * unit, hang * body_edge + 0.02 * unit)
        edge = np.maximum(edge * self.fit.girth, np.minimum(edge, 0.99 * body_edge))
        armpit = int(np.clip(marks.armpits.row, 1, len(edge) - 1))
        tip = int(np.clip(marks.shoulders.tip[1], 0, armpit - 1))
        armhole = np.interp(self._rows, [tip, armpit], [self.fit.tip[side], edge[armpit]])
        edge = ndimage.gaussian_filter1d(np.where(self._rows < armpit, armhole, edge), 0.012 * len(edge))
        return np.asarray(np.maximum(edge, LEAST_STRETCH * natural))

    def _seam(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Canvas columns from one shoulder tip to the other, the seam's row there, and how far it has to move down.

        Between the collar's feet the values run on straight; at them they are rounded.
        """
        marks, fit = self._marks, self.fit
        neck, tip = marks.shoulders.neck_foot, marks.shoulders.tip
        columns, tops, shifts = [], [], []
        for side in SIDES:
            share = np.linspace(0.0, 1.0, 24)
            offsets = neck[0] + share * (tip[0] - neck[0])
            seam = neck[1] + share * (tip[1] - neck[1])
            on_body = fit.neck[side] + share * (fit.tip[side] - fit.neck[side])
            order = slice(None, None, side)
            columns.append((marks.axis + side * offsets)[order])
            tops.append(seam[order])
            shifts.append((-self._rise(on_body, side) - self._drop(seam))[order])
        even = np.linspace(columns[0][0], columns[1][-1], SEAM_POINTS)
        sigma = ROUNDED * (tip[0] - neck[0]) / (even[1] - even[0])
        top, shift = (
            _rounded(np.interp(even, np.concatenate(columns), np.concatenate(line)), sigma) for line in (tops, shifts)
        )
        return even, top, shift

    def over_shoulder(self, side: int) -> NDArray[np.float64]:
        """``(8, 2)`` places in the photo along the shoulder, from the garment's tip to the body's."""
        first = self.fit.tip[side]
        offsets = np.linspace(first, max(self._body.tip_offset(side), first + 1.0), 8)
        return self._body.point(-self._rise(offsets, side) / self._body.torso_length, side * offsets).astype(np.float64)

    def _rise(self, offsets: NDArray[np.float64], side: int) -> NDArray[np.float64]:
        """How far the seam lies above the mid-shoulder; a strap follows the skin, other cloth bridges its hollows."""
        if self._strap:
            on_skin = ndimage.median_filter(shoulder_rise(self._body, offsets, side), 5, mode="nearest")
            return np.asarray(on_skin + STRAP_OVER * self._body.shoulder_width)
        beyond = np.linspace(1.0, HEAD_REACH, 8)[1:] * max(self._body.tip_offset(side), float(offsets[-1]))
        whole = np.concatenate([offsets, beyond[beyond > offsets[-1]]])
        rise = shoulder_rise(self._body, whole, side, under_sleeve=self._marks.sleeves is not None)
        return _bridged(whole, ndimage.median_filter(rise, 5, mode="nearest"))[: len(offsets)]

    def _offsets(self, y: NDArray[np.float64], distance: NDArray[np.float64], side: int) -> NDArray[np.float64]:
        """Offset on the body of points at a scaled distance from the cloth's axis."""
        row = np.clip(y, 0, len(self._rows) - 1)
        cloth_edge = np.interp(row, self._rows, self._cloth_edge[side])
        body_edge = np.interp(row, self._rows, self._body_edge[side])
        relative = np.clip(distance / cloth_edge, 0.0, 1.0)
        eased = distance * (1 + (body_edge / cloth_edge - 1) * relative**EDGE_POWER)
        eased = np.where(distance > cloth_edge, body_edge + (distance - cloth_edge), eased)
        if self._strap:
            return np.asarray(eased)
        # Near the neck a second, piecewise linear map brings the foot of the collar to its place.
        cloth_neck = max(float(self._marks.shoulders.neck_foot[0]) * self.fit.scale, 1.0)
        body_neck = self.fit.neck[side]
        outer = body_neck + (distance - cloth_neck) / np.maximum(cloth_edge - cloth_neck, 1.0) * (body_edge - body_neck)
        middle = side * self.fit.neck_middle
        pinned = np.where(distance < cloth_neck, middle + distance * (body_neck - middle) / cloth_neck, outer)
        above_armpit = (self._marks.armpits.row - y) / max(self._marks.armpits.row - self.fit.origin, 1.0)
        weight = ease(above_armpit.astype(np.float32))
        return np.asarray(eased + weight * (pinned - eased))

    def place(self, points: NDArray[np.float64]) -> NDArray[np.float32]:
        """Map canvas points to the photo.

        Args:
            points: ``(..., 2)`` x and y on the canvas.

        Returns:
            ``(..., 2)`` float32 x and y in the working photo.
        """
        x, y = points[..., 0], points[..., 1]
        lateral = (x - self._marks.axis) * self.fit.scale
        offsets = np.where(
            lateral < 0, -self._offsets(y, -lateral, LEFT), self._offsets(y, np.maximum(lateral, 0), RIGHT)
        )
        seam_row = np.interp(x, self._seam_x, self._seam_top)
        shift = np.interp(x, self._seam_x, self._seam_shift)
        armpit = self._marks.armpits.row
        fading = ease((1 - (y - seam_row) / np.maximum(armpit - seam_row, 20.0)).astype(np.float32))
        below = ease(((y - armpit) / max(self._marks.hem - armpit, 1.0)).astype(np.float32))
        # A hem is a ring around the body; seen from the height of the chest it is the lower half of an ellipse.
        row = np.clip(y, 0, len(self._rows) - 1)
        edge = np.where(lateral < 0, *(np.interp(row, self._rows, self._cloth_edge[side]) for side in SIDES))
        ring = np.sqrt(np.maximum(1 - (lateral / edge) ** 2, 0))
        drop = self._drop(y) + shift * fading + HEM_BOW * self._body.shoulder_width * below * ring
        return self._body.point((drop / self._body.torso_length).astype(np.float32), offsets.astype(np.float32))

    def ribbon(self) -> Ribbon:
        """The torso as a grid from above the collar to below the hem."""
        marks = self._marks
        last = min(marks.hem + 0.12 * marks.frame.height, marks.frame.top + marks.frame.height + 6)
        rows = np.linspace(marks.frame.top - 6, last, GRID_ROWS)
        across = np.concatenate([[-UNDER_SLEEVE], np.linspace(-OVER_EDGE, OVER_EDGE, GRID_COLUMNS), [UNDER_SLEEVE]])
        return self.strung(self.grid(rows, across), np.clip(across, -1, 1))

    def grid(self, rows: Reals, across: Reals) -> NDArray[np.float64]:
        """Canvas points at ``(rows,)`` and at ``(columns,)`` shares of the half width, ``(rows, columns, 2)``."""
        left, right = (np.interp(rows, self._rows, half) for half in self._marks.half_widths)
        x = self._marks.axis + across[None] * np.where(across[None] < 0, left[:, None], right[:, None])
        return np.stack([x, np.broadcast_to(rows[:, None], x.shape)], axis=-1).astype(np.float64)

    def strung(self, source: NDArray[np.float64], across: Reals) -> Ribbon:
        """A grid of canvas points laid on the body."""
        return Ribbon(source.astype(np.float32), forced_monotone(self.place(source)), across.astype(np.float32))


def _bridged(positions: NDArray[np.float64], heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The upper convex hull of ``(n,)`` heights at rising positions: taut cloth bridges the hollows."""
    kept: list[int] = []
    for index, height in enumerate(heights):
        while len(kept) > 1:
            (x0, y0), (x1, y1) = ((positions[k], heights[k]) for k in kept[-2:])
            if (x1 - x0) * (height - y1) < (y1 - y0) * (positions[index] - x1):
                break
            kept.pop()
        kept.append(index)
    return np.asarray(np.interp(positions, positions[kept], heights[kept]))


def _rounded(values: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    """Values blurred along a line that goes on straight at both ends."""
    count = int(4 * sigma) + 2
    on = np.arange(1, count + 1)
    before, beyond = values[0] - on[::-1] * (values[1] - values[0]), values[-1] + on * (values[-1] - values[-2])
    blurred = ndimage.gaussian_filter1d(np.concatenate([before, values, beyond]), sigma)
    return np.asarray(blurred[count:-count], np.float64)
