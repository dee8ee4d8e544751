"""Skin where clothes used to be: the person's own tone, on the limbs and the torso that the body model expects."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.warp.bare_limbs import bare_edges
from engines.warp.body import LEFT, NECK_HALF_WIDTH, NECK_RISE, SIDES, BodyModel
from engines.warp.fill import fill_from, grain, grain_of
from engines.warp.limbs import Limb, usual_leg
from engines.warp.ribbon import OUTSIDE, rasterise
from engines.warp.silhouette import ease

ARM_BARE = (0.150, 0.112, 0.075)
"""Half width of a bare arm at shoulder, elbow and wrist, in shoulder widths."""

CAP_SLEEVE = 0.25
"""A garment that covers less than this share of the arm leaves the round of the shoulder bare."""

TORSO_BARE_MOST = 0.46
"""Largest half width of bare torso skin, in shoulder widths: invented skin stays under the garment's edges."""

LIMB_SHADE, TORSO_SHADE = 0.30, 0.16
"""How much darker skin is at the edge of a limb or torso than on its axis."""

TONE_REACH = 0.20
"""Distance over which seen skin hands on its exact colour, in shoulder widths."""

SKIN_LABELS = (Label.NECK, Label.TORSO_SKIN, Label.ARMS, Label.HANDS, Label.LEGS)

COVERED = 0.5
"""Cover of the drape on a limb's axis from which the limb counts as clothed there."""

BEGINS_WITHIN, LARGEST_BREAK = 0.30, 0.06
"""Cloth on a limb begins within the first share of its length and has no breaks longer than the second."""


@dataclass(frozen=True)
class BareSkin:
    """Invented skin over the whole picture.

    Attributes:
        colour: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        cover: ``(height, width)`` float32, 0 to 1: where a bare body would be seen.
    """

    colour: NDArray[np.float32]
    cover: NDArray[np.float32]


def bare_skin(
    photo: NDArray[np.float32], body: BodyModel, clothed: NDArray[np.float32], *, torso: bool, arms: bool, legs: bool
) -> BareSkin:
    """Paint the skin that a new garment leaves open.

    A limb is bare only beyond the end of its new sleeve or leg. What the old sleeve covered beside the new one
    is no skin but what is behind the person.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        body: The body in the photo.
        clothed: ``(height, width)`` cover of the new garment, 0 to 1.
        torso: Whether chest and midriff may be bared.
        arms: Whether the arms may be bared.
        legs: Whether the legs may be bared.
    """
    shade = np.ones(body.shape, np.float32)
    cover = np.zeros(body.shape, bool)
    parts: list[tuple[NDArray[np.float32], float]] = []
    if torso:
        parts.append((_torso(body), TORSO_SHADE))
    if arms:
        parts += [(_arm(body, side, clothed), LIMB_SHADE) for side in SIDES]
    if legs:
        parts += [(_leg(body, side, clothed), LIMB_SHADE) for side in SIDES]
    for across, depth in parts:
        on_part = across > OUTSIDE
        # Limbs are in front of the torso: the later part wins.
        # Seen skin, whose tone this is, has its own dark edges: the mean across a part stays 1.
        shade[on_part] = (1.0 - depth * np.abs(across[on_part]).clip(0.0, 1.0) ** 3) / (1.0 - depth / 4.0)
        cover |= on_part
    colour = _tone(photo, body) * cv2.GaussianBlur(shade, (0, 0), 1.5)[..., None]
    seen = np.isin(body.labels, SKIN_LABELS)
    colour += grain(body.shape, grain_of(photo, seen))
    soft = cv2.GaussianBlur(cover.astype(np.float32), (0, 0), 1.0)
    return BareSkin(np.clip(colour, 0.0, 1.0).astype(np.float32), np.asarray(soft, np.float32))


def clothed_until(limb: Limb, clothed: NDArray[np.float32]) -> float:
    """Share of a limb down to which the drape lies on its centre line without a break; -1 when it does not begin.

    Cloth further down is not the limb's own: a forearm may lie on the skirt.
    """
    height, width = clothed.shape
    x, y = np.rint(limb.line).astype(int).T
    framed = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    on_axis = np.zeros(len(x), np.float32)
    on_axis[framed] = clothed[y[framed], x[framed]]
    covered = limb.shares[on_axis > COVERED]
    if len(covered) == 0 or covered[0] > BEGINS_WITHIN:
        return -1.0
    breaks = np.flatnonzero(np.diff(covered) > LARGEST_BREAK)
    return float(covered[breaks[0]] if len(breaks) else covered[-1])


def bare_arm(body: BodyModel, side: int, begin: float) -> NDArray[np.bool_]:
    """``(height, width)``: the bare arm from a share of its length to the wrist."""
    return np.asarray(_strip(body.shape, body.arms[side], _arm_edges(body, side), begin, 1.04) > OUTSIDE)


def _arm_edges(body: BodyModel, side: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    limb = body.arms[side]
    usual = np.interp(limb.shares, [0.0, limb.bend, 1.0], ARM_BARE) * body.shoulder_width
    return bare_edges(body.labels, (Label.ARMS, Label.HANDS), limb, usual)


def _arm(body: BodyModel, side: int, clothed: NDArray[np.float32]) -> NDArray[np.float32]:
    limb, unit = body.arms[side], body.shoulder_width
    edges = _arm_edges(body, side)
    begin = clothed_until(limb, clothed) - 0.02
    if begin > CAP_SLEEVE:
        return _strip(body.shape, limb, edges, begin, 1.12)
    # A bare arm ends upwards in the round of the shoulder.
    across = _strip(body.shape, limb, edges, 0.0, 1.12)
    joint = body.skeleton.shoulder[side]
    rows, columns = np.indices(body.shape, dtype=np.float32)
    radius = max(min(float(edges[0][0] + edges[1][0]) / 2.0, 1.1 * ARM_BARE[0] * unit), 1.0)
    ball = np.hypot(columns - joint[0], rows - joint[1]) / np.float32(radius)
    return np.where((across <= OUTSIDE) & (ball < 1.0), ball, across).astype(np.float32)


def _leg(body: BodyModel, side: int, clothed: NDArray[np.float32]) -> NDArray[np.float32]:
    limb = body.legs[side]
    usual = usual_leg(limb, body.shoulder_width)
    edges = bare_edges(body.labels, (Label.LEGS,), limb, usual)
    begin = max(clothed_until(limb, clothed) - 0.04, 0.0)
    return _strip(body.shape, limb, edges, begin, 1.08)


def _strip(
    shape: tuple[int, int],
    limb: Limb,
    halves: tuple[NDArray[np.float32], NDArray[np.float32]],
    begin: float,
    end: float,
) -> NDArray[np.float32]:
    """Position across a limb between two shares, `OUTSIDE` elsewhere."""
    if begin >= end - 0.02:
        return np.full(shape, OUTSIDE, np.float32)
    shares = np.linspace(begin, end, 48, dtype=np.float32)
    line, out = limb.points(shares), limb.outwards(shares)
    half_outer = np.interp(shares, limb.shares, halves[0])[:, None]
    half_inner = np.interp(shares, limb.shares, halves[1])[:, None]
    position = np.linspace(-1.0, 1.0, 9, dtype=np.float32)
    reach = np.where(position < 0, position * half_inner, position * half_outer)
    grid = (line[:, None] + out[:, None] * reach[..., None]).astype(np.float32)
    across = np.broadcast_to(position[None, :, None], (48, 9, 1)).astype(np.float32)
    return rasterise(grid, across, shape)[..., 0]


def _torso(body: BodyModel) -> NDArray[np.float32]:
    """Position across neck, chest and midriff, -1 to 1, `OUTSIDE` elsewhere."""
    unit, length, bone = body.shoulder_width, body.torso_length, body.skeleton
    tip_rises = [float((bone.shoulders - body.tips[side]) @ bone.down) / length for side in SIDES]
    above = [-0.50 * unit / length, -NECK_RISE * unit / length, -max(float(np.mean(tip_rises)), 0.0), 0.02, 0.08]
    heights = np.concatenate([above, np.linspace(0.12, body.crotch_height, 30)]).astype(np.float32)
    in_armpit = ease((heights - 0.05) / 0.22)
    position = np.linspace(-1.0, 1.0, 17, dtype=np.float32)
    halves = {}
    for side in SIDES:
        chest = np.minimum(body.half_width(heights, side) * 0.97, TORSO_BARE_MOST * unit)
        tip = body.tip_offset(side)
        shoulders = np.interp(heights, above, [0.17 * unit, NECK_HALF_WIDTH * unit, 0.84 * tip, 0.92 * tip, 0.92 * tip])
        halves[side] = shoulders * (1.0 - in_armpit) + chest * in_armpit
    reach = np.where(position < 0, halves[LEFT][:, None], halves[-LEFT][:, None]) * position
    grid = body.point(np.broadcast_to(heights[:, None], reach.shape), reach)
    across = np.broadcast_to(position[None, :, None], (*reach.shape, 1)).astype(np.float32)
    return rasterise(grid, across, body.shape)[..., 0]


def _tone(photo: NDArray[np.float32], body: BodyModel) -> NDArray[np.float32]:
    """The colour of skin everywhere: that of the seen skin nearby, the person's usual tone far from any."""
    unit, labels = body.shoulder_width, body.labels
    radius = max(2, round(0.02 * unit))
    kernel = np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)
    skin = np.isin(labels, SKIN_LABELS).astype(np.uint8)
    sure = (cv2.erode(skin, kernel) > 0) & (body.matte > 0.9)
    face = cv2.erode((labels == Label.FACE).astype(np.uint8), kernel) > 0
    usual_from = sure if sure.sum() > 0.02 * unit * unit else sure | face
    if not usual_from.any():
        return np.broadcast_to(np.array([0.80, 0.64, 0.55], np.float32), photo.shape)
    pixels = photo[usual_from]
    middle = np.median(pixels, axis=0)
    usual = np.percentile(pixels, 54, axis=0).astype(np.float32)
    # Shadows, jewellery and mislabelled cloth do not set the tone.
    sure &= np.abs(photo - middle).max(axis=2) < 0.22
    reduce = 4
    size = (max(4, labels.shape[1] // reduce), max(4, labels.shape[0] // reduce))
    weight = np.asarray(cv2.resize(sure.astype(np.float32), size, interpolation=cv2.INTER_AREA), np.float32)
    sums = np.asarray(cv2.resize(photo * sure[..., None], size, interpolation=cv2.INTER_AREA), np.float32)
    sigma = 0.20 * unit / reduce
    around = cv2.GaussianBlur(weight, (0, 0), sigma)[..., None]
    mixed = (cv2.GaussianBlur(sums, (0, 0), sigma) + 0.02 * usual) / (around + 0.02)
    mixed = cv2.resize(mixed, (labels.shape[1], labels.shape[0]), interpolation=cv2.INTER_LINEAR)
    if not sure.any():
        return np.asarray(mixed, np.float32)
    # Right beside seen skin its own colour goes on, so that no border shows.
    distance = cv2.distanceTransform((~sure).astype(np.uint8), cv2.DIST_L2, 5) / np.float32(TONE_REACH * unit)
    beside = np.exp(-distance)[..., None]
    return np.asarray(mixed + (fill_from(photo, sure, reduce) - mixed) * beside, np.float32)
