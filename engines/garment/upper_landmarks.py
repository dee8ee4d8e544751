"""Everything the draper has to know about a flat garment for the upper body."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import EngineError
from engines.garment.armpits import Armpits, Frame, Sleeves, find_armpits
from engines.garment.cloth import Cloth
from engines.garment.measuring import HOW_TO_BE_LAID, measuring
from engines.garment.neckline import inner_back
from engines.garment.regions import BoolMask, largest
from engines.garment.shoulders import Shoulders, find_shoulders
from engines.garment.sleeves import Sleeve, matched_pair, trace_sleeve
from engines.garment.symmetry import half_masks, mirror_axis, outermost

LEAST_SYMMETRY, LEAST_SYMMETRY_WORN = 0.62, 0.75
"""Below this overlap of the two halves the cut-out is not a garment seen from the front; one that was lifted off a
wearer has been straightened, and what is missing of it then was hidden by hair or an arm."""
SHORTEST_SLEEVE = 0.12
"""In torso widths; less is the bulge of an armhole."""

SHADOW, SHADOW_FROM = 0.05, 0.12
"""Width of the torso that a resting sleeve hides or shades beside its edge, in torso widths, and how far below the
armpit all of it is, as a share of the garment's height."""

BELOW_TOUCH = 0.02
"""How far below the end of a sleeve that touches the torso the torso's edge is its own, from armpit to hem: where the
gap opens it is rounded."""

LEAST_COLLAR = 0.02
"""What rises above the shoulder by this share of the garment's height is a collar."""

SIDES = (-1, 1)
"""Left and right in the picture."""


@dataclass(frozen=True)
class UpperLandmarks:
    """Landmarks of an upper-body garment, in pixels of the cloth's canvas.

    Attributes:
        axis: x of the mirror axis.
        symmetry: How well the halves match, 0 to 1.
        frame: Top, height and typical width.
        armpits: How the sleeves lie, and where they begin.
        shoulders: Tips, neck and collar, as offsets from the axis.
        hem: Row of the hem.
        half_widths: ``(2, h)`` distance from the axis to the torso's edge, left and right in the picture; above the
            armpit it is the straight line to the shoulder tip.
        sleeves: Which sleeve to use left and right in the picture, or None for a sleeveless garment.
        torso_part: ``(h, w)`` bool.
        sleeve_parts: ``(2, h, w)`` bool.
        back: ``(h, w)`` bool, the inside of the back seen through the neck opening.
    """

    axis: float
    symmetry: float
    frame: Frame
    armpits: Armpits
    shoulders: Shoulders
    hem: float
    half_widths: NDArray[np.float64]
    sleeves: tuple[Sleeve, Sleeve] | None
    torso_part: BoolMask
    sleeve_parts: BoolMask
    back: BoolMask

    @property
    def length(self) -> float:
        """From the foot of the collar to the hem, pixels."""
        return float(self.hem - self.shoulders.neck_foot[1])

    @property
    def chest(self) -> float:
        """Width from armpit to armpit, pixels."""
        return 2 * self.armpits.offset

    def point(self, side: int, half_point: NDArray[np.float64]) -> NDArray[np.float64]:
        """Turn (offset, row) into (x, y) on the given side, -1 or 1."""
        return np.array([self.axis + side * half_point[0], half_point[1]])

    def armpit(self, side: int) -> NDArray[np.float64]:
        """(x, y) of the armpit on the given side, -1 or 1."""
        return self.point(side, np.array([self.armpits.offset, self.armpits.row]))


def _central_runs(mask: BoolMask, axis: float) -> NDArray[np.float64]:
    """``(2, h)``: how far the run of cloth around the axis reaches to each side; nan where there is none."""
    reach = np.full((2, mask.shape[0]), np.nan)
    rows, columns = np.nonzero(mask)
    if not len(rows):
        return reach
    begins = np.flatnonzero(np.concatenate([[True], (np.diff(rows) > 0) | (np.diff(columns) > 2)]))
    row, first, last = rows[begins], columns[begins], columns[np.append(begins[1:], len(rows)) - 1]
    away = np.where((first <= axis) & (axis <= last), 0.0, np.minimum(np.abs(first - axis), np.abs(last - axis)))
    order = np.lexsort((away, row))
    nearest = order[np.unique(row[order], return_index=True)[1]]
    reach[:, row[nearest]] = axis - first[nearest], last[nearest] - axis
    return reach


def _measure_frame(mask: BoolMask, reach: NDArray[np.float64]) -> Frame:
    rows = np.flatnonzero(mask.any(axis=1))
    top, height = int(rows[0]), int(rows[-1] - rows[0])
    middle = slice(int(top + 0.5 * height), int(top + 0.85 * height))
    widths = reach[:, middle].sum(axis=0)
    if height < 40 or not np.isfinite(widths).any():
        raise EngineError("garment_not_recognised", "The cut-out is too small to be a garment.")
    return Frame(top, height, float(np.nanmedian(widths)))


def _torso_edge(
    half: BoolMask,
    reach: NDArray[np.float64],
    *,
    armpits: Armpits,
    tip: NDArray[np.float64],
    hem: float,
    frame: Frame,
) -> NDArray[np.float64]:
    """Distance of the torso's edge from the axis in every row of one side."""
    rows = np.arange(len(reach), dtype=float)
    known = np.isfinite(reach)
    if armpits.sleeves is Sleeves.NONE:
        edge = outermost(half)
        edge[edge == 0] = edge[int((armpits.row + hem) / 2)]
    else:
        edge = np.interp(rows, rows[known], reach[known])
        if armpits.sleeves is Sleeves.RESTING:
            edge = np.minimum(edge, armpits.offset)
        else:
            flare = np.clip((rows - armpits.row) / max(hem - armpits.row, 1), 0, 1)
            margin = frame.width * (0.02 + 0.14 * flare)
            edge = np.minimum(_past_touching_sleeve(edge, armpits, margin, int(hem)), armpits.offset + margin)
    # The last rows of a slanting or curved hem hold only a part of its width.
    last_whole = int(np.clip(hem - 0.02 * frame.height, 0, len(edge) - 1))
    edge = np.where(rows > last_whole, edge[last_whole], edge)
    edge = np.where(rows < armpits.row, np.interp(rows, [tip[1], armpits.row], [tip[0], armpits.offset]), edge)
    edge = np.where(rows < tip[1], tip[0], edge)
    return np.asarray(ndimage.gaussian_filter1d(ndimage.median_filter(edge, 9), 0.008 * frame.height))


def _past_touching_sleeve(
    edge: NDArray[np.float64], armpits: Armpits, margin: NDArray[np.float64], hem: int
) -> NDArray[np.float64]:
    """The torso's edge, straight from the armpit to where the gap opens, where the sleeve touches the torso above it.

    Args:
        edge: ``(h,)`` how far the run of cloth around the axis reaches: where they touch, over the sleeve.
        armpits: Where the sleeves begin.
        margin: ``(h,)`` by how much the torso grows wider than at the armpit at most.
        hem: Row of the hem.
    """
    first = int(armpits.row) + 1
    apart = np.flatnonzero(edge[first:hem] <= (armpits.offset + margin)[first:hem])
    touching = int(apart[0]) if len(apart) else 0
    if touching == 0:
        return edge
    opens = min(first + touching + round(BELOW_TOUCH * (hem - armpits.row)), hem)
    straight = np.linspace(armpits.offset, edge[opens], opens - first + 1)
    return np.concatenate([edge[:first], np.minimum(edge[first : opens + 1], straight), edge[opens + 1 :]])


def _beside_resting(armpits: Armpits, frame: Frame, height: int) -> NDArray[np.float64]:
    """``(h,)`` how far from the axis the torso is in view beside resting sleeves, out of their shadow."""
    below = np.clip((np.arange(height) - armpits.row) / (SHADOW_FROM * frame.height), 0, 1)
    return np.asarray(armpits.offset - SHADOW * frame.width * below)


def _within(edges: NDArray[np.float64], axis: float, shape: tuple[int, ...]) -> BoolMask:
    """``(h, w)`` what lies between the edges of both sides, ``(2, h)``."""
    x = np.arange(shape[1])[None] - axis
    return np.asarray((x >= -edges[0][:, None]) & (x <= edges[1][:, None]))


@measuring
def find_upper_landmarks(cloth: Cloth) -> UpperLandmarks:
    """Measure a garment for the upper body.

    Raises:
        EngineError: ``garment_not_recognised`` when the silhouette is not that of such a garment.
    """
    mask = cloth.alpha > 0.5
    if not mask.any():
        raise EngineError("garment_not_recognised", "The picture holds no garment.")
    axis, symmetry = mirror_axis(mask)
    if symmetry < (LEAST_SYMMETRY_WORN if cloth.worn else LEAST_SYMMETRY):
        raise EngineError("garment_not_recognised", "The two sides differ too much.", advice=HOW_TO_BE_LAID)
    reach = _central_runs(mask, axis)
    frame = _measure_frame(mask, reach)
    halves = half_masks(mask, axis)
    armpits = find_armpits(cloth, halves, axis, symmetry, frame)
    if armpits.sleeves is Sleeves.RESTING:
        frame = Frame(frame.top, frame.height, 2 * armpits.offset)
    shoulders = find_shoulders(halves, armpits, frame)
    wide = np.nan_to_num(reach.sum(axis=0)) > 0.6 * frame.width
    hem = float(np.flatnonzero(wide)[-1]) if wide.any() else float(frame.top + frame.height)
    edges = np.stack(
        [_torso_edge(halves[k], reach[k], armpits=armpits, tip=shoulders.tip, hem=hem, frame=frame) for k in range(2)]
    )

    parts, sleeves = _find_sleeves(mask, axis, edges, armpits=armpits, shoulders=shoulders, frame=frame)
    back = _find_back(cloth, axis, shoulders, frame)
    torso = mask & ~parts.any(axis=0)
    if armpits.sleeves is Sleeves.RESTING:
        edges = np.minimum(edges, _beside_resting(armpits, frame, mask.shape[0]))
        torso &= _within(edges, axis, mask.shape)
    return UpperLandmarks(axis, symmetry, frame, armpits, shoulders, hem, edges, sleeves, torso, parts, back)


def _find_sleeves(
    mask: BoolMask,
    axis: float,
    edges: NDArray[np.float64],
    *,
    armpits: Armpits,
    shoulders: Shoulders,
    frame: Frame,
) -> tuple[BoolMask, tuple[Sleeve, Sleeve] | None]:
    """Cloth beside the torso, ``(2, h, w)``, and its edges; nothing of both for a sleeveless garment."""
    nothing = np.zeros((2, *mask.shape), dtype=bool)
    if armpits.sleeves is Sleeves.NONE:
        return nothing, None
    x = np.arange(mask.shape[1])[None] - axis
    below_tip = np.arange(mask.shape[0])[:, None] > shoulders.tip[1] - 0.04 * frame.height
    beside = [mask & (side * x > edges[k][:, None] + 1) & below_tip for k, side in enumerate(SIDES)]
    parts = np.stack([largest(part) for part in beside])
    traced = []
    for part, side in zip(parts, SIDES, strict=True):
        tip = np.array([axis + side * shoulders.tip[0], shoulders.tip[1]])
        armpit = np.array([axis + side * armpits.offset, armpits.row])
        traced.append(trace_sleeve(part, tip, armpit, side))
    sleeves = matched_pair(traced[0], traced[1], SHORTEST_SLEEVE * frame.width)
    return (nothing, None) if sleeves is None else (parts, sleeves)


def _find_back(cloth: Cloth, axis: float, shoulders: Shoulders, frame: Frame) -> BoolMask:
    """The inside of the back, above the front neckline or between the leaves of a collar."""
    if cloth.worn:
        return np.zeros(cloth.alpha.shape, dtype=bool)
    rise = float(shoulders.neck_foot[1] - shoulders.neck_top[1])
    collar = rise if rise >= LEAST_COLLAR * frame.height and not shoulders.hood else 0.0
    # Each side as measured: a garment that hangs a little askew would put symmetric arcs beside the neckline.
    left, right = shoulders.neck_sides
    if np.abs(left - right).max() > 0.15 * frame.width:
        left = right = shoulders.neck_top
    origin = np.array([axis, 0.0])
    return inner_back(cloth, origin + left * (-1, 1), origin + right, frame.width, collar=collar, hood=shoulders.hood)
