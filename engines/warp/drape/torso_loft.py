"""A garment's torso laid on the body's: one closed-form map, no solver.

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
from engines.warp.body.model import LEFT, RIGHT, SIDES, BodyModel
from engines.warp.body.seen_width import seen_half_width
from engines.warp.body.shoulder_profile import shoulder_rise
from engines.warp.body.silhouette import ease
from engines.warp.body.torso_width import torso_half_width
from engines.warp.drape.taut import bridged
from engines.warp.ribbon import Ribbon, forced_monotone
from engines.warp.sizing import FITTING, Sizing

EDGE_POWER = 1.4
"""How strongly the stretch is kept to the sides: share of the edge's stretch at a relative offset, as a power."""

LEAST_STRETCH = 0.62
"""Edge offset on the body over edge offset of the cloth; below 1 - 1 / (1 + `EDGE_POWER`) the map would fold."""

CROPPED_RATIO = 0.98
"""A garment wider at the chest than this share of its length is cropped and is never stretched to the waist."""

HIPS_FROM = 0.80
"""Height below which a top no longer follows the body inwards, torso lengths below the shoulders."""

LEVEL_SEAM = 0.35
"""Farthest that a shoulder seam may lie from the straight line between its ends, in seam lengths."""

LEAST_BEYOND = 0.03
"""Distance between the garment's and the body's shoulder tip from which the sleeve covers a part of the shoulder, in
shoulder widths."""

HEAD_REACH = 1.06
"""How far out the shoulder is looked at when cloth is strung over it, in offsets of its tip."""

GRID_ROWS, GRID_COLUMNS = 48, 41
"""Size of the torso's grid."""


@dataclass(frozen=True)
class Fit:
    """The measures by which a garment was sized to a body.

    Attributes:
        scale: Photo pixels per canvas pixel across.
        scale_down: The same along the body.
        origin: Canvas row that lies at ``origin_drop``.
        origin_drop: Where the foot of the collar lies, pixels below the mid-shoulder (negative is above).
        hem_height: Where the hem comes to lie, torso lengths below the shoulders.
        natural_hem_height: Where it would lie without any stretch.
        cropped: Whether the garment is short by design.
        neck: Per side, offset of the foot of the collar from the axis, photo pixels.
        tip: Per side, offset of the shoulder tip.
        girth: By what its sides stand wider than fitting; its print keeps its scale.
    """

    scale: float
    scale_down: float
    origin: float
    origin_drop: float
    hem_height: float
    natural_hem_height: float
    cropped: bool
    neck: dict[int, float]
    tip: dict[int, float]
    girth: float


def fit_garment(marks: UpperLandmarks, body: BodyModel, sizing: Sizing = FITTING) -> Fit:
    """Choose the scale of a garment on a body, and where its neck, shoulders and hem come to lie."""
    unit, torso = body.shoulder_width, body.torso_length
    sleeved = marks.sleeves is not None
    proportion = marks.chest / max(marks.length, 1.0)
    # Boxy garments are worn wide, slim ones close to the body.
    chest_ease = 1.04 + float(np.clip(0.7 * (proportion - 0.62), 0.0, 0.20))
    shoulders = body.tip_offset(LEFT) + body.tip_offset(RIGHT)
    seam = 2 * max(marks.shoulders.corner, 1.0)
    beyond = marks.shoulders.corner / max(float(marks.shoulders.tip[0]), 1.0)
    # Shoulder seams lie near the body's shoulder tips; straps may lie anywhere between neck and tip.
    narrowest, widest = (0.85, 1.30) if sleeved else (0.30, 2.2)
    chest = sum(float(torso_half_width(body, np.array([0.30]), side)[0]) for side in SIDES)
    scale = chest * chest_ease / marks.chest
    scale = float(np.clip(scale, narrowest * shoulders / seam, widest * shoulders / seam))

    neck, tip = {}, {}
    natural_tip, natural_neck = marks.shoulders.tip[0] * scale, marks.shoulders.neck_foot[0] * scale
    for side in SIDES:
        body_tip = body.tip_offset(side)
        low, high = (0.90 / beyond, 1.02) if sleeved else (0.40, 0.97)
        tip[side] = float(np.clip(natural_tip, low * body_tip, high * body_tip))
        if is_strap(marks):
            neck[side] = tip[side] * float(marks.shoulders.neck_foot[0] / max(marks.shoulders.tip[0], 1.0))
            continue
        if marks.shoulders.hood:  # a hood's foot lies far out on the shoulder and stays there
            neck[side] = float(np.clip(natural_neck, 0.17 * unit, 0.94 * tip[side]))
            continue
        # Wide necklines are drawn in a little: on the body cloth slides towards the neck.
        wide = natural_neck if natural_neck < 0.25 * unit else 0.25 * unit + 0.75 * (natural_neck - 0.25 * unit)
        neck[side] = float(np.clip(wide, 0.17 * unit, 0.88 * tip[side]))
    rises = [float(shoulder_rise(body, np.array([neck[side]]), side)[0]) for side in SIDES]
    origin_drop = -float(np.mean(rises))
    natural = (origin_drop + marks.length * scale * sizing.length) / torso
    cropped = proportion > CROPPED_RATIO or marks.length * scale / torso <= 0.80
    wanted = natural if cropped else _hem_height(natural, body)
    stretch = (wanted * torso - origin_drop) / max(natural * torso - origin_drop, 1.0)
    scale_down = scale * sizing.length * float(np.clip(stretch, 0.80, 1.30))
    hem_height = (origin_drop + marks.length * scale_down) / torso
    origin = float(marks.shoulders.neck_foot[1])
    return Fit(scale, scale_down, origin, origin_drop, hem_height, natural, cropped, neck, tip, sizing.girth)


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


class TorsoLoft:
    """The map from the garment's canvas to the body.

    Args:
        marks: Landmarks of the garment.
        body: The body.
        fit: From `fit_garment`.
    """

    def __init__(self, marks: UpperLandmarks, body: BodyModel, fit: Fit) -> None:
        self._marks, self._body, self.fit = marks, body, fit
        self._rows = np.arange(marks.half_widths.shape[1], dtype=np.float64)
        self._cloth_edge = {side: np.maximum(marks.half_widths[k] * fit.scale, 1.0) for k, side in enumerate(SIDES)}
        self._body_edge = {side: self._edge_on_body(side) for side in SIDES}
        self._seam_x, self._seam_top, self._seam_shift = self._seam()

    def _drop(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Photo pixels below the mid-shoulder of a canvas row, before the shoulder seam is laid down."""
        return np.asarray(self.fit.origin_drop + (y - self.fit.origin) * self.fit.scale_down)

    def _edge_on_body(self, side: int) -> NDArray[np.float64]:
        """Offset of the torso's edge per canvas row: the silhouette plus ease, never far from the cloth's own."""
        unit, marks = self._body.shoulder_width, self._marks
        heights = self._drop(self._rows) / self._body.torso_length
        body_edge = seen_half_width(self._body, heights, side)
        # Below the hips cloth hangs down from the widest place.
        hanging = heights > HIPS_FROM
        body_edge[hanging] = np.maximum.accumulate(body_edge[hanging])
        natural = self._cloth_edge[side]
        if marks.sleeves is None:
            edge = np.clip(natural, 0.99 * body_edge, 1.10 * body_edge + 0.02 * unit)
        else:
            hang = 1.10 + 0.12 * ease(((heights - 0.2) / 0.5).astype(np.float32))  # cloth stands off more lower down
            edge = np.clip(natural, 1.02 * body_edge + 0.008 * unit, hang * body_edge + 0.02 * unit)
        edge = np.maximum(edge * self.fit.girth, np.minimum(edge, 0.99 * body_edge))
        armpit = int(np.clip(marks.armpits.row, 1, len(edge) - 1))
        tip = int(np.clip(marks.shoulders.tip[1], 0, armpit - 1))
        armhole = np.interp(self._rows, [tip, armpit], [self.fit.tip[side], edge[armpit]])
        edge = np.where(self._rows < armpit, armhole, edge)
        edge = ndimage.gaussian_filter1d(edge, 0.012 * len(edge))
        return np.asarray(np.maximum(edge, LEAST_STRETCH * natural))

    def _seam(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Canvas columns from one shoulder tip to the other, the seam's row there, and how far it has to move down.

        Between the collar's feet the values run on straight, so that collars and necklines keep their form.
        """
        marks, fit = self._marks, self.fit
        neck, tip = marks.shoulders.neck_foot, marks.shoulders.tip
        columns, tops, shifts = [], [], []
        for side in SIDES:
            share = np.linspace(0.0, 1.0, 24)
            offsets = neck[0] + share * (tip[0] - neck[0])
            straight = neck[1] + share * (tip[1] - neck[1])
            drawn = np.interp(offsets, np.arange(len(marks.shoulders.top)), marks.shoulders.top)
            # A hood may leave so short a seam that its own rim would be taken for it.
            limit = min(0.05 * marks.frame.height, LEVEL_SEAM * (tip[0] - neck[0]))
            seam = np.clip(drawn, straight - limit, straight + limit)
            seam[[0, -1]] = straight[[0, -1]]
            on_body = fit.neck[side] + share * (fit.tip[side] - fit.neck[side])
            rise = self._rise(on_body, side)
            shift = -rise - self._drop(seam)
            order = slice(None, None, side)
            columns.append((marks.axis + side * offsets)[order])
            tops.append(seam[order])
            shifts.append(ndimage.gaussian_filter1d(shift, 1.5, mode="nearest")[order])
        return np.concatenate(columns), np.concatenate(tops), np.concatenate(shifts)

    def beyond_tip(self, side: int) -> NDArray[np.float64]:
        """Points of the shoulder line outside the seam, ``(n, 2)`` in the photo, where the garment's tip lies inside.

        Empty where the garment's tip lies at the body's.
        """
        first, last = self.fit.tip[side], self._body.tip_offset(side)
        if last - first < LEAST_BEYOND * self._body.shoulder_width:
            return np.zeros((0, 2))
        offsets = np.linspace(first, last, 8)
        rise = self._rise(offsets, side)[1:]
        return self._body.point(-rise / self._body.torso_length, side * offsets[1:]).astype(np.float64)

    def _rise(self, offsets: NDArray[np.float64], side: int) -> NDArray[np.float64]:
        """How far the seam lies above the mid-shoulder; a strap follows the skin, other cloth bridges its hollows."""
        if is_strap(self._marks):
            return np.asarray(ndimage.median_filter(shoulder_rise(self._body, offsets, side), 5, mode="nearest"))
        beyond = np.linspace(1.0, HEAD_REACH, 8)[1:] * max(self._body.tip_offset(side), float(offsets[-1]))
        whole = np.concatenate([offsets, beyond[beyond > offsets[-1]]])
        rise = ndimage.median_filter(shoulder_rise(self._body, whole, side), 5, mode="nearest")
        return bridged(whole, rise)[: len(offsets)]

    def _offsets(self, y: NDArray[np.float64], distance: NDArray[np.float64], side: int) -> NDArray[np.float64]:
        """Offset on the body of points at a scaled distance from the cloth's axis."""
        row = np.clip(y, 0, len(self._rows) - 1)
        cloth_edge = np.interp(row, self._rows, self._cloth_edge[side])
        body_edge = np.interp(row, self._rows, self._body_edge[side])
        relative = np.clip(distance / cloth_edge, 0.0, 1.0)
        eased = distance * (1 + (body_edge / cloth_edge - 1) * relative**EDGE_POWER)
        eased = np.where(distance > cloth_edge, body_edge + (distance - cloth_edge), eased)
        if is_strap(self._marks):
            return np.asarray(eased)
        # Near the neck a second, piecewise linear map brings the foot of the collar to its place.
        cloth_neck = max(float(self._marks.shoulders.neck_foot[0]) * self.fit.scale, 1.0)
        body_neck = self.fit.neck[side]
        outer = body_neck + (distance - cloth_neck) / np.maximum(cloth_edge - cloth_neck, 1.0) * (body_edge - body_neck)
        pinned = np.where(distance < cloth_neck, distance * body_neck / cloth_neck, outer)
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
        half_chest = self._marks.armpits.offset * self.fit.scale
        # A hem seen from the height of the chest bows downwards in the middle.
        bow = 0.022 * self._body.shoulder_width * below * (1 - np.clip(np.abs(lateral) / half_chest, 0, 1.2) ** 2)
        drop = self._drop(y) + shift * fading + bow
        heights = (drop / self._body.torso_length).astype(np.float32)
        return self._body.point(heights, offsets.astype(np.float32))

    def ribbon(self) -> Ribbon:
        """The torso as a grid from above the collar to below the hem."""
        marks = self._marks
        last = min(marks.hem + 0.12 * marks.frame.height, marks.frame.top + marks.frame.height + 6)
        rows = np.linspace(marks.frame.top - 6, last, GRID_ROWS)
        across = np.linspace(-1.04, 1.04, GRID_COLUMNS)
        left, right = (np.interp(rows, self._rows, marks.half_widths[k]) for k in range(2))
        reach = np.where(across[None] < 0, left[:, None], right[:, None])
        x = marks.axis + across[None] * reach
        source = np.stack([x, np.broadcast_to(rows[:, None], x.shape)], axis=-1)
        target = forced_monotone(self.place(source))
        return Ribbon(source.astype(np.float32), target, np.clip(across, -1, 1).astype(np.float32))
