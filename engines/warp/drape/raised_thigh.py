"""Thighs raised sideways, as of somebody who sits: the edges of the cloth over and under them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.body.standing import GROIN, raised_aside
from engines.warp.pieces import Reals

ROUND_KNEE = 0.14
"""Share of the leg below the bend over which the width of a raised knee goes over into that of the shin."""

STRAIGHT_THIGH = 0.7
"""Share of the thigh before the bend of the knee."""


def thick_to_the_knee(body: BodyModel, side: int, outer: Reals) -> NDArray[np.float32]:
    """Distance from a leg's line to its outer edge at its samples; that of a raised thigh runs on over the knee.

    A hand lies there, or the photo shows the knee from its narrow side; cloth falls over the knee-cap and not past it.

    Args:
        body: The body.
        side: Side of the picture.
        outer: ``(n,)`` as measured, pixels.
    """
    leg, raised = body.legs[side], raised_aside(body, side)
    thigh = (leg.shares >= GROIN) & (leg.shares <= leg.bend)
    if raised == 0.0 or not thigh.any():
        return np.asarray(outer, np.float32)
    onwards = np.maximum.accumulate(np.where(thigh, outer, 0.0))
    kept = np.where(leg.shares < GROIN, 0.0, ease((leg.bend + ROUND_KNEE - leg.shares) / ROUND_KNEE))
    thick = outer + np.maximum(onwards - outer, 0.0) * kept
    return np.asarray(outer * (1.0 - raised) + thick * raised, np.float32)


def over_raised_thigh(body: BodyModel, side: int, outer: NDArray[np.float32], shares: Reals) -> NDArray[np.float32]:
    """The outer edge of a leg; over a thigh raised sideways it runs straight from waistband to thigh.

    Args:
        body: The body.
        side: Side of the picture.
        outer: ``(r + n, 2)`` pixels, ``r`` rows above the body's crotch first.
        shares: ``(n,)`` of the leg, of the rows below.
    """
    raised = raised_aside(body, side)
    last = min(len(outer) - len(shares) + int(np.searchsorted(shares, GROIN)), len(outer) - 1)
    straight = outer.copy()
    straight[: last + 1] = np.linspace(outer[0], outer[last], last + 1)
    return np.asarray(outer * (1.0 - raised) + straight * raised, np.float32)


def under_raised_thigh(body: BodyModel, side: int, inner: NDArray[np.float32], shares: Reals) -> NDArray[np.float32]:
    """The inner edge of a leg; under a thigh raised sideways its rows lie evenly down to the knee.

    They turn there by a right angle, and would do so within a few rows that are drawn out long.

    Args:
        body: The body.
        side: Side of the picture.
        inner: ``(n, 2)`` pixels, from the body's crotch down.
        shares: ``(n,)`` of the leg.
    """
    raised = raised_aside(body, side)
    # Shorts end before the knee.
    knee = min(int(np.searchsorted(shares, STRAIGHT_THIGH * body.legs[side].bend)), len(shares) - 1)
    if raised == 0.0 or knee < 3:
        return inner
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(inner[: knee + 1], axis=0), axis=1))])
    asked = way[-1] * (shares[: knee + 1] - shares[0]) / max(float(shares[knee] - shares[0]), 1e-3)
    even = inner.copy()
    even[: knee + 1] = np.stack([np.interp(asked, way, inner[: knee + 1, k]) for k in range(2)], axis=1)
    return np.asarray(inner * (1.0 - raised) + even * raised, np.float32)
