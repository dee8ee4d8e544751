"""Arms that pass in front of the body: the cloth of torso and legs lies behind them."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.bare_parts import bare_arm, clothed_until
from engines.warp.body.hidden_hands import around_wrist
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import ease
from engines.warp.pieces import Piece, Reals

WRIST_WITHIN = 1.25
"""A wrist no further from the axis than this many half widths of the torso lies before or behind it."""

LEAST_HAND = 0.15
"""Share of hand around the wrist from which the hand is seen; a hand behind the back is hidden."""

ARM_BESIDE = (0.02, 0.06, 0.10)
"""An arm so close beyond the torso's edge, in shoulder widths, may hide more of the torso."""

LIKE_OTHER_HALF = 0.80
"""What is hidden is at least this share of the other half's width; nobody stands quite square to the camera."""

SURELY_PERSON = 0.5
"""Matte from which a pixel shows the person, and may show an arm."""

STARTS, FULLY = 0.24, 0.34
"""Heights between which an arm comes in front of the torso; at the shoulder the garment covers it."""


def half_behind_arm(body: BodyModel, heights: Reals, side: int) -> NDArray[np.float32]:
    """Half width of the torso, on a side where an arm or a hand hides its edge that of a body of two like halves.

    Args:
        body: The body.
        heights: ``(n,)`` in torso lengths.
        side: Side of the picture.
    """
    measured = body.half_width(heights, side)
    hidden = np.zeros(len(measured), bool)
    for beside in ARM_BESIDE:
        beyond = body.point(heights, side * (measured + beside * body.shoulder_width))
        hidden |= labelled_as(values_at(body.labels, beyond)[0], (Label.ARMS, Label.HANDS))
    share = ndimage.gaussian_filter1d(hidden.astype(np.float32), 1.5, mode="nearest")
    like_other = np.maximum(measured, LIKE_OTHER_HALF * body.half_width(heights, -side))
    return np.asarray(measured + (like_other - measured) * share, np.float32)


def behind_arms(pieces: tuple[Piece, ...], body: BodyModel) -> tuple[Piece, ...]:
    """Open the garment where an arm is in front of it, as far as no sleeve of the garment covers that arm.

    What is seen through the opening is the plate: the arm itself, or invented skin where an old sleeve was.

    Args:
        pieces: Of a garment that covers the torso.
        body: The body.
    """
    opening = np.zeros(body.shape, np.float32)
    for side in SIDES:
        if not passes_in_front(body, side):
            continue
        name = "left_sleeve" if side < 0 else "right_sleeve"
        sleeve = next((piece.alpha for piece in pieces if piece.name == name), np.zeros(body.shape, np.float32))
        begin = max(clothed_until(body.arms[side], sleeve), 0.20)
        # Where a forearm is slimmer than a usual one the cloth shows beside it, not the wall.
        arm = bare_arm(body, side, begin).on & (body.matte > SURELY_PERSON)
        opening = np.maximum(opening, arm.astype(np.float32))
    if not opening.any():
        return pieces
    opening = np.asarray(cv2.GaussianBlur(opening, (0, 0), 0.9), np.float32)
    opening *= ease((body.heights - STARTS) / (FULLY - STARTS))
    return tuple(piece if piece.name.endswith("sleeve") else _opened(piece, opening) for piece in pieces)


def passes_in_front(body: BodyModel, side: int) -> bool:
    """Whether a forearm lies before the torso, with its hand to be seen."""
    bone, limb = body.skeleton, body.arms[side]
    wrist = limb.points(np.ones(1, np.float32))[0]
    height = float((wrist - bone.shoulders) @ bone.down) / body.torso_length
    offset = float((wrist - bone.shoulders) @ bone.right)
    half = float(body.half_width(height, -1 if offset < 0 else 1))
    if abs(offset) > WRIST_WITHIN * half or not STARTS < height < body.crotch_height:
        return False
    around = around_wrist(body, side)
    return bool(len(around) and (around == Label.HANDS).mean() > LEAST_HAND)


def _opened(piece: Piece, opening: NDArray[np.float32]) -> Piece:
    left = 1.0 - opening
    return replace(piece, colour=piece.colour * left[..., None], alpha=piece.alpha * left)
