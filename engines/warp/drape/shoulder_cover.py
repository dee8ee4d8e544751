"""The outer edge of a sleeve where it runs over the shoulder: no skin shows above it, and no hollow breaks it."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from engines.base import Label
from engines.garment.curves import Polyline, lengths_along, smoothed
from engines.labels import labelled_as
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import reach
from engines.warp.drape.taut import tautened

MOST_PUSH = 0.12
"""Farthest that the outer edge is moved to cover bare skin, in shoulder widths."""

SHOULDER_ROUND = 0.105
"""Radius of a bare shoulder around its joint, in shoulder widths; where it shows, the silhouette says it better."""

ROUNDING_SLOPE = 0.7
"""Pixels by which the round of the shoulder rises at most for one pixel away from the seam."""

CLOTH_ON_TOP = 0.012
"""How far a sleeve stands off the shoulder, in shoulder widths: cloth does not follow its corners."""

ROUNDED = 0.05
"""Length over which the edge is rounded there, in shoulder widths along it (standard deviation)."""

TAUT_UNTIL = 0.55
"""How far from the seam an outer edge has no hollows, in shoulder widths along the edge."""


def over_shoulder(upper: Polyline, body: BodyModel, side: int, slope: Polyline) -> Polyline:
    """Lay the outer edge of a sleeve over the shoulder.

    Args:
        upper: ``(n, 2)`` from the shoulder tip to the cuff, straight from the tip to the arm.
        body: The body.
        side: Picture side.
        slope: ``(2,)`` unit vector along the shoulder seam, outwards, where it ends at the tip.
    """
    round_ = _over_hidden_round(_over_bare_skin(upper, body, side), body, side)
    # What rises over the line of the shoulder would be a puffed sleeve head.
    covering = _over_bare_skin(_below_line(round_, slope * side), body, side)
    return _rounded(_without_hollows(covering, body, side), body)


def _below_line(upper: Polyline, rightwards: Polyline) -> Polyline:
    """The edge pressed down to the straight line through its first point, which runs to the right."""
    above = np.array([rightwards[1], -rightwards[0]])
    return np.asarray(upper - np.maximum((upper - upper[0]) @ above, 0.0)[:, None] * above)


def _rounded(upper: Polyline, body: BodyModel) -> Polyline:
    """The edge without corners; its ends stay."""
    step = lengths_along(upper)[-1] / (len(upper) - 1)
    return smoothed(upper, ROUNDED * body.shoulder_width / max(step, 1.0))


def _without_hollows(upper: Polyline, body: BodyModel, side: int) -> Polyline:
    """Bridge the hollows near the shoulder, where cloth lies taut; below, it follows the arm."""
    count = int(np.searchsorted(lengths_along(upper), TAUT_UNTIL * body.shoulder_width))
    return np.concatenate([tautened(upper[:count], side), upper[count:]])


def _over_bare_skin(upper: Polyline, body: BodyModel, side: int) -> Polyline:
    """Push the edge out until it covers the bare shoulder; a straight line from the tip would cut it off."""
    skin = labelled_as(body.labels, (Label.ARMS, Label.TORSO_SKIN)) & (body.matte > 0.5)
    along = np.gradient(upper, axis=0)
    outwards = np.stack([along[:, 1], -along[:, 0]], axis=1)
    outwards /= np.maximum(np.linalg.norm(outwards, axis=1, keepdims=True), 1e-6)
    if float((outwards @ body.skeleton.right).mean()) * side < 0:
        outwards = -outwards
    unit = body.shoulder_width
    bare = reach(skin, upper.astype(np.float32), outwards.astype(np.float32), MOST_PUSH * unit).astype(np.float64)
    bare = np.where(np.isfinite(bare) & (bare < MOST_PUSH * unit), bare, 0.0)
    push = ndimage.gaussian_filter1d(ndimage.maximum_filter1d(bare, 3), 1.0) + CLOTH_ON_TOP * unit * (bare > 0)
    return np.asarray(upper + outwards * push[:, None])


def _over_hidden_round(upper: Polyline, body: BodyModel, side: int) -> Polyline:
    """Push the edge out to the round of the shoulder: under an old sleeve it is not seen, but it is there."""
    unit = body.shoulder_width
    joint = body.skeleton.shoulder[side].astype(np.float64)
    from_joint = upper - joint
    distance = np.maximum(np.linalg.norm(from_joint, axis=1, keepdims=True), 1.0)
    solid = (body.matte > 0.5) & ~labelled_as(body.labels, (Label.HAIR, Label.FACE))
    starts = np.broadcast_to(joint, upper.shape)
    silhouette = reach(solid, starts, from_joint / distance, SHOULDER_ROUND * unit).astype(np.float64)[:, None]
    # A bare shoulder shows its round; it is never farther out than the silhouette.
    radius = np.nan_to_num(silhouette, nan=0.0) + CLOTH_ON_TOP * unit
    outer_side = from_joint @ (body.skeleton.right * side - body.skeleton.down) > 0
    inside = (distance < radius) & outer_side[:, None]
    rounding = np.where(inside, from_joint * (radius / distance - 1.0), 0.0)
    # The seam stays where the torso has it: a tip that lies at the joint would leap away from the points beside it.
    along = lengths_along(upper)[:, None]
    length = np.maximum(np.linalg.norm(rounding, axis=1, keepdims=True), 1.0)
    rounding *= np.minimum(1.0, ROUNDING_SLOPE * along / length)
    return np.asarray(upper + ndimage.gaussian_filter1d(rounding, 1.0, axis=0, mode="nearest"))
