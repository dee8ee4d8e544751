"""The sides of a short wide sleeve: outside it hangs down from where the arm is widest, inside it ends in no spike."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.garment.curves import Polyline
from engines.warp.body.model import BodyModel
from engines.warp.pieces import Piece

MOST_OFF = 0.07
"""Farthest that cloth hangs off the arm beyond the sleeve's usual room, in shoulder widths."""

AROUND = 0.92
"""Width at which a sleeve is seen at most, over its width laid flat."""

ROUND, AT_CORNER = 0.016, 0.16
"""Softness of the outline in which the inner corner of a cuff is rounded (standard deviation), and how far around the
corner; in shoulder widths. Where the armpit lies little above the cuff, the corner is drawn out to a torn point."""


def hung(upper: Polyline, lower: Polyline, cloth_width: NDArray[np.float64], body: BodyModel, side: int) -> Polyline:
    """The outer edge of a short sleeve, hanging straight down where the arm below the shoulder runs inwards.

    Args:
        upper: ``(n, 2)`` outer edge from the shoulder tip to the cuff, along the arm.
        lower: ``(n, 2)`` inner edge from the armpit to the cuff.
        cloth_width: ``(n,)`` width of the sleeve laid flat, in pixels of the photo.
        body: The body.
        side: Picture side.
    """
    across = body.skeleton.right.astype(np.float64) * side
    out = upper @ across
    spare = AROUND * cloth_width - np.linalg.norm(upper - lower, axis=1)
    off = np.clip(np.maximum.accumulate(out) - out, 0.0, np.clip(spare, 0.0, MOST_OFF * body.shoulder_width))
    return np.asarray(upper + ndimage.gaussian_filter1d(off, 2.0, mode="nearest")[:, None] * across)


def with_round_corner(sleeve: Piece, unit: float) -> Piece:
    """A sleeve without what stands out like a spike where its cuff meets its inner edge.

    Args:
        sleeve: As it was drawn; the rows of its mesh run from the outer to the inner edge.
        unit: Shoulder width in pixels.
    """
    if not sleeve.mesh.size:
        return sleeve
    x, y = np.rint(sleeve.mesh[-1, -1]).astype(int)
    reach = round(AT_CORNER * unit)
    # One window larger than the place by what the blur sees.
    top, left = (max(int(at) - 2 * reach, 0) for at in (y, x))
    window = slice(top, max(int(y) + 2 * reach, 0)), slice(left, max(int(x) + 2 * reach, 0))
    cover = sleeve.alpha[window]
    if not cover.size:
        return sleeve
    sigma = max(ROUND * unit, 1.0)
    soft = cv2.GaussianBlur(cover, (0, 0), sigma)
    round_ = np.clip((soft - 0.5) * np.float32(2.0 * sigma) + 0.5, 0.0, 1.0)
    rows, columns = np.indices(cover.shape, np.float32)
    away = np.hypot(rows + np.float32(top - y), columns + np.float32(left - x)) / np.float32(reach)
    kept = np.where(cover > round_, round_ / np.maximum(cover, 1e-3), 1.0)
    kept = 1.0 - (1.0 - kept) * np.clip(3.0 * (1.0 - away), 0.0, 1.0)
    alpha, colour = sleeve.alpha.copy(), sleeve.colour.copy()
    alpha[window] *= kept
    colour[window] *= kept[..., None]
    return replace(sleeve, alpha=alpha, colour=colour)
