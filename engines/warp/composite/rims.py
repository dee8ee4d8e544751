"""Colours at the edge of what is cut out of a photo: free of what lay behind it there."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.filling import carried_out
from engines.garment.regions import BoolMask, eroded, window_of
from engines.warp.body.silhouette import ease

REACH = 2.0
"""How far colours are carried outwards, in widths of the rim."""

AVERAGED = 0.9
"""Standard deviation over which colours inside are averaged, in widths of the rim."""

ROUND = 0.4
"""Share of the shade at the edge of a round arm that goes on to its rim."""

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
    away, numbers = cv2.distanceTransformWithLabels(
        (~sure).astype(np.uint8), cv2.DIST_L2, 3, labelType=cv2.DIST_LABEL_PIXEL
    )
    found = (away < REACH * rim) & (depth < rim)
    if where is not None:
        found &= where[window]
    nearest = np.asarray(numbers, dtype=np.int32)
    edge = _of_nearest(part, sure, nearest, away < REACH * rim + 3 * STREAKS)[found]
    usual = carried_out(part, sure.astype(np.float32), AVERAGED * rim)[0][found]
    inner = ease(np.clip(1 - (depth[found] - 1) / rim, 0, 1))
    clean[window][found] = edge + (usual - edge) * ((1 - ROUND) * inner).astype(np.float32)[:, None]
    return clean


def _of_nearest(
    part: NDArray[np.float32], sure: BoolMask, nearest: NDArray[np.int32], near: BoolMask
) -> NDArray[np.float32]:
    """The picture as it is where it is sure, and elsewhere the colours of the nearest sure pixels, without streaks."""
    inside = np.zeros((int(nearest.max()) + 1, 3), dtype=np.float32)
    inside[nearest[sure]] = part[sure]
    carried, beyond = part.copy(), near & ~sure
    carried[beyond] = inside[nearest[beyond]]
    smooth = np.asarray(cv2.GaussianBlur(carried, (0, 0), STREAKS), dtype=np.float32)
    smooth[sure] = part[sure]
    return smooth
