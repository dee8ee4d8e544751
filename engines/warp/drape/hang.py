"""How cloth hangs: how much wider and longer its size makes it, and where it falls from the waist down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Category, EngineError
from engines.sizes import Fit
from engines.warp.body.limbs import GRAVITY, LEG_BARE
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.silhouette import towards
from engines.warp.ribbon import Reals

HANG_AXIS, HANG_GRAVITY, HANG_KNEES = 0.25, 0.55, 0.35
"""Shares of the body's axis, of gravity and of the way to the knees in the direction in which cloth hangs."""

EXCESS_KEPT = 0.85
"""Share of the width beyond the hips that a flat garment keeps when it hangs in folds."""

WIDEST_OVER_HIPS, WIDEST_OVER_CLOTH = 1.12, 1.20
"""A hanging row is no wider than the larger of these: times the hips, times its own flat width."""

EASE_OVER_LEGS = 1.03
"""Cloth clears the legs by this factor."""

SKIN_LEG = 1.05
"""Width of a leg over that of an average one at most; what is wider in the photo are its trousers."""

GIRTH_PER_SIZE = 0.06
"""Growth of chest or waist from one size to the next; EN 13402-3 has 6 to 8 cm on some 100."""

TOP_LENGTH_PER_SIZE = 0.025
"""Growth of a top's length from one size to the next: about 2 cm of 72."""

LEG_LENGTH_PER_SIZE, LEG_LENGTH_PER_TWO_INCHES = 0.012, 0.06
"""Growth of trousers, skirts and dresses along the body from one size to the next: about 1 cm of 80, for people grow
in girth rather than in height; and what two inches are of an inseam of 80 cm, where a size names it."""

HELD_BY_WAISTBAND = 0.4
"""Share of what a garment is too wide or too narrow that shows at its waistband; a belt or a seat takes up the rest."""

TIGHTEST_EASE = 1.005
"""Width of cloth that is too small over that of the body."""

TIGHTEST, LOOSEST = 0.88, 1.25
"""Least and largest factor on girths; beyond them a picture shows no difference."""

SHORTEST, LONGEST = 0.85, 1.15
"""The same for lengths."""


@dataclass(frozen=True)
class Sizing:
    """Factors on the measures that fit the body.

    Attributes:
        girth: On widths; below 1 for a garment that is too small.
        length: On lengths.
    """

    girth: float = 1.0
    length: float = 1.0


FITTING = Sizing()


def sizing_of(fit: Fit | None, category: Category) -> Sizing:
    """Factors for the sizes of garment and customer; a leg length counts if both sizes name one, but not for tops."""
    if fit is None:
        return FITTING
    length = 1.0 + TOP_LENGTH_PER_SIZE * fit.tightness
    if category is not Category.UPPER_BODY:
        length = 1.0 + LEG_LENGTH_PER_SIZE * fit.tightness + LEG_LENGTH_PER_TWO_INCHES * fit.length
    girth = 1.0 + GIRTH_PER_SIZE * fit.tightness
    return Sizing(float(np.clip(girth, TIGHTEST, LOOSEST)), float(np.clip(length, SHORTEST, LONGEST)))


def sized(half: Reals, girth: float, inside: Reals, down: Reals | float) -> NDArray[np.float64]:
    """Half widths of hanging cloth that is wider or narrower than what fits.

    Args:
        half: ``(n,)`` of cloth that fits, pixels.
        girth: By what it is wider.
        inside: ``(n,)`` of the body, which no cloth is narrower than.
        down: ``(n,)`` or for all rows: 0 at the waistband, 1 where the cloth hangs as it likes.
    """
    factor = 1.0 + (girth - 1.0) * (HELD_BY_WAISTBAND + (1.0 - HELD_BY_WAISTBAND) * np.asarray(down))
    return np.asarray(np.maximum(half * factor, np.minimum(half, TIGHTEST_EASE * inside)), np.float64)


@dataclass(frozen=True)
class HangingRows:
    """Rows of hanging cloth at given distances below its start.

    Attributes:
        centres: ``(n, 2)`` pixels.
        extents: Per side ``(n,)`` distance from the centre to the edge of body or legs, as wide as they are dressed,
            pixels.
        legs: Per side ``(n,)`` the same to the edge of the legs alone, without their trousers; 0 above the hips.
        distances: ``(n,)`` pixels below the start.
        hips_at: Distance at which the hips are, pixels.
    """

    centres: NDArray[np.float32]
    extents: dict[int, NDArray[np.float32]]
    legs: dict[int, NDArray[np.float32]]
    distances: NDArray[np.float32]
    hips_at: float

    def half_width(self, natural: Reals, hip: float, side: int) -> NDArray[np.float64]:
        """Half width of hanging cloth: its own, gathered beyond the hips, at least that of what is underneath.

        Old trousers may be wider than the cloth; legs that are set apart never come out of its sides.

        Args:
            natural: ``(n,)`` half width of the flat cloth at the scale of the body, pixels.
            hip: Half width of the hips, pixels.
            side: Picture side.
        """
        gathered = np.where(natural > hip, hip + (natural - hip) * EXCESS_KEPT, natural)
        most = np.maximum(gathered, np.maximum(hip * WIDEST_OVER_HIPS, gathered * WIDEST_OVER_CLOTH))
        roomy = np.minimum(np.maximum(gathered, self.extents[side] * EASE_OVER_LEGS), most)
        return np.asarray(np.maximum(roomy, self.legs[side] * EASE_OVER_LEGS), np.float64)


def hanging_rows(body: BodyModel, start: float, distances: Reals) -> HangingRows:
    """Follow the body's axis to the hips and hang from there.

    Args:
        body: The body.
        start: Height where the cloth begins, in torso lengths.
        distances: ``(n,)`` ascending, pixels below that height.
    """
    bone = body.skeleton
    hips_at = max((1.0 - start) * body.torso_length, 1.0)
    knees = (bone.knee[-1] + bone.knee[1]) / 2.0
    way = towards(HANG_AXIS * bone.down + HANG_GRAVITY * GRAVITY + HANG_KNEES * towards(knees - bone.hips))
    heights = start + np.minimum(distances, hips_at) / body.torso_length
    centres = body.point(heights) + np.maximum(distances - hips_at, 0.0)[:, None] * way
    # Between hips and crotch the torso's measured width hands over to the legs' edges.
    handover = np.clip((distances - hips_at) / (0.2 * body.torso_length), 0.0, 1.0)
    extents, bare = {}, {}
    for side in SIDES:
        torso = body.half_width(start + distances / body.torso_length, side)
        legs = np.maximum(_leg_reach(body, centres, side, np.inf), 0.12 * body.shoulder_width)
        measured = torso * (1.0 - handover) + legs * handover
        extents[side] = ndimage.gaussian_filter1d(measured, 1.5, mode="nearest").astype(np.float32)
        bare[side] = (_leg_reach(body, centres, side, SKIN_LEG) * handover).astype(np.float32)
    return HangingRows(centres.astype(np.float32), extents, bare, np.asarray(distances, np.float32), hips_at)


def falling(half: Reals, natural: Reals) -> NDArray[np.float64]:
    """Half widths of cloth that falls from its widest place, however narrow the legs are below it.

    Args:
        half: ``(n,)`` from the waist down, pixels.
        natural: ``(n,)`` of the flat cloth, pixels; where that becomes narrower the hanging cloth may as well.

    Returns:
        ``(n,)`` nowhere narrower than given.
    """
    tapered = np.concatenate([[0.0], np.cumsum(np.minimum(np.diff(natural), 0.0))])
    return np.asarray(np.maximum.accumulate(half - tapered) + tapered, np.float64)


def drop_to(body: BodyModel, start: float, joint: str) -> float:
    """How far the lower of two joints, ``knee`` or ``ankle``, lies below a height of the axis, in pixels."""
    points = body.skeleton.ankle if joint == "ankle" else body.skeleton.knee
    return float(max((points[side] - body.point(start)) @ GRAVITY for side in SIDES))


def _leg_reach(body: BodyModel, centres: NDArray[np.float32], side: int, most: float) -> NDArray[np.float64]:
    """How far the outermost leg edge on a side lies from the centre in each row; legs ``most`` times the usual."""
    furthest = np.full(len(centres), -np.inf)
    for leg in body.legs.values():
        widest = most * leg.usual(LEG_BARE, body.shoulder_width)
        for way, half in ((1, leg.outer), (-1, leg.inner)):
            edge = leg.line + way * leg.outward * np.minimum(half, widest)[:, None]
            order = np.argsort(edge[:, 1])
            x = np.interp(centres[:, 1], edge[order, 1], edge[order, 0])
            furthest = np.maximum(furthest, (x - centres[:, 0]) * side)
    return furthest


def refuse_lap(body: BodyModel) -> None:
    """Refuse to hang a skirt on somebody who sits.

    Raises:
        EngineError: ``pose_not_usable``.
    """
    if body.skeleton.seated:
        raise EngineError(
            "pose_not_usable", advice="For a dress or a skirt, use a photo of the person standing upright."
        )
