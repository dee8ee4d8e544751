"""How wide the torso is where arms hang beside it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import ease, reach
from engines.warp.pieces import Reals

WORN_ON_TORSO = (Label.UPPER, Label.FULL, Label.LOWER, Label.TORSO_SKIN)

FROM_HEIGHT = 0.28
"""Above, in torso lengths below the shoulders, what ends at a bare arm may be the old garment's sleeve."""

MOST_ADDED, MOST = 0.08, 0.60
"""Farthest that the torso is widened, and its largest half width then, in shoulder widths."""

BESIDE_PIXELS = 3
"""How far beyond the torso's edge the arm has to begin."""

UNDER_ARM = 0.25
"""Share of the arm's inner half width that the torso may reach behind a hanging arm."""

LEAST = 0.36
"""Smallest half width this may leave, in shoulder widths."""


CROSSING = 0.8
"""A wrist nearer to the axis than this share of the torso's half width lies before or behind the torso."""

AROUND_FOREARM = 0.11
"""How far above and below a crossing forearm it still hides the torso's edge, in torso lengths."""

TORSO_BARE_MOST = ((0.10, 0.46), (0.35, 0.44), (0.66, 0.375), (0.88, 0.405), (1.10, 0.46))
"""Largest half width of a bare torso at heights, in shoulder widths: what is measured may be a loose top's."""

ASIDE, MOST_ASIDE = (0.04, 0.08), 0.09
"""From which to which width that one side of a torso lacks it lies aside of its axis, and how much wider it may be on
the other side for that, in shoulder widths."""


def torso_half_width(body: BodyModel, heights: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """Half width of the torso in pixels at heights, ending at the inner edge of an arm that hangs beside it.

    The silhouette alone cannot tell a sleeve from the torso behind it. Where a forearm crosses the torso its edge is
    hidden, and goes on from what is seen above to what is seen below.
    """
    unit, bone, arm = body.shoulder_width, body.skeleton, body.arms[side]
    measured = body.half_width(heights.astype(np.float32), side).astype(np.float64)
    edge = arm.line - arm.outward * (arm.inner * (1 - UNDER_ARM))[:, None]
    drops = (edge - bone.shoulders) @ bone.down / body.torso_length
    offsets = (edge - bone.shoulders) @ bone.right * side
    hanging = np.ones(len(drops), bool)
    if crosses(body, side):
        forearm = (arm.line[arm.shares >= arm.bend] - bone.shoulders) @ bone.down / body.torso_length
        hidden = (heights > forearm.min() - AROUND_FOREARM) & (heights < forearm.max() + AROUND_FOREARM)
        if hidden.any() and not hidden.all():
            measured = np.maximum(measured, np.interp(heights, heights[~hidden], measured[~hidden]))
        hanging = arm.shares < arm.bend
    order = np.argsort(drops[hanging])
    beside = np.interp(heights, drops[hanging][order], offsets[hanging][order], left=np.nan, right=np.nan)
    limit = np.where(np.isfinite(beside) & (beside > 0.30 * unit), np.maximum(beside, LEAST * unit), np.inf)
    return np.minimum(measured, limit)


def crosses(body: BodyModel, side: int) -> bool:
    """Whether a forearm lies before or behind the torso."""
    bone = body.skeleton
    wrist = body.arms[side].points(np.ones(1, np.float32))[0] - bone.shoulders
    height = float(wrist @ bone.down) / body.torso_length
    # At the wrist's own height the forearm may have been taken for the torso's edge.
    half = float(np.median(body.half_width(np.linspace(0.3, 1.0, 15), side)))
    return height < body.crotch_height and float(wrist @ bone.right) * side < CROSSING * half


def seen_half_width(body: BodyModel, heights: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """Half width of the torso in pixels at heights; where it ends at a bare arm that is seen, as far as there.

    A bare arm behind the torso or the hip has no inner edge of its own, and its usual width would cut into the torso
    in front of it.

    Args:
        body: The body.
        heights: ``(n,)`` torso lengths below the shoulders, rising.
        side: Picture side.
    """
    unit, bone = body.shoulder_width, body.skeleton
    usual = torso_half_width(body, heights, side)
    centres = body.point(heights.astype(np.float32))
    worn = labelled_as(body.labels, WORN_ON_TORSO)
    seen = reach(worn, centres, bone.right * side, (MOST + MOST_ADDED) * unit).astype(np.float64)
    beside = centres + bone.right * side * (np.nan_to_num(seen) + BESIDE_PIXELS)[:, None]
    label, _ = values_at(body.labels, beside)
    at_arm = np.isfinite(seen) & labelled_as(label, (Label.ARMS, Label.HANDS)) & (heights > FROM_HEIGHT)
    added = np.where(at_arm, np.minimum(seen, MOST * unit) - usual, 0.0)
    added = np.clip(np.nan_to_num(added), 0.0, MOST_ADDED * unit)
    # Single rows are mistakes of the labels; a torso's edge has no steps.
    window = max(3, round(0.06 * len(heights)))
    steady = ndimage.gaussian_filter1d(ndimage.median_filter(added, window, mode="nearest"), 0.3 * window)
    return np.asarray(usual + steady)


def bare_torso_limit(heights: Reals) -> NDArray[np.float32]:
    """Largest half width of a bare torso at heights, in shoulder widths."""
    knots, values = zip(*TORSO_BARE_MOST, strict=True)
    return np.asarray(np.interp(heights, knots, values), dtype=np.float32)


def bare_half_width(body: BodyModel, heights: NDArray[np.float32], side: int) -> NDArray[np.float32]:
    """Half width of a bare torso below the armpits at heights ``(n,)``, on one side, in pixels."""
    seen = {each: body.half_width(heights, each) * 0.97 for each in SIDES}
    most = {each: bare_torso_limit(heights) * body.shoulder_width for each in SIDES}
    # A torso that leans lies aside of its axis: what one side has not, the other may have.
    lacks = (most[-side] - seen[-side]) / np.float32(body.shoulder_width)
    aside = np.clip(lacks, 0.0, MOST_ASIDE) * ease((lacks - ASIDE[0]) / (ASIDE[1] - ASIDE[0]))
    return np.asarray(np.minimum(seen[side], most[side] + aside * np.float32(body.shoulder_width)), np.float32)
