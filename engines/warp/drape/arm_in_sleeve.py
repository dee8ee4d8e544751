"""The arm that a sleeve is laid on: as it is seen where it is bare, and of its own width where cloth hides it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.limbs import Limb, arm_half_width
from engines.warp.body.model import BodyModel
from engines.warp.body.sampling import values_at
from engines.warp.body.seen_arms import SeenArm, seen_arms
from engines.warp.body.silhouette import ease

UNDER_OLD_SLEEVE = 0.92
"""Largest half width of an arm that is hidden by a sleeve in the photo, over the usual one."""

OVER_OWN = 1.25
"""The same over the half width of what is seen of the person's arms."""

HIDDEN_COVERED = 0.35
"""Share of what the body hides of an arm that its sleeve covers, which is laid on the body and not behind it."""

LEAST_SEEN = 8
"""Samples of a bare arm from which its outline says where the whole arm lies."""

WELL_BEHIND = 0.5
"""Share of an arm in front of the body below which its inner edge is hidden."""


def arm_in_sleeve(body: BodyModel, side: int) -> Limb:
    """The arm of one side with the half widths that a sleeve goes around.

    The centre line comes from the pose and may run along the arm's edge; where skin is seen its own edges count.

    Args:
        body: The body.
        side: Picture side.
    """
    seen = seen_arms(body)[side]
    arm = _without_old_sleeve(body.arms[side], body, seen)
    known = np.isfinite(seen.outer) & (arm.shares <= 1.0)
    if known.sum() < LEAST_SEEN:
        return arm
    # Where the arm is seen below an old sleeve it says how much of that sleeve is shoulder.
    arm = replace(arm, outer=np.where(arm.shares < arm.shares[known][0], body.arms[side].outer, arm.outer))
    outer, inner = _edges_of(arm, seen, known)
    return replace(arm, outer=outer, inner=inner)


def _edges_of(arm: Limb, seen: SeenArm, known: NDArray[np.bool_]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    index = np.arange(len(arm.shares))
    hidden = seen.front < WELL_BEHIND
    whole = np.where(hidden, seen.edge + HIDDEN_COVERED * (2 * seen.own_half - seen.outer - seen.edge), seen.edge)
    edges = []
    for seen_edge, usual in ((seen.outer, arm.outer), (whole, arm.inner)):
        beyond = np.interp(index, index[known], (seen_edge - usual)[known])
        # Above what is seen the arm leads over to the shoulder, which the silhouette knows.
        beyond *= ease(arm.shares / max(float(arm.shares[known][0]), 0.1))
        edges.append(ndimage.gaussian_filter1d(usual + beyond, 1.5, mode="nearest").astype(np.float32))
    return edges[0], edges[1]


def _without_old_sleeve(arm: Limb, body: BodyModel, seen: SeenArm) -> Limb:
    """The arm, no thicker than arms are where a wide old sleeve hides it, and this person's where they are seen."""
    usual = arm_half_width(arm, body.shoulder_width) * UNDER_OLD_SLEEVE
    usual = np.minimum(usual, OVER_OWN * seen.own_half)
    edges = []
    for reach_out, way in ((arm.outer, 1), (arm.inner, -1)):
        label, framed = values_at(body.labels, arm.line + way * arm.outward * (reach_out * 0.8)[:, None])
        clothed = framed & labelled_as(label, (Label.UPPER, Label.FULL))
        narrowed = np.where(clothed, np.minimum(reach_out, usual), reach_out)
        edges.append(ndimage.gaussian_filter1d(narrowed, 1.5).astype(np.float32))
    return replace(arm, outer=edges[0], inner=edges[1])
