"""What the cloth of torso and legs lies behind: arms that pass in front of the body, and a top worn outside."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.labels import labelled_as
from engines.regions import dilated
from engines.warp.body.bare_parts import bare_arm, clothed_until
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.seen_arms import around_wrist
from engines.warp.body.silhouette import ease, values_at
from engines.warp.painting import lowered_by
from engines.warp.ribbon import Piece, Reals

WRIST_WITHIN = 1.25
"""A wrist no further from the axis than this many half widths of the torso lies before or behind it."""

LEAST_HAND = 0.15
"""Share of hand around the wrist from which the hand is seen; a hand behind the back is hidden."""

ARM_BESIDE = 0.05
"""An arm so close beyond the torso's edge, in shoulder widths, may hide more of the torso."""

LIKE_OTHER_HALF = 0.80
"""What is hidden is at least this share of the other half's width; nobody stands quite square to the camera."""

STARTS, FULLY = 0.24, 0.34
"""Heights between which an arm comes in front of the torso; at the shoulder the garment covers it."""

HEM_FOUND = 0.04
"""How far from the hem as it is seen the line may run that stands for it, in shoulder widths."""

MIXED = 2
"""Pixels of the top beside the clothes below it that are mixed with them."""


def half_behind_arm(body: BodyModel, heights: Reals, side: int) -> NDArray[np.float32]:
    """Half width of the torso, on a side where an arm or a hand hides its edge that of a body of two like halves.

    Args:
        body: The body.
        heights: ``(n,)`` in torso lengths.
        side: Side of the picture.
    """
    measured = body.half_width(heights, side)
    beyond = body.point(heights, side * (measured + ARM_BESIDE * body.shoulder_width))
    hidden = labelled_as(values_at(body.labels, beyond)[0], (Label.ARMS, Label.HANDS))
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
        opening = np.maximum(opening, bare_arm(body, side, begin).on & (body.matte > 0.5))
    if not opening.any():
        return pieces
    opening = np.asarray(cv2.GaussianBlur(opening, (0, 0), 0.9), np.float32)
    opening *= ease((body.heights - STARTS) / (FULLY - STARTS))
    return tuple(piece if piece.name.endswith("sleeve") else _seen_by(piece, 1.0 - opening) for piece in pieces)


def passes_in_front(body: BodyModel, side: int) -> bool:
    """Whether a forearm lies before the torso, with its hand to be seen."""
    bone = body.skeleton
    wrist = body.arms[side].points(np.ones(1, np.float32))[0] - bone.shoulders
    height, offset = float(wrist @ bone.down) / body.torso_length, float(wrist @ bone.right)
    half = float(body.half_width(height, -1 if offset < 0 else 1))
    if abs(offset) > WRIST_WITHIN * half or not STARTS < height < body.crotch_height:
        return False
    around = around_wrist(body, side)
    return bool(len(around) and (around == Label.HANDS).mean() > LEAST_HAND)


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
    sure = cv2.erode(cv2.morphologyEx(front.astype(np.uint8), cv2.MORPH_OPEN, kernel), kernel)
    cover = np.asarray(cv2.GaussianBlur(sure.astype(np.float32), (0, 0), 2.0), np.float32)
    cover = np.clip((cover - 0.5) * 3.0 + 0.5, 0.0, 1.0).astype(np.float32)
    open_share = 1.0 - cover
    if not waistband_open:
        # Beside a loose top nothing of the trousers shows above its hem.
        below = (body.heights - body.waist.line(body.laterals)) * body.torso_length / 2.0 + 1.0
        # Right under it they begin where it ends, wherever the line that stands for its hem runs.
        clothes = np.asarray(labelled_as(body.labels, (Label.LOWER, Label.FULL)))
        under = lowered_by(cover, max(1, round(HEM_FOUND * body.shoulder_width)))
        open_share = open_share * np.maximum(np.clip(below, 0.0, 1.0), under * dilated(clothes, MIXED))
    return _seen_by(piece, np.asarray(open_share, np.float32))


def _seen_by(piece: Piece, share: NDArray[np.float32]) -> Piece:
    """A piece of which a share, ``(h, w)``, is left."""
    return replace(piece, colour=piece.colour * share[..., None], alpha=piece.alpha * share)
