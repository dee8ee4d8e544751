"""Colours at the edge of what is cut out of a photo: free of what lay behind it there."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.filling import carried_out
from engines.garment.regions import BoolMask, distance_from, eroded, nearest_known, window_of, windows_of
from engines.warp import skin_edges
from engines.warp.body.silhouette import ease

REACH = 2.0
"""How far colours are carried outwards, in widths of the rim."""

AVERAGED = 0.9
"""Standard deviation over which colours inside are averaged, in widths of the rim."""

ROUND = 0.4
"""Share of the shade at the edge of a round arm that goes on to its rim."""

MIXED, INSIDE = 3, 3
"""Width of the rim of a hand that may be mixed with what is behind it, and how far inside of its edge it is seen alone,
pixels."""

GIVES_WAY = 1.5
"""How much sooner than all of a pixel is what was behind a hand it is drawn anew."""

ALIKE = 6.0
"""Distance of what was behind a hand from its skin, as `skin_edges.told_by_colour` has it, from which it is told from
it; what is more alike nobody sees."""

STREAKS = 1.0
"""Size of the streaks that single pixels would draw across a rim, pixels (standard deviation)."""


def without_rim(
    picture: NDArray[np.float32], cover: NDArray[np.float32], rim: int, where: BoolMask | None = None
) -> NDArray[np.float32]:
    """The picture with the rim of a cover, and a little beyond it, in the colours found further inside.

    The outermost pixels of a hand or an arm are mixed with what it was seen before; laid over new cloth they would
    draw a pale or dark line around it. Right inside of them it is round and in the shade: the rim goes on from there
    without a step, over as much again. Everything deeper inside stays bit for bit.

    Args:
        picture: ``(h, w, 3)`` float32, 0 to 1.
        cover: ``(h, w)`` float32, 0 to 1.
        rim: Width of the rim inside the cover, pixels.
        where: ``(h, w)`` bool, the only places to change.
    """
    clean = picture.copy()
    window = window_of(cover > 0, round(REACH * rim))
    part = picture[window]
    if not part.size or not (sure := eroded(cover[window] > 0.5, rim)).any():
        return clean
    depth = cv2.distanceTransform(sure.astype(np.uint8), cv2.DIST_L2, 3)
    away = cv2.distanceTransform((~sure).astype(np.uint8), cv2.DIST_L2, 3)
    found = (away < REACH * rim) & (depth < rim)
    if where is not None:
        found &= where[window]
    edge = _of_nearest(part, sure, np.asarray(away < REACH * rim + 3 * STREAKS))[found]
    usual = carried_out(part, sure.astype(np.float32), AVERAGED * rim)[0][found]
    inner = ease(np.clip(1 - (depth[found] - 1) / rim, 0, 1))
    clean[window][found] = edge + (usual - edge) * ((1 - ROUND) * inner).astype(np.float32)[:, None]
    return clean


def without_ground(
    picture: NDArray[np.float32], skin: BoolMask, beside: BoolMask, unit: float, where: BoolMask
) -> NDArray[np.float32]:
    """The picture with the rim of hands, and a little beyond it, free of what is seen behind them.

    Only the share of a pixel that is not the hand's own gives way to skin: the shade at the edge of a finger, and the
    line between two, stay as they are.

    Args:
        picture: ``(h, w, 3)`` float32, 0 to 1.
        skin: ``(h, w)`` bool, hands and the arms that they belong to.
        beside: ``(h, w)`` bool, clothes and wall.
        unit: Shoulder width in pixels.
        where: ``(h, w)`` bool, the only places to change.
    """
    clean = picture.copy()
    for window in windows_of(where & skin, round(skin_edges.REACH * unit)):
        _free(clean[window], skin[window], beside[window], unit, where[window])
    return clean


def _free(part: NDArray[np.float32], skin: BoolMask, beside: BoolMask, unit: float, where: BoolMask) -> None:
    """Do so in one window, in place."""
    off, from_beside = distance_from(skin), distance_from(beside)
    sure = skin & (from_beside > INSIDE)
    found = where & (off <= MIXED) & (from_beside <= MIXED)
    if not sure.any() or not found.any():
        return
    told, apart, *_ = skin_edges.told_by_colour(part, (skin, off), (beside, from_beside), found, unit)
    near = off <= MIXED + 3 * STREAKS
    own = _of_nearest(part, sure, near)
    share = ease(GIVES_WAY * (0.5 - told[found])) * ease(apart[found] / np.float32(ALIKE))
    # Where the two are alike the edge as labelled may lie a little outside of the hand.
    outside = ease((MIXED - from_beside[found]) / (MIXED - 1.0)) * (1 - skin_edges.worth(apart[found]))
    share = np.maximum(share, outside)
    part[found] += share[:, None] * (own - part)[found]


def _of_nearest(part: NDArray[np.float32], sure: BoolMask, near: BoolMask) -> NDArray[np.float32]:
    """The picture as it is where it is sure, and elsewhere the colours of the nearest sure pixels, without streaks."""
    carried, beyond = part.copy(), near & ~sure
    carried[beyond] = part.reshape(-1, 3)[nearest_known(sure)[beyond]]
    smooth = np.asarray(cv2.GaussianBlur(carried, (0, 0), STREAKS), dtype=np.float32)
    smooth[sure] = part[sure]
    return smooth
