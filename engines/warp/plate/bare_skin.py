"""Skin where clothes used to be: the person's own tone, on the limbs and the torso that the body model expects."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.warp.body.bare_parts import BarePart, bare_arm, bare_leg, bare_torso, clothed_until
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.plate.fill import fill_from, grain, grain_of
from engines.warp.plate.skin_light import light_tilt, shade_of

TONE_REACH = 0.20
"""Distance over which seen skin hands on its exact colour, in shoulder widths."""

SHOULDER_BLEND = 0.35
"""Share of the arm over which its own roundness takes over from that of the chest."""

MOTTLE, MOTTLE_SIZE = 0.012, 0.035
"""Strength of the unevenness of skin, as a share of its brightness, and its size in shoulder widths."""

SKIN_LABELS = (Label.NECK, Label.TORSO_SKIN, Label.ARMS, Label.HANDS, Label.LEGS)


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
    unit = body.shoulder_width
    shade = np.ones(body.shape, np.float32)
    cover = np.zeros(body.shape, bool)
    tilt = light_tilt(photo, body)
    parts: list[BarePart] = []
    if arms:
        parts += [bare_arm(body, side, clothed_until(body.arms[side], clothed) - 0.02) for side in SIDES]
    if legs:
        parts += [bare_leg(body, side, clothed_until(body.legs[side], clothed) - 0.03) for side in SIDES]
    if torso:
        middle = bare_torso(body)
        cover |= middle.on
        shade[middle.on] = shade_of(middle, tilt, unit, torso=True)
    for part in parts:
        # Limbs are in front of the torso, but at its shoulder an arm is one surface with it.
        own = np.where(cover[part.on], ease(part.share[part.on] / SHOULDER_BLEND), 1.0)
        shade[part.on] += (shade_of(part, tilt, unit) - shade[part.on]) * own
        cover |= part.on
    smooth = cv2.GaussianBlur(shade, (0, 0), max(1.5, 0.012 * unit))
    shade = np.asarray(smooth) * _mottle(body.shape, unit)
    colour = _tone(photo, body) * shade[..., None]
    colour += grain(body.shape, grain_of(photo, np.isin(body.labels, SKIN_LABELS)))
    soft = cv2.GaussianBlur(cover.astype(np.float32), (0, 0), 1.0)
    return BareSkin(np.clip(colour, 0.0, 1.0).astype(np.float32), np.asarray(soft, np.float32))


def _mottle(shape: tuple[int, int], unit: float) -> NDArray[np.float32]:
    """Slow unevenness around 1, ``(height, width)``."""
    reduce = 4
    size = (max(2, shape[0] // reduce), max(2, shape[1] // reduce))
    noise = np.random.default_rng(1).normal(0.0, 1.0, size).astype(np.float32)
    slow = np.asarray(cv2.GaussianBlur(noise, (0, 0), max(0.6, MOTTLE_SIZE * unit / reduce)))
    slow = slow * np.float32(MOTTLE / max(float(slow.std()), 1e-6))
    return np.asarray(1.0 + cv2.resize(slow, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC), np.float32)


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
