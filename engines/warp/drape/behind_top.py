"""What hangs over trousers and skirts: the hem of a top worn outside, and sleeves."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.garment.regions import BoolMask, dilated, window_of
from engines.labels import labelled_as
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.covers import lowered_by
from engines.warp.pieces import Piece

SLEEVE_SHADOW = 0.48
"""Depth of the shadow that a sleeve throws on the cloth under it; that of a hem is drawn with all other shadows."""

SHADOW_REACH = 0.034
"""Width of that shadow, in shoulder widths."""

HEM_FOUND = 0.04
"""How far from the hem as it is seen the line may run that stands for it, in shoulder widths."""

MIXED = 2
"""Pixels of the top beside the clothes below it that are mixed with them."""

TEETH, STEEPER = 3.0, 4.5
"""Blur that takes the teeth of the labels off a hem, pixels (standard deviation), and by how much what it leaves is
made steeper again."""

ALONG, STRAY = 0.06, 2
"""Length along a level hem over which the steps of the labels are smoothed, in shoulder widths, and how far the line
that comes of it may run from them, pixels."""

LEVEL = (0.80, 0.95)
"""Cosine of a hem's slope from which it is level, not at all to wholly."""

WITHIN = (0.80, 0.97)
"""Share of the surroundings, so far along the hem, that is top or clothes below it, from which it is smoothed, not at
all to wholly: at its ends it keeps its corners."""


def behind_top(piece: Piece, body: BodyModel, *, waistband_open: bool) -> Piece:
    """Take from a lower-body piece what the top in the photo hides.

    Args:
        piece: Trouser leg or skirt.
        body: The body.
        waistband_open: Whether the top ends above the waistband or is tucked in; then only its sleeves are in front.
    """
    top = body.labels == Label.UPPER
    beside = (np.abs(body.laterals) > 0.42) & (body.arm_distance < 1.1)
    front = top & beside if waistband_open else top
    if not front.any():
        return piece
    # The outermost pixel of the top is mixed with the old garment below it.
    kernel = np.ones((3, 3), np.uint8)
    whole = cv2.morphologyEx(front.astype(np.uint8), cv2.MORPH_OPEN, kernel)
    sure = np.asarray(cv2.erode(whole, kernel), bool)
    clothes = np.asarray(labelled_as(body.labels, (Label.LOWER, Label.FULL)) & ~front)
    cover = _without_teeth(sure, clothes, ALONG * body.shoulder_width)
    shade = _shadow(cover, body.shoulder_width) if waistband_open else np.float32(1)
    open_share = 1.0 - cover
    if not waistband_open:
        # Beside a loose top nothing of the trousers shows above its hem.
        below = (body.heights - body.waist.line(body.laterals)) * body.torso_length / 2.0 + 1.0
        # Right under it they begin where it ends, wherever the line that stands for its hem runs.
        under = lowered_by(cover, max(1, round(HEM_FOUND * body.shoulder_width)))
        open_share = open_share * np.maximum(np.clip(below, 0.0, 1.0), under * dilated(clothes, MIXED))
    colour = piece.colour * (open_share * shade)[..., None]
    return replace(piece, colour=np.asarray(colour, np.float32), alpha=np.asarray(piece.alpha * open_share, np.float32))


def _without_teeth(sure: BoolMask, below: BoolMask, along: float) -> NDArray[np.float32]:
    """``(h, w)`` cover of a top whose hem is smooth along the clothes below it; what is beside both bends no corner.

    Args:
        sure: ``(h, w)`` the top.
        below: ``(h, w)`` the clothes below it.
        along: Standard deviation over which a level hem is smoothed, pixels.
    """
    cover = np.asarray(cv2.GaussianBlur(sure.astype(np.float32), (0, 0), 0.9), np.float32)
    window = window_of(below, round(3 * TEETH))
    if not sure[window].any():
        return cover
    part, rim = sure[window].astype(np.float32), dilated(below[window], MIXED)
    counted = (sure[window] | rim).astype(np.float32)
    edge, upright, _ = _edge(part, counted, (TEETH, TEETH))
    level, _, within = _edge(part, counted, (along, TEETH))
    stray = np.ones((2 * STRAY + 1, 1), np.uint8)
    level = np.clip(level, cv2.erode(part, stray), cv2.dilate(part, stray))
    share = ease((upright - LEVEL[0]) / (LEVEL[1] - LEVEL[0])) * ease((within - WITHIN[0]) / (WITHIN[1] - WITHIN[0]))
    edge += share * (level - edge)
    near = dilated(below[window], round(3 * TEETH)) & (counted > 0)
    cover[window] = np.where(near, edge, cover[window])
    return cover


def _edge(
    top: NDArray[np.float32], counted: NDArray[np.float32], blur: tuple[float, float]
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """``(h, w)`` cover of a top with a blurred and sharpened edge, how level that is, what share around counts."""
    soft, whole = (cv2.GaussianBlur(part, (0, 0), sigmaX=blur[0], sigmaY=blur[1]) for part in (top, counted))
    share = soft / np.maximum(whole, 1e-3)
    across, down = cv2.Sobel(share, cv2.CV_32F, 1, 0), cv2.Sobel(share, cv2.CV_32F, 0, 1)
    level = np.abs(down) / (np.hypot(across, down) + np.float32(1e-6))
    edge = np.clip((share - np.float32(0.5)) * np.float32(STEEPER) + np.float32(0.5), 0, 1)
    return np.asarray(edge, np.float32), np.asarray(level, np.float32), np.asarray(whole, np.float32)


def _shadow(cover: NDArray[np.float32], unit: float) -> NDArray[np.float32]:
    lowered = lowered_by(cover, max(1, round(0.02 * unit)))
    spread = cv2.GaussianBlur(lowered, (0, 0), SHADOW_REACH * unit)
    return np.asarray(1.0 - SLEEVE_SHADOW * np.clip(spread - cover, 0.0, 1.0), np.float32)
