"""Where hips and thighs end sideways, seen past the arms and hands that lie on them.

An arm that crosses the edge of the hips says nothing about where they end; what shows above and below it does.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.limbs import LEG_MOST
from engines.warp.body.model import BodyModel
from engines.warp.body.sampling import nearest_pixels
from engines.warp.pieces import Reals

SEARCHED = 0.75
"""How far from axis or bone an edge is looked for, in shoulder widths."""

UNDER_SLEEVE = 1.1
"""Cloth of a top so close to an arm's bone, in half arm widths, is a sleeve."""

SURE = 2
"""Pixels of body that have to show beyond an arm for its edge to be believed."""

LEAST_SEEN = 0.15
"""Share of the edge that has to be seen for the rest to be bridged."""

STEADIED = 1.5
"""Samples over which the bridged edge is smoothed."""

HIPS = np.linspace(0.60, 1.25, 45, dtype=np.float32)
"""Heights at which the hips are looked at; what is asked for lies in between."""

LIKE_OTHER_HALF = 1.2
"""What shows beyond an arm is believed up to so many times the other half's width."""

WAIST_ROWS = np.linspace(-0.04, 0.04, 5, dtype=np.float32)
"""Around this height the bare edge of a waist is read, in torso lengths."""

THIGH_UNTIL = 0.55
"""Share of a leg down to which a hand may hide its edge."""


def hip_half_width(body: BodyModel, heights: Reals, side: int) -> NDArray[np.float32]:
    """Half width of the body in pixels between waist and crotch, behind whatever arm lies there.

    Args:
        body: The body.
        heights: ``(n,)`` in torso lengths.
        side: Side of the picture.
    """
    lowest = min(float(HIPS[-1]), body.crotch_height)
    looked_at = HIPS[lowest >= HIPS]
    bone = body.skeleton
    seen = _past_arms(body, body.point(looked_at), bone.right * side)
    bridged = _bridged(seen.edge, seen.least)
    known = body.half_width(looked_at, side)
    # Where no arm lies on the hips the profile of the whole torso is the better measured one.
    if bridged is not None:
        # Past an arm a top may be an open jacket.
        most = np.maximum(known, LIKE_OTHER_HALF * body.half_width(looked_at, -side))
        known = np.where(seen.crossed & np.isfinite(bridged), np.clip(bridged, known, most), known)
    steady = ndimage.gaussian_filter1d(known, STEADIED, mode="nearest")
    return np.where(heights < HIPS[0], body.half_width(heights, side), np.interp(heights, looked_at, steady)).astype(
        np.float32
    )


def half_width_as_seen(body: BodyModel, height: float, side: int) -> float:
    """How far the body is seen to reach at a height in pixels, held to no anatomy; infinite where an arm hides it."""
    edge = _past_arms(body, body.point(height + WAIST_ROWS), body.skeleton.right * side).edge
    return float(np.median(edge[np.isfinite(edge)])) if np.isfinite(edge).any() else np.inf


def thigh_half_width(body: BodyModel, side: int) -> NDArray[np.float32]:
    """Distance from a leg's centre line to its outer edge at its samples, behind whatever hand lies there."""
    leg = body.legs[side]
    seen = _past_arms(body, leg.line, leg.outward)
    hidden = seen.crossed & (leg.shares < THIGH_UNTIL)
    bridged = _bridged(np.where(hidden, seen.edge, leg.outer), seen.least)
    if bridged is None:
        return leg.outer
    most = np.interp(leg.shares, [0.0, leg.bend, 1.0], LEG_MOST) * body.shoulder_width
    return np.where(hidden, np.fmax(leg.outer, np.minimum(bridged, most)), leg.outer).astype(np.float32)


@dataclass(frozen=True)
class _Seen:
    """What walks outwards found.

    Attributes:
        edge: ``(n,)`` distance to the edge of the body, NaN where an arm lies over it or the picture ends.
        least: ``(n,)`` distance up to which the body is seen at least, NaN where the picture ends.
        crossed: ``(n,)`` whether an arm was met on the way.
    """

    edge: NDArray[np.float32]
    least: NDArray[np.float32]
    crossed: NDArray[np.bool_]


def _past_arms(body: BodyModel, starts: NDArray[np.float32], way: NDArray[np.float32]) -> _Seen:
    """Walk outwards until the person ends.

    Args:
        body: The body.
        starts: ``(n, 2)`` pixels.
        way: ``(2,)`` or ``(n, 2)`` unit vectors.
    """
    steps = np.arange(int(SEARCHED * body.shoulder_width), dtype=np.float32)
    points = starts[:, None] + np.broadcast_to(way, starts.shape)[:, None] * steps[:, None]
    rows, columns, framed = nearest_pixels(points, body.shape)
    labels = body.labels[rows, columns]
    arm = labelled_as(labels, (Label.ARMS, Label.HANDS))
    arm |= (labels == Label.UPPER) & (body.arm_distance[rows, columns] < UNDER_SLEEVE)
    inside = np.logical_and.accumulate((body.matte[rows, columns] > 0.5) & framed, axis=1)
    crossed = np.logical_or.accumulate(inside & arm, axis=1)
    shown = inside & ~arm
    last = np.where(shown.any(axis=1), shown.shape[1] - shown[:, ::-1].argmax(axis=1), 0)
    beyond = inside.sum(axis=1) - last
    out_of_frame = ~np.take_along_axis(framed, np.minimum(inside.sum(axis=1), len(steps) - 1)[:, None], axis=1)[:, 0]
    edge = np.where((beyond <= SURE) & ~out_of_frame, last, np.nan).astype(np.float32)
    least = np.where(out_of_frame, np.nan, last).astype(np.float32)
    return _Seen(edge, least, crossed[:, -1])


def _bridged(edge: Reals, least: Reals) -> NDArray[np.float32] | None:
    """An edge with its gaps bridged straight, nowhere inside what was seen; None where too little was.

    Beyond its ends it goes on no farther than it was seen: NaN where nothing else is seen. Hips that show only below a
    hand are no measure of the waist.
    """
    known = edge > 0  # neither NaN nor the gap between the legs
    seen = int(known.sum())
    if seen < LEAST_SEEN * len(edge):
        return None
    index = np.arange(len(edge))
    straight = np.interp(index, index[known], edge[known])
    first, last = index[known][[0, -1]]
    straight[(index < first - seen) | (index > last + seen)] = np.nan
    return np.fmax(straight, least).astype(np.float32)
