"""What hangs over trousers and skirts: the hem of a top worn outside, and sleeves."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.garment.regions import dilated
from engines.labels import labelled_as
from engines.warp.blending import lowered_by
from engines.warp.body.model import BodyModel
from engines.warp.pieces import Piece

SLEEVE_SHADOW = 0.48
"""Depth of the shadow that a sleeve throws on the cloth under it; that of a hem is drawn with all other shadows."""

SHADOW_REACH = 0.034
"""Width of that shadow, in shoulder widths."""

HEM_FOUND = 0.04
"""How far from the hem as it is seen the line may run that stands for it, in shoulder widths."""

MIXED = 2
"""Pixels of the top beside the clothes below it that are mixed with them."""


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
    cover = np.asarray(cv2.GaussianBlur(sure.astype(np.float32), (0, 0), 2.0), np.float32)
    cover = np.clip((cover - 0.5) * 3.0 + 0.5, 0.0, 1.0).astype(np.float32)
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


def _shadow(cover: NDArray[np.float32], unit: float) -> NDArray[np.float32]:
    lowered = lowered_by(cover, max(1, round(0.02 * unit)))
    spread = cv2.GaussianBlur(lowered, (0, 0), SHADOW_REACH * unit)
    return np.asarray(1.0 - SLEEVE_SHADOW * np.clip(spread - cover, 0.0, 1.0), np.float32)
