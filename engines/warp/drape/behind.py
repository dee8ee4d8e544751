"""What lies in front of cloth: forearms, a top worn outside, and the neck with the back of a collar beside it."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.garment.cloth import Cloth
from engines.garment.neckline import inner_back_alone
from engines.regions import BoolMask, closed, dilated, eroded, labelled_as
from engines.warp.body.bare_parts import around_wrist, bare_arm, bare_torso, clothed_until
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.painting import lowered_by
from engines.warp.ribbon import Piece, Ribbon, draw

WRIST_WITHIN = 1.25
"""A wrist no further from the axis than this many half widths of the torso lies before or behind it."""

LEAST_HAND = 0.15
"""Share of hand around the wrist from which the hand is seen; a hand behind the back is hidden."""

STARTS, FULLY = 0.24, 0.34
"""Heights between which an arm comes in front of the torso; at the shoulder the garment covers it."""

HEM_FOUND = 0.04
"""How far from the hem as it is seen the line may run that stands for it, in shoulder widths."""

MIXED = 2
"""Pixels of the top beside the clothes below it that are mixed with them."""

IN_SHADE = 0.66
"""Brightness of the inside of a collar over that of the garment, since head, neck and front keep the light from it."""

RIM = 0.010
"""Width of the neck's outline in which its pixels still hold the old background, in shoulder widths."""

WIDEST = 0.225
"""Half width of a collar, in shoulder widths, from which it lies on the shoulders: they hide its back."""

NOTCH = 0.03
"""Half the width of notches in the neck's outline that are closed, in shoulder widths."""


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
        # Beside a forearm that is slimmer than usual the cloth shows, not the wall.
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
        # Right under it they begin where it ends, even if the line that approximates its hem runs elsewhere.
        clothes = np.asarray(labelled_as(body.labels, (Label.LOWER, Label.FULL)))
        under = lowered_by(cover, max(1, round(HEM_FOUND * body.shoulder_width)))
        open_share = open_share * np.maximum(np.clip(below, 0.0, 1.0), under * dilated(clothes, MIXED))
    return _seen_by(piece, np.asarray(open_share, np.float32))


def _seen_by(piece: Piece, share: NDArray[np.float32]) -> Piece:
    """The piece with its cover multiplied by a share, ``(h, w)``."""
    return replace(piece, colour=piece.colour * share[..., None], alpha=piece.alpha * share)


def with_collar_back(
    torso: Piece, ribbon: Ribbon, cloth: Cloth, back: BoolMask, body: BodyModel, *, half_width: float
) -> Piece:
    """The torso with the inside of its back where neither neck nor shoulders are in front of it.

    Args:
        torso: Without the inside of the back.
        ribbon: By which it was laid.
        cloth: The whole garment.
        back: ``(h, w)`` bool on the cloth's canvas, the inside of the back.
        body: The body.
        half_width: How far the collar's foot lies from the axis on the body, pixels.
    """
    if not back.any() or half_width > WIDEST * body.shoulder_width:
        return torso
    strip = draw(ribbon, inner_back_alone(cloth, back), body.shape, torso.name)
    seen = (1.0 - before_collar(body)) * (1.0 - torso.alpha)
    return replace(
        torso,
        colour=torso.colour + strip.colour * (np.float32(IN_SHADE) * seen)[..., None],
        alpha=torso.alpha + strip.alpha * seen,
        across=np.where(torso.alpha > 0, torso.across, strip.across),
        behind=strip.alpha * seen,
    )


def opened_for_neck(torso: Piece, ribbon: Ribbon, back: BoolMask, body: BodyModel) -> Piece:
    """The torso of a garment with a hood, without what is seen through the hood's opening where the neck is before it.

    Args:
        torso: With the whole hood.
        ribbon: By which it was laid.
        back: ``(h, w)`` bool on the cloth's canvas.
        body: The body.
    """
    whole = Cloth(np.zeros((*back.shape, 3), np.float32), np.ones(back.shape, np.float32))
    seen = draw(ribbon, inner_back_alone(whole, back), body.shape, torso.name).alpha
    kept = 1.0 - seen * before_collar(body)
    return replace(torso, colour=torso.colour * kept[..., None], alpha=torso.alpha * kept, behind=seen * kept)


def before_collar(body: BodyModel) -> NDArray[np.float32]:
    """``(h, w)`` cover of the neck and what is bare below it, where the inside of a collar or a hood lies behind."""
    # If the neck were drawn too wide, a gap of background would show beside it.
    person = (body.matte > 0.5) & (body.labels != Label.HAIR)
    neck = (bare_torso(body).on & person) | labelled_as(body.labels, (Label.NECK, Label.TORSO_SKIN))
    # Where the labels' neck ends at the old collar and the measured one is narrower, no notch is left between them.
    neck |= closed(neck, max(1, round(NOTCH * body.shoulder_width))) & person
    # Where the neck ends at hair or chin no background shows through, and a rim of cloth would be an outline.
    whole = np.asarray(neck | labelled_as(body.labels, (Label.HAIR, Label.FACE)))
    front = eroded(whole, max(1, round(RIM * body.shoulder_width))) & neck
    return np.asarray(cv2.GaussianBlur(front.astype(np.float32), (0, 0), 0.8), np.float32)
