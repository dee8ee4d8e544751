"""Skin where clothes used to be: the person's own tone, on the limbs and the torso that the body model expects."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.garment.regions import closed, dilated, eroded
from engines.labels import labelled_as
from engines.warp.body.bare_parts import CLOTH_THICKNESS, BarePart, bare_arm, bare_leg, bare_torso, clothed_until
from engines.warp.body.model import NECK_RISE, SIDES, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.plate.fill import fill_from, grain, grain_of
from engines.warp.plate.skin_light import (
    ARMPIT,
    SkinLight,
    chest_relief,
    hem_shade,
    limb_lights,
    limb_shade,
    shadowed,
    torso_shade,
)

TONE_REACH = 0.55
"""Distance over which seen skin hands on its exact colour, in shoulder widths."""

TONES, MOST_HUE = (0.5, 1.45), 0.13
"""Brightness over that of the person's usual skin, and difference from its colour at the same brightness, of what
counts as skin."""

TONE_SAMPLES = 20_000
"""Pixels that are enough to know a person's usual tone."""

TONE_BLUR = 0.25
"""Over how far around the tone of skin is averaged where none is near, in shoulder widths."""

KEPT_DETAIL = 0.03
"""Size of the unevenness of seen skin that is not carried on, in shoulder widths."""

NOTCH = 0.14
"""Radius of the rounding between neck and shoulder, in shoulder widths."""

MOST_RAISED, WITHIN_SHOULDERS = 0.06, 0.50
"""How far skin is raised to the cloth on the shoulders at most, and how far beside the axis, in shoulder widths."""

EDGE_SIGMA, EDGE_STEEPNESS = 2.0, 2.0
"""Pixels over which an edge of invented skin is straightened, and how much steeper than that it is."""

GRAIN_SHARE, GRAIN_SIZE = 0.6, 0.6
"""Share of the finest detail of seen skin that is grain and not pores, and the blur of the grain on invented skin in
pixels: no sensor's grain is one pixel small once a photo was scaled."""

MOTTLE, MOTTLE_SIZE = 0.006, 0.05
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
    bare = {
        Label.ARMS: {side: bare_arm(body, side, 0.0) for side in SIDES},
        Label.LEGS: {side: bare_leg(body, side, 0.0) for side in SIDES},
    }
    lights = limb_lights(photo, body.labels, bare)
    kinds = ([Label.ARMS] if arms else []) + ([Label.LEGS] if legs else [])
    whole = [(bare[kind][side], lights[kind][side]) for kind in kinds for side in SIDES]
    opened: list[BarePart] = []
    for side in SIDES:
        if arms:
            opened.append(bare_arm(body, side, clothed_until(body.arms[side], clothed) - 0.02))
        if legs:
            opened.append(bare_leg(body, side, clothed_until(body.legs[side], clothed) - 0.03))
    middle = bare_torso(body)
    shade = _shade(body, middle, whole)
    # Light is taken off the seen skin and put on the invented, so that neither is shaded twice.
    tone = _tone(photo / shade[..., None], body)
    # The outermost pixels of neck and chest are mixed with the old cloth and drawn anew.
    seen = labelled_as(body.labels, (Label.NECK, Label.TORSO_SKIN))
    cover = middle.on | seen if torso else np.zeros(body.shape, bool)
    under_hem = np.ones(body.shape, np.float32)
    for part in opened:
        under_hem[part.on] = np.minimum(under_hem[part.on], hem_shade(part, unit))
        cover |= part.on
    if torso and arms:
        cover = _one_shoulder_line(cover, body)
    shade = shade * _smooth(under_hem, unit) * _mottle(body.shape, unit) * chest_relief(body)
    skin = eroded(labelled_as(body.labels, SKIN_LABELS), 3)
    colour = shadowed(tone, np.asarray(shade, np.float32))
    colour += grain(body.shape, GRAIN_SHARE * grain_of(photo, skin), GRAIN_SIZE)
    return BareSkin(np.clip(colour, 0.0, 1.0).astype(np.float32), antialiased(cover))


def _shade(body: BodyModel, torso: BarePart, limbs: list[tuple[BarePart, SkinLight]]) -> NDArray[np.float32]:
    """Factors of about 1 on the bare body, seen or not, ``(height, width)``."""
    unit = body.shoulder_width
    shade = np.ones(body.shape, np.float32)
    shade[torso.on] = torso_shade(torso, body.heights)
    for part, light in limbs:
        # Limbs are in front of the torso, but at its shoulder an arm is one surface with it: no inner edge there.
        own = np.ones(int(part.on.sum()), np.float32)
        towards_axis = part.across[part.on] * body.laterals[part.on] < 0
        own[towards_axis] = ease((part.share[part.on][towards_axis] - ARMPIT[0]) / (ARMPIT[1] - ARMPIT[0]))
        on_torso = torso.on[part.on]
        own = np.where(on_torso, own, 1.0)
        shade[part.on] += (limb_shade(part, light) - shade[part.on]) * own
    return _smooth(shade, unit)


def _smooth(values: NDArray[np.float32], unit: float) -> NDArray[np.float32]:
    return np.asarray(cv2.GaussianBlur(values, (0, 0), max(1.5, 0.012 * unit)), np.float32)


def _one_shoulder_line(cover: NDArray[np.bool_], body: BodyModel) -> NDArray[np.bool_]:
    """The cover without the notch between the slope beside the neck and the round of the shoulder.

    What lies on a shoulder lies on skin: where its upper edge is a little above the usual one, skin reaches up to it.
    """
    unit = body.shoulder_width
    top = -0.8 * NECK_RISE * unit / body.torso_length
    shoulders = (body.heights < 0.12) & (body.heights > top)
    worn = eroded(labelled_as(body.labels, (Label.UPPER, Label.FULL)), max(1, round(CLOTH_THICKNESS * unit)))
    worn &= dilated(cover, max(2, round(MOST_RAISED * unit))) & (np.abs(body.laterals) < WITHIN_SHOULDERS)
    seen = labelled_as(body.labels, SKIN_LABELS)
    rows = np.flatnonzero(shoulders.any(axis=1))
    if not len(rows):
        return cover
    # A large disc is slow: only rows that can reach the shoulders are looked at.
    radius = max(2, round(NOTCH * unit))
    near = slice(max(0, int(rows[0]) - 2 * radius), int(rows[-1]) + 2 * radius + 1)
    filled = np.zeros_like(cover)
    filled[near] = closed((cover | seen | (worn & shoulders))[near], radius)
    return np.asarray(cover | (filled & shoulders))


def antialiased(mask: NDArray[np.bool_]) -> NDArray[np.float32]:
    """A mask's cover, ``(height, width)`` float32, with its staircase edge made one smooth line."""
    blurred = cv2.GaussianBlur(mask.astype(np.float32), (0, 0), EDGE_SIGMA)
    return ease((np.asarray(blurred) - 0.5) * EDGE_STEEPNESS + 0.5)


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
    skin = labelled_as(labels, SKIN_LABELS).astype(np.uint8)
    sure = (cv2.erode(skin, kernel) > 0) & (body.matte > 0.9)
    face = cv2.erode((labels == Label.FACE).astype(np.uint8), kernel) > 0
    usual_from = sure if sure.sum() > 0.02 * unit * unit else sure | face
    if not usual_from.any():
        return np.broadcast_to(np.array([0.80, 0.64, 0.55], np.float32), photo.shape)
    pixels = photo[usual_from]
    pixels = pixels[:: 1 + len(pixels) // TONE_SAMPLES]
    middle = np.median(pixels, axis=0)
    usual = np.percentile(pixels, 54, axis=0).astype(np.float32)
    # Deep shadows, jewellery and mislabelled cloth do not set the tone; skin in half shadow does.
    pixels = photo[sure]
    bright = pixels.mean(axis=1) / max(float(middle.mean()), 1e-3)
    hue = np.abs(pixels / np.maximum(bright, 1e-3)[..., None] - middle).max(axis=1)
    sure[sure] = (bright > TONES[0]) & (bright < TONES[1]) & (hue < MOST_HUE)
    reduce = 4
    size = (max(4, labels.shape[1] // reduce), max(4, labels.shape[0] // reduce))
    weight = np.asarray(cv2.resize(sure.astype(np.float32), size, interpolation=cv2.INTER_AREA), np.float32)
    sums = np.asarray(cv2.resize(photo * sure[..., None], size, interpolation=cv2.INTER_AREA), np.float32)
    sigma = TONE_BLUR * unit / reduce
    around = cv2.GaussianBlur(weight, (0, 0), sigma)[..., None]
    mixed = (cv2.GaussianBlur(sums, (0, 0), sigma) + 0.02 * usual) / (around + 0.02)
    mixed = cv2.resize(mixed, (labels.shape[1], labels.shape[0]), interpolation=cv2.INTER_LINEAR)
    if not sure.any():
        return np.asarray(mixed, np.float32)
    # Right beside seen skin its own colour goes on, so that no border shows.
    distance = cv2.distanceTransform((~sure).astype(np.uint8), cv2.DIST_L2, 5) / np.float32(TONE_REACH * unit)
    beside = np.exp(-distance)[..., None]
    known = sure.astype(np.float32)
    sums = np.asarray(cv2.GaussianBlur(photo * known[..., None], (0, 0), KEPT_DETAIL * unit), np.float32)
    around = np.maximum(np.asarray(cv2.GaussianBlur(known, (0, 0), KEPT_DETAIL * unit)), 1e-3)[..., None]
    seen = fill_from(np.asarray(sums / around, np.float32), sure, reduce)
    return np.asarray(mixed + (seen - mixed) * beside, np.float32)
