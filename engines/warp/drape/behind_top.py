"""What hangs over trousers and skirts: the hem of a top worn outside, and sleeves."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.covers import lowered_by
from engines.warp.pieces import Piece

HEM_SHADOW = 0.48
"""Depth of the shadow that a hem throws on the cloth under it."""

SHADOW_REACH = 0.034
"""Width of that shadow, in shoulder widths."""

HEM_ZONE, HEM_STEADIED = 0.05, 0.03
"""Distance from the line of the hem within which it is steadied, in torso lengths, and over how much of its length, in
shoulder widths."""


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
    sure = np.asarray(cv2.erode(cv2.morphologyEx(front.astype(np.uint8), cv2.MORPH_OPEN, kernel), kernel), np.uint8)
    cover = np.asarray(cv2.GaussianBlur(sure.astype(np.float32), (0, 0), 0.9), np.float32)
    if not waistband_open:
        cover = _steadied(cover, sure, body)
    open_share = 1.0 - cover
    if not waistband_open:
        # Beside a loose top nothing of the trousers shows above its hem.
        below = (body.heights - body.waist.line(body.laterals)) * body.torso_length / 2.0 + 1.0
        open_share = open_share * np.clip(below, 0.0, 1.0)
    colour = piece.colour * (open_share * _shadow(cover, body.shoulder_width))[..., None]
    return replace(piece, colour=np.asarray(colour, np.float32), alpha=np.asarray(piece.alpha * open_share, np.float32))


def _steadied(cover: NDArray[np.float32], sure: NDArray[np.uint8], body: BodyModel) -> NDArray[np.float32]:
    """The cover of a top whose hem runs on without the steps that labels have, one row high and many columns long."""
    away = np.abs(body.heights - body.waist.line(body.laterals)) / HEM_ZONE
    rows = np.flatnonzero((away < 1.0).any(axis=1))
    if not len(rows):
        return cover
    window = slice(int(rows[0]), int(rows[-1]) + 1)
    along = cv2.GaussianBlur(sure[window].astype(np.float32), (0, 0), HEM_STEADIED * body.shoulder_width, sigmaY=0.7)
    share = ease(2.0 * (1.0 - away[window]))
    steadied = cover.copy()
    steadied[window] += share * (along - cover[window])
    return steadied


def _shadow(cover: NDArray[np.float32], unit: float) -> NDArray[np.float32]:
    lowered = lowered_by(cover, max(1, round(0.02 * unit)))
    spread = cv2.GaussianBlur(lowered, (0, 0), SHADOW_REACH * unit)
    return np.asarray(1.0 - HEM_SHADOW * np.clip(spread - cover, 0.0, 1.0), np.float32)
