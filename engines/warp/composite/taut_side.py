"""The side of a garment beside a bare arm: one line from the cuff to where the arm lies before it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.channels import on_channels
from engines.garment.regions import window_of
from engines.warp.body.bare_limbs import bare_edges
from engines.warp.body.limbs import Limb, arm_half_width
from engines.warp.body.model import BodyModel
from engines.warp.body.sampling import values_at
from engines.warp.body.seen_arms import SeenArm
from engines.warp.composite.arm_outline import between
from engines.warp.drape.taut import bridged
from engines.warp.pieces import Piece

SEEN = 0.5
"""Cover from which a pixel shows the garment or its sleeve."""

REACH, STEP = 1.6, 0.5
"""How far to either side of an arm's centre line the garment's edge is looked for, in half arm widths; and distance of
the points that are looked at, pixels."""

ABOVE_ELBOW, BELOW_ELBOW = 0.06, 0.10
"""Shares of the arm above and below its elbow between which it may hold the cloth back: higher up cloth lies over it,
further down the forearm leads aside."""

LEAST_ROWS = 6
"""Samples of an arm beside which an edge has to be seen."""

LEAST_OUT = 0.01
"""What stands out by less than this is left, in shoulder widths."""

UNDER, WITHIN = 3.0, 0.75
"""Pixels by which what is taken off begins outside the garment's edge, and by which it ends before the taut line:
where that runs along the edge nothing changes."""


@dataclass(frozen=True)
class TautSides:
    """A garment drawn taut beside bare arms.

    Attributes:
        torso: Without what stood out.
        uncovered: ``(h, w)`` cover of what that was.
        seen: The arms, by picture side, as far in as they lie before it.
    """

    torso: Piece
    uncovered: NDArray[np.float32]
    seen: dict[int, SeenArm]


def drawn_taut(
    torso: Piece, body: BodyModel, seen: dict[int, SeenArm], sleeves: dict[int, NDArray[np.float32]]
) -> TautSides:
    """Take off what of a garment's torso stands out over an upper arm that lies before it at the elbow.

    Cloth hangs straight from the cuff to where an arm holds it back; it does not come out and go back in a step.

    Args:
        torso: Of the new garment.
        body: The body.
        seen: What is seen of the arms, by picture side.
        sleeves: Covers of the new sleeves that end above the elbow, by picture side.
    """
    cut, mended = np.zeros(body.shape, np.float32), dict(seen)
    for side, sleeve in sleeves.items():
        found = _standing_out(torso.alpha, body, side, seen[side], sleeve)
        if found is not None:
            cut = np.maximum(cut, found[0])
            mended[side] = replace(seen[side], inner=np.minimum(seen[side].inner, found[1]))
    window = window_of(cut > 0)
    if not cut[window].size:
        return TautSides(torso, cut, mended)
    colour, alpha, left = torso.colour.copy(), torso.alpha.copy(), 1 - cut[window]
    cut[window] *= alpha[window]
    colour[window] *= on_channels(left)
    alpha[window] *= left
    return TautSides(replace(torso, colour=colour, alpha=alpha), cut, mended)


def _standing_out(
    cloth: NDArray[np.float32], body: BodyModel, side: int, seen: SeenArm, sleeve: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float64]] | None:
    """``(h, w)`` cover of the strip that is taken off beside one arm, and the offsets at which it ends inwards.

    These are ``(n,)`` pixels from the arm's centre line, infinite where nothing is taken off. None where nothing is.
    """
    arm = body.arms[side]
    usual = arm_half_width(arm, body.shoulder_width)
    first, over = _edge_of_cloth(arm, REACH * float(usual.max()), cloth, sleeve)
    rows = np.arange(first, int(np.searchsorted(arm.shares, arm.bend + BELOW_ELBOW)))
    rows = rows[np.isfinite(over[rows])]
    if len(rows) < LEAST_ROWS:
        return None
    _, own = bare_edges(body.labels, (Label.ARMS, Label.HANDS), arm, usual, (Label.UPPER, Label.FULL))
    most = np.maximum(own[rows], 0.0)
    at_elbow = np.isfinite(seen.inner[rows]) & (arm.shares[rows] > arm.bend - ABOVE_ELBOW)
    before = np.where(at_elbow, seen.inner[rows], -np.inf)
    edge = np.maximum(np.minimum(over[rows], most), before)
    edge = ndimage.median_filter(edge, 3, mode="nearest")
    # Down to where the arm holds the cloth back most.
    held = slice(0, int(edge.argmax()) + 1)
    rows, most, edge = rows[held], most[held], edge[held]
    taut = np.minimum(bridged(arm.shares[rows].astype(np.float64) * arm.length, edge), np.maximum(most, edge))
    if (taut - edge).max() < LEAST_OUT * body.shoulder_width:
        return None
    begins, ends, free = np.zeros(len(arm.shares)), np.zeros(len(arm.shares)), np.full(len(arm.shares), np.inf)
    begins[rows], ends[rows] = UNDER - over[rows], taut - WITHIN
    free[rows] = taut
    return between(body.shape, arm, begins, ends, np.isin(np.arange(len(begins)), rows)), free


def _edge_of_cloth(
    arm: Limb, reach: float, cloth: NDArray[np.float32], sleeve: NDArray[np.float32]
) -> tuple[int, NDArray[np.float64]]:
    """The last sample of an arm above its cuff, and the offset inwards at which the garment begins beside every one.

    Offsets are pixels from the centre line, nan where there is none.
    """
    offsets = np.arange(-reach, reach, STEP)
    points = arm.line[:, None] - arm.outward[:, None] * offsets[None, :, None]
    over, worn = (values_at(cover, points)[0] > SEEN for cover in (cloth, sleeve))
    # It begins inside of the sleeve that lies over it.
    visible = over & ~(np.cumsum(worn[:, ::-1], axis=1)[:, ::-1] > 0)
    at, there = visible.argmax(axis=1), visible.any(axis=1)
    at_sleeve = there & worn[np.arange(len(at)), np.maximum(at - 3, 0)]
    last = int(np.flatnonzero(at_sleeve)[-1]) if at_sleeve.any() else len(at)
    return last, np.where(there, offsets[at], np.nan)
