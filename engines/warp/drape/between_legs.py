"""What is seen between the legs of trousers: the shadow of the near one, and through a narrow gap their back."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import on_channels
from engines.garment.regions import BoolMask, window_of
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.drape.seat import is_seated
from engines.warp.pieces import Piece

LEG_SHADOW, LEG_SHADOW_REACH, LEG_SHADOW_FROM = 0.26, 0.035, 0.12
"""Depth of the shadow that the near leg throws on the far one, its width in shoulder widths, and over how many torso
lengths below the crotch it comes up."""

SHADOW_GONE = 3.5
"""Distance at which nothing is left of that, over its width."""

SEAM_SHADOW, SEAM_REACH = 0.32, 0.010
"""Depth and width of the dark line where the legs touch."""

NARROW, BACK_UNTIL = 0.016, 0.50
"""Half the width of a gap through which the back is seen and nothing behind it, at the crotch, and how far below the
crotch that is none any more, in shoulder widths."""

LOWEST_CROTCH = 0.3
"""How far below the body's a garment's crotch hangs at most, in shoulder widths."""

FADES = 0.5
"""Share of the length of what is seen of the back over which it is lost: no edge of cloth ends there."""

BACK_LIGHT = (0.45, 0.62)
"""Light on the back at the crotch and where it ends: it lies in the shade of the front."""

TINTED = 0.5
"""Power of its colour over grey by which that is stronger: light has been thrown from cloth to cloth."""

AROUND = 0.04
"""Standard deviation over which the front is averaged for the colour of the back, in shoulder widths."""

WHOLE = 0.98
"""Cover from which a pixel is cloth alone."""


def joined_at_crotch(pieces: list[Piece], body: BodyModel) -> list[Piece]:
    """The far and the near leg with what is seen between them; without it two plain legs flow into one."""
    far, near = pieces
    far = _shaded(far, near, body)
    return [far if is_seated(body) else _with_back(far, near, body), near]


def _shaded(far: Piece, near: Piece, body: BodyModel) -> Piece:
    """The far leg in the shadow of the near one below the crotch, darkest where they touch."""
    unit = body.shoulder_width
    below_crotch = body.heights > body.crotch_height
    window = window_of((near.alpha > 0) & below_crotch, round(SHADOW_GONE * LEG_SHADOW_REACH * unit))
    if not near.alpha[window].size:
        return far
    cover = np.ascontiguousarray(near.alpha[window])
    below = ease((body.heights[window] - body.crotch_height) / LEG_SHADOW_FROM)
    factor = np.ones_like(cover)
    for depth, reach in ((LEG_SHADOW, LEG_SHADOW_REACH), (SEAM_SHADOW, SEAM_REACH)):
        beside = np.asarray(cv2.GaussianBlur(cover, (0, 0), max(reach * unit, 0.7)), np.float32)
        factor *= 1.0 - np.float32(depth) * np.clip(2.0 * beside, 0.0, 1.0) * below
    colour = far.colour.copy()
    colour[window] *= on_channels(factor)
    return replace(far, colour=colour)


def _with_back(far: Piece, near: Piece, body: BodyModel) -> Piece:
    """The far leg, behind which a narrow gap below the crotch is closed by the cloth of the back."""
    below = (body.heights - body.crotch_height) * np.float32(body.torso_length / body.shoulder_width)
    window = window_of(((far.alpha > 0) | (near.alpha > 0)) & (below > 0) & (below < LOWEST_CROTCH + BACK_UNTIL))
    covers = {piece.name.partition("_")[0]: piece.alpha[window] for piece in (far, near)}
    front = np.asarray(1.0 - (1.0 - far.alpha[window]) * (1.0 - near.alpha[window]), np.float32)
    cover, depth = _behind_gap(covers["left"], covers["right"], front, body.shoulder_width)
    if not cover.any():
        return far
    sigma, seen = AROUND * body.shoulder_width, 1.0 - near.alpha[window]
    both = far.colour[window] * on_channels(seen) + near.colour[window]
    colour = cv2.GaussianBlur(both, (0, 0), sigma) / on_channels(cv2.GaussianBlur(front, (0, 0), sigma) + 1e-4)
    tinted = colour * (colour / (colour.mean(axis=2, keepdims=True) + 1e-4)) ** TINTED
    light = BACK_LIGHT[0] + (BACK_LIGHT[1] - BACK_LIGHT[0]) * depth
    added = (1.0 - far.alpha[window]) * cover
    whole_colour, alpha = far.colour.copy(), far.alpha.copy()
    whole_colour[window] += on_channels((added * light).astype(np.float32)) * tinted
    alpha[window] += added
    return replace(far, colour=whole_colour, alpha=alpha)


def _behind_gap(
    left: NDArray[np.float32], right: NDArray[np.float32], front: NDArray[np.float32], unit: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Cover of the back behind a narrow gap, and ``(h, 1)`` how far down it every row is, 0 to 1.

    Args:
        left: ``(h, w)`` cover of one leg.
        right: The same of the other.
        front: The same of both.
        unit: Shoulder width, pixels.
    """
    between = np.logical_or.accumulate(left > WHOLE, axis=1)
    between &= np.logical_or.accumulate((right > WHOLE)[:, ::-1], axis=1)[:, ::-1]
    gap = between & (front < 0.5)
    rows = np.flatnonzero(gap.any(axis=1))
    top = rows[0] if len(rows) else len(front)
    down = (np.arange(len(front)) - top)[:, None] / (BACK_UNTIL * unit)
    depth = np.asarray(np.clip(down, 0.0, 1.0), np.float32)
    if not len(rows):
        return np.zeros_like(front), depth
    reached = (_away(front < 0.5) <= NARROW * unit * np.sqrt(1.0 - depth * depth)) | ~between
    closed = np.clip(_away(reached) - NARROW * unit + 0.5, 0.0, 1.0)
    # Once one sees through, no narrower place further down is closed again.
    opened = np.flatnonzero((gap & (closed < 0.5)).any(axis=1))
    end = min(int(opened[0] + NARROW * unit), len(closed)) if len(opened) else len(closed)
    left_over = (end - np.arange(len(closed)))[:, None] / max(FADES * (end - top), 1.0)
    closed *= np.clip(left_over, 0.0, 1.0)
    return np.asarray(cv2.blur(closed, (3, 3)) * (between & (front < WHOLE)), np.float32), depth


def _away(place: BoolMask) -> NDArray[np.float32]:
    """``(h, w)`` distance from where it is not, pixels."""
    return np.asarray(cv2.distanceTransform(place.astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_PRECISE), np.float32)
