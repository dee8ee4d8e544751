"""A garment's torso laid on the body's: one closed-form map, no solver.

The print keeps its scale at the centre; towards the sides the cloth is stretched or gathered until its edge lies
on the silhouette plus ease, and the shoulder seam is laid on the body's shoulder line.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.garment.upper_landmarks import UpperLandmarks
from engines.warp.body.model import LEFT, RIGHT, SIDES, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.body.torso_width import seen_half_width
from engines.warp.drape.arm_in_sleeve import arm_in_sleeve
from engines.warp.drape.fit import Fit, is_strap, shoulder_rise
from engines.warp.ribbon import Ribbon, forced_monotone

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

HIPS_FROM = 0.80
"""Height below which a top no longer follows the body inwards, torso lengths below the shoulders."""

FALLS_FROM, MOST_FLARE = 0.60, 0.30
"""Height from which what the cloth hangs over grows wider by at most so many pixels for one pixel down."""

LEVEL_SEAM = 0.35
"""Farthest that a shoulder seam may lie from the straight line between its ends, in seam lengths."""

LEAST_BEYOND = 0.03
"""Distance between the garment's and the body's shoulder tip from which the sleeve covers a part of the shoulder, in
shoulder widths."""

HEAD_REACH = 1.06
"""How far out the shoulder is looked at when cloth is strung over it, in offsets of its tip."""

INTO_ARM, ARMPIT_REACH = 0.02, 0.15
"""How far an armpit lies outside the arm's inner edge at most, in shoulder widths: a sleeve that comes from before the
torso cannot begin beside it. And over which height below it the torso's edge comes back to where it was, in torso
lengths."""

BARE_ARM_FROM, BESIDE_STRAP = (0.10, 0.22), (0.00, 0.18)
"""Heights between which a bare arm comes before a garment without sleeves; above it lies on the shoulder. The same
where it hangs on straps, which leave the shoulder bare."""

BEHIND_ARM = 0.010
"""How far a garment without sleeves goes on behind a bare arm below that, in shoulder widths."""

STRAP_SLANT = 0.5
"""By how many pixels the edge below a strap comes inwards at most for one pixel down: a strap does not kink."""

STRAP_OVER = 0.06
"""How far a strap is laid over the shoulder, in shoulder widths: it is cut off where the skin ends, and reaches it."""

NEAR_COLLAR, AT_COLLAR = 0.3, 0.1
"""Share of a shoulder seam next to the collar that is believed less where the seam runs, and how much at the collar: a
neckband stands up there."""

SEAM_POINTS, ROUNDED = 240, 0.10
"""Columns at which the seam is read, and the blur that rounds its bends at the collar, in seam lengths."""

HEM_BOW = 0.058
"""How much lower the middle of a hem is than its ends, in shoulder widths."""

GRID_ROWS, GRID_COLUMNS = 48, 41
"""Size of the torso's grid."""

OVER_EDGE, UNDER_SLEEVE = 1.04, 1.12
"""How far the grid reaches, over the distance of the torso's edge from the axis; and its outermost columns, which hold
what goes on under sleeves."""


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
        length = (y - self.fit.origin) * self.fit.scale_down
        if self._marks.shoulders.hood:
            standing = float(self._marks.shoulders.neck_foot[1] - self._marks.frame.top) * self.fit.scale_down
            worn = min(1.0, HOOD_HEIGHT * self._body.shoulder_width / max(standing, 1.0))
            length = np.where(length < 0, length * worn, length)
        forwards = 0.0 if is_strap(self._marks) else _raised(length, self._body.shoulder_width)
        return np.asarray(self.fit.origin_drop + length - forwards)

    def _edge_on_body(self, side: int) -> NDArray[np.float64]:
        """Offset of the torso's edge per canvas row: the silhouette plus ease, never far from the cloth's own."""
        unit, marks = self._body.shoulder_width, self._marks
        heights = self._drop(self._rows) / self._body.torso_length
        body_edge = self._hung_over(seen_half_width(self._body, heights, side), heights)
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
        beside = self._beside_arm(heights, side)
        if marks.sleeves is not None:
            # Only where it begins: lower down the sleeve lies over the torso.
            beyond = max(edge[armpit] - beside[armpit] - INTO_ARM * unit, 0.0)
            edge = edge - beyond * ease(1 - (heights - heights[armpit]) / ARMPIT_REACH)
        armhole = np.interp(self._rows, [tip, armpit], [self.fit.tip[side], edge[armpit]])
        edge = np.where(self._rows < armpit, armhole, edge)
        if marks.sleeves is None:
            begins, wholly = BESIDE_STRAP if is_strap(marks) else BARE_ARM_FROM
            covered = beside + BEHIND_ARM * unit * ease((heights - wholly) / (wholly - begins))
            edge = edge - np.maximum(edge - covered, 0.0) * ease((heights - begins) / (wholly - begins))
            if is_strap(marks):
                steepest = STRAP_SLANT * self.fit.scale * self._rows
                edge = np.maximum.accumulate(edge + steepest) - steepest
        edge = ndimage.gaussian_filter1d(edge, 0.012 * len(edge))
        return np.asarray(np.maximum(edge, LEAST_STRETCH * natural))

    def _hung_over(self, half_width: NDArray[np.float64], heights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The silhouette that cloth hangs over, per canvas row, from the half width of what is seen there.

        What stands out suddenly below the waist is a thigh or a hand; cloth falls past it and does not follow.
        """
        hung = half_width.copy()
        # Below the hips cloth hangs down from the widest place.
        hanging = heights > HIPS_FROM
        hung[hanging] = np.maximum.accumulate(hung[hanging])
        falling = heights > FALLS_FROM
        most = MOST_FLARE * heights[falling] * self._body.torso_length
        hung[falling] = np.minimum.accumulate(hung[falling] - most) + most
        return hung

    def _beside_arm(self, heights: NDArray[np.float64], side: int) -> NDArray[np.float64]:
        """Farthest offset at heights of what lies beside an upper arm; none where there is no arm, infinity."""
        arm, bone = arm_in_sleeve(self._body, side), self._body.skeleton
        inner = (arm.line - arm.outward * arm.inner[:, None] - bone.shoulders)[arm.shares <= arm.bend]
        drops = inner @ bone.down / self._body.torso_length
        order = np.argsort(drops)
        offsets = np.interp(heights, drops[order], (inner @ bone.right * side)[order], left=np.inf, right=np.inf)
        return np.asarray(offsets)

    def _seam(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Canvas columns from one shoulder tip to the other, the seam's row there, and how far it has to move down.

        Cloth bends along a shoulder, it does not kink: what a neckband or a fold stands out over the seam keeps its
        form and is not pressed onto the shoulder. Between the collar's feet the values run on straight.
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
            if not is_strap(marks):
                shift, seam = _bent(share, shift), _bent(share, seam)
            order = slice(None, None, side)
            columns.append((marks.axis + side * offsets)[order])
            tops.append(seam[order])
            shifts.append(shift[order])
        even = np.linspace(columns[0][0], columns[1][-1], SEAM_POINTS)
        sigma = ROUNDED * (tip[0] - neck[0]) / (even[1] - even[0])
        values = (np.interp(even, np.concatenate(columns), np.concatenate(line)) for line in (tops, shifts))
        rounded_tops, rounded_shifts = (_rounded(line, sigma) for line in values)
        return even, rounded_tops, rounded_shifts

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
            on_skin = ndimage.median_filter(shoulder_rise(self._body, offsets, side), 5, mode="nearest")
            return np.asarray(on_skin + STRAP_OVER * self._body.shoulder_width)
        beyond = np.linspace(1.0, HEAD_REACH, 8)[1:] * max(self._body.tip_offset(side), float(offsets[-1]))
        whole = np.concatenate([offsets, beyond[beyond > offsets[-1]]])
        sleeved = self._marks.sleeves is not None
        rise = shoulder_rise(self._body, whole, side, under_sleeve=sleeved)
        rise = ndimage.median_filter(rise, 5, mode="nearest")
        return _bridged(whole, rise)[: len(offsets)]

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
        bow = HEM_BOW * self._body.shoulder_width * below * ring
        drop = self._drop(y) + shift * fading + bow
        heights = (drop / self._body.torso_length).astype(np.float32)
        return self._body.point(heights, offsets.astype(np.float32))

    def ribbon(self) -> Ribbon:
        """The torso as a grid from above the collar to below the hem."""
        marks = self._marks
        last = min(marks.hem + 0.12 * marks.frame.height, marks.frame.top + marks.frame.height + 6)
        rows = np.linspace(marks.frame.top - 6, last, GRID_ROWS)
        across = np.concatenate([[-UNDER_SLEEVE], np.linspace(-OVER_EDGE, OVER_EDGE, GRID_COLUMNS), [UNDER_SLEEVE]])
        left, right = (np.interp(rows, self._rows, marks.half_widths[k]) for k in range(2))
        reach = np.where(across[None] < 0, left[:, None], right[:, None])
        x = marks.axis + across[None] * reach
        source = np.stack([x, np.broadcast_to(rows[:, None], x.shape)], axis=-1)
        target = forced_monotone(self.place(source))
        return Ribbon(source.astype(np.float32), target, np.clip(across, -1, 1).astype(np.float32))


def _raised(lengths: NDArray[np.float64], shoulder_width: float) -> NDArray[np.float64]:
    """How much higher than its length says cloth lies that comes down from the foot of the collar, ``(n,)`` pixels.

    It first runs forwards: seen from the front, it is shorter there than on a table.

    Args:
        lengths: Along the cloth below the foot of the collar, pixels; what stands above it is negative and not raised.
        shoulder_width: Distance of the shoulder joints in pixels.
    """
    below = np.maximum(lengths, 0.0) / shoulder_width
    return np.asarray(FORWARDS * shoulder_width * below * np.exp(-((below / TAKEN_BACK) ** 2)))


def _bridged(positions: NDArray[np.float64], heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The lowest curve without hollows that lies nowhere below ``(n,)`` heights at rising positions: cloth is taut."""
    kept: list[int] = []
    for index, height in enumerate(heights):
        while len(kept) > 1:
            (x0, y0), (x1, y1) = ((positions[k], heights[k]) for k in kept[-2:])
            if (x1 - x0) * (height - y1) < (y1 - y0) * (positions[index] - x1):
                break
            kept.pop()
        kept.append(index)
    return np.asarray(np.interp(positions, positions[kept], heights[kept]))


def _bent(share: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Values along a seam from collar to tip as one even bend."""
    believed = AT_COLLAR + (1 - AT_COLLAR) * np.minimum(share / NEAR_COLLAR, 1)
    return np.asarray(np.polynomial.Polynomial.fit(share, values, 2, w=believed)(share), np.float64)


def _rounded(values: NDArray[np.float64], sigma: float) -> NDArray[np.float64]:
    """Values blurred along a line that goes on straight at both ends."""
    count = int(4 * sigma) + 2
    on = np.arange(1, count + 1)
    before, beyond = values[0] - on[::-1] * (values[1] - values[0]), values[-1] + on * (values[-1] - values[-2])
    blurred = ndimage.gaussian_filter1d(np.concatenate([before, values, beyond]), sigma)
    return np.asarray(blurred[count:-count], np.float64)
