"""Skin where clothes used to be: the person's own tone, on the limbs and the torso that the body model expects."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Category, Label
from engines.regions import BoolMask, closed, eroded, labelled_as, window_of
from engines.warp.body.bare_parts import CAP_SLEEVE, BarePart, bare_arm, bare_leg, bare_torso, clothed_until
from engines.warp.body.limbs import Limb
from engines.warp.body.model import LEFT, NECK_RISE, SIDES, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.skin.tone import BODY_LABELS, SKIN_LABELS, led_to_seen, skin_texture, skin_tone, sure_skin

UNDER_HEM = {Label.ARMS: 0.02, Label.LEGS: 0.03}
"""How far skin goes on under a sleeve and under a trouser leg, as a share of arm and leg."""

LIMB_DEPTH, TORSO_DEPTH = 0.25, 0.25
"""How much darker skin is at the edge of a limb than on its axis, and at the sides of the torso below the
armpits."""

TILT = 0.07
"""How much lighter the outer edge of a limb is than its axis: beside the inner one stands the body."""

SHEEN, SHEEN_WIDTH = 0.05, 0.36
"""How much lighter the middle of a limb shines, and half the width of that stripe, in half widths of the limb."""

ARMPIT = (0.07, 0.18)
"""Between these heights, or shares of an arm, the edge between torso and arm comes into being."""

LEAST_SHARE, FORM_BLUR = 0.05, 0.012
"""Share of the body around a pixel beside it from which that lies in the body's shade, and over how far around, in
shoulder widths (standard deviation)."""

OLD_SHADOW = 0.08
"""Width of the strip of seen skin in the shadow of an old cuff or hem, in shoulder widths: its tone is not led on."""

NOTCH, SHOULDER_CURVE = 0.16, 0.05
"""Radius of the notch between the slope beside the neck and the round of the shoulder, and standard deviation with
which their outline is made one curve, in shoulder widths."""

BESIDE_CHEST, SHOULDER_UNTIL = 0.28, 0.25
"""How far beside the axis shoulders begin, in shoulder widths, and the height at which they end, in torso lengths."""

EDGE_SIGMA, EDGE_STEEPNESS = 2.0, 3.2
"""Pixels over which an edge of invented skin is straightened, and how much steeper than that it is."""

JOINT, SHADOW_REACH, SHADOW = 0.055, 0.13, 0.10
"""Width of the strip of seen skin into which invented skin fades, how far from its hem the shadow of an old garment is
looked for, both in shoulder widths, and by how much darker than invented skin that is for certain, of full white."""

LIKE_SKIN, INK_BLUR = (0.45, 0.7), 2.0
"""Colourfulness over that of invented skin from which what is seen may be skin, and from which it is: the ink of a
tattoo is not faded; and over how many pixels it is averaged."""


@dataclass(frozen=True)
class BareBody:
    """Where the parts of a body would be seen if it wore nothing.

    Attributes:
        limbs: Whole arms and legs by the label of their skin and by picture side.
        torso: Neck, shoulders, chest and midriff.
    """

    limbs: dict[Label, dict[int, BarePart]]
    torso: BarePart

    def both(self, kind: Label) -> BoolMask:
        """``(height, width)``: both arms or both legs."""
        return self.limbs[kind][LEFT].on | self.limbs[kind][-LEFT].on


@dataclass(frozen=True)
class BareSkin:
    """Invented skin over the whole picture.

    Attributes:
        colour: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        cover: ``(height, width)`` float32, 0 to 1: where a bare body would be seen.
    """

    colour: NDArray[np.float32]
    cover: NDArray[np.float32]


def bare_body(body: BodyModel) -> BareBody:
    """Find where the parts of a bare body would be seen."""
    limbs = {
        Label.ARMS: {side: bare_arm(body, side, 0.0) for side in SIDES},
        Label.LEGS: {side: bare_leg(body, side, 0.0) for side in SIDES},
    }
    return BareBody(limbs, bare_torso(body))


def bare_skin(
    photo: NDArray[np.float32],
    body: BodyModel,
    naked: BareBody,
    clothed: NDArray[np.float32],
    from_old: NDArray[np.float32],
    *,
    category: Category,
) -> BareSkin:
    """Paint the skin that a new garment leaves open.

    A limb is bare only beyond the end of its new sleeve or leg. What the old sleeve covered beside the new one
    is no skin but what is behind the person.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        body: The body in the photo.
        naked: The same without clothes.
        clothed: ``(height, width)`` cover of the new garment, 0 to 1.
        from_old: ``(height, width)`` distance from the old garment, pixels.
        category: Of the new garment: it bares no other part of the body than those it covers.
    """
    unit, upper, lower = body.shoulder_width, category is Category.UPPER_BODY, category is Category.LOWER_BODY
    kinds = [kind for kind, kept in ((Label.ARMS, lower), (Label.LEGS, upper)) if not kept]
    cover, sleeveless = np.zeros(body.shape, bool), not lower
    if not lower or body.waist.bare_midriff:
        # The outermost pixels of neck and chest are mixed with the old cloth and drawn anew.
        cover = naked.torso.on | labelled_as(body.labels, (Label.NECK, Label.TORSO_SKIN))
    for kind in kinds:
        for side in SIDES:
            limb = body.arms[side] if kind is Label.ARMS else body.legs[side]
            opened = _opened(naked.limbs[kind][side], limb, clothed, kind)
            cover |= opened.on
            sleeveless &= kind is not Label.ARMS or opened.begin <= 0.0
    if sleeveless:
        cover = _with_round_shoulders(cover, body)
    colour = photo.copy()
    if cover.any():
        shade = _shade(body, naked.torso, [part for kind in kinds for part in naked.limbs[kind].values()])
        # Legs lie in another light than chest, belly and arms.
        tone = skin_tone(photo, body, shade, BODY_LABELS[:-1] if upper else BODY_LABELS)
        window = window_of(cover, round(0.05 * unit) + 4)
        flat, sure = tone.under(shade, window), sure_skin(body)
        lit = sure & ((from_old > OLD_SHADOW * unit) | (body.labels == Label.NECK))
        parts = (naked.torso.on[window], naked.both(Label.ARMS)[window], naked.both(Label.LEGS)[window])
        flat += led_to_seen(photo[window] - flat, body.labels[window], lit[window], parts, unit)
        colour[window] = np.clip(flat * skin_texture(photo, sure, cover[window].shape), 0.0, 1.0)
    return BareSkin(colour, antialiased(cover))


def _opened(whole: BarePart, limb: Limb, clothed: NDArray[np.float32], kind: Label) -> BarePart:
    """What of a limb comes out of the new clothes, and a share of its length more.

    A sleeve so short that the round of the shoulder is bare leaves the whole arm. On a leg what lies further down is
    its own: ripped trousers go on below their holes.
    """
    leg = kind is Label.LEGS
    begin = clothed_until(limb, clothed, *([1.0] if leg else [])) - UNDER_HEM[kind]
    if begin <= (0.0 if leg else CAP_SLEEVE):
        return whole
    return replace(whole, on=whole.on & (whole.share >= begin), begin=begin)


def _with_round_shoulders(cover: BoolMask, body: BodyModel) -> BoolMask:
    """Both shoulders in one curve from the foot of the neck down the outer side of the arm.

    The slope beside the neck, the tip of the shoulder and the arm meet in notches and corners otherwise.
    """
    unit = body.shoulder_width
    foot = -NECK_RISE * unit / body.torso_length
    asked = (body.heights > foot) & (body.heights < SHOULDER_UNTIL) & (np.abs(body.laterals) > BESIDE_CHEST)
    if not (asked & cover).any():
        return cover
    window = window_of(asked & cover, round(3 * NOTCH * unit))
    seen = labelled_as(body.labels[window], SKIN_LABELS)
    filled = cover[window] | seen
    upper = asked[window] & (body.heights[window] < ARMPIT[0])
    filled |= closed(filled, max(2, round(NOTCH * unit))) & upper
    soft = cv2.GaussianBlur(filled.astype(np.float32), (0, 0), max(SHOULDER_CURVE * unit, 1.0))
    curved = cover.copy()
    # What is seen keeps its outline, but for the outermost pixels, which are as often the lining of a cuff.
    curved[window] = np.where(asked[window] & ~eroded(seen, 2), np.asarray(soft) > 0.5, cover[window])
    return curved


def antialiased(mask: BoolMask) -> NDArray[np.float32]:
    """A mask's cover, ``(height, width)`` float32, with its staircase edge made one smooth line."""
    cover = np.zeros(mask.shape, np.float32)
    window = window_of(mask, round(4 * EDGE_SIGMA))
    if mask[window].size:
        blurred = cv2.GaussianBlur(mask[window].astype(np.float32), (0, 0), EDGE_SIGMA)
        cover[window] = ease((np.asarray(blurred) - 0.5) * np.float32(EDGE_STEEPNESS) + 0.5)
    return cover


def _shade(body: BodyModel, torso: BarePart, limbs: list[BarePart]) -> NDArray[np.float32]:
    """Factors of about 1 on the bare body, seen or not, ``(height, width)``: everything on it is round."""
    shade, on = np.ones(body.shape, np.float32), torso.on.copy()
    below_armpit = ease((body.heights[on] - ARMPIT[0]) / (ARMPIT[1] - ARMPIT[0]))
    shade[on] = 1.0 - TORSO_DEPTH * np.abs(torso.across[on]).clip(0.0, 1.0) ** 2.5 * below_armpit
    for part in limbs:
        across = part.across[part.on]
        own = (1.0 - LIMB_DEPTH * across.clip(-1.0, 1.0) ** 2) * (1.0 + TILT * part.side * across)
        own += SHEEN * (np.exp(-((across / SHEEN_WIDTH) ** 2)) - 0.75)
        # Limbs are in front of the torso, but at its shoulder an arm is one surface with it: no inner edge there.
        apart = ease((part.share[part.on] - ARMPIT[0]) / (ARMPIT[1] - ARMPIT[0]))
        apart = np.where(torso.on[part.on] & (across * body.laterals[part.on] < 0), apart, np.float32(1.0))
        shade[part.on] += (own - shade[part.on]) * apart
        on |= part.on
    # The wall around the body has no shade that could blur into its dark edges.
    sigma = max(1.5, FORM_BLUR * body.shoulder_width)
    share = np.asarray(cv2.GaussianBlur(on.astype(np.float32), (0, 0), sigma), np.float32)
    within = cv2.GaussianBlur(shade * on, (0, 0), sigma) / np.maximum(share, LEAST_SHARE)
    return np.where(share > LEAST_SHARE, within, np.float32(1.0)).astype(np.float32)


def faded_into_seen(
    photo: NDArray[np.float32],
    skin: NDArray[np.float32],
    from_old: NDArray[np.float32],
    labels: NDArray[np.uint8],
    unit: float,
) -> NDArray[np.float32]:
    """How far invented skin fades into seen skin: the shadow that a cuff or neckline threw there goes with it.

    Hands and faces have lines of their own, and a tattoo is less coloured than skin: they stay.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        skin: The invented skin, of the same shape.
        from_old: ``(height, width)`` distance from the old garment, pixels.
        labels: ``(height, width)`` of `Label`.
        unit: Shoulder width in pixels.

    Returns:
        ``(height, width)`` float32, 0 to 1.
    """
    share = np.zeros(labels.shape, np.float32)
    beside = (from_old < SHADOW_REACH * unit) & labelled_as(labels, BODY_LABELS)
    if not beside.any():
        return share
    window = window_of(beside, round(3 * INK_BLUR))
    near, seen, invented = beside[window], photo[window], skin[window]
    around = np.asarray(cv2.GaussianBlur(seen, (0, 0), INK_BLUR), np.float32)
    ratio = _warmth(around) / np.maximum(_warmth(invented), 0.02)
    like_skin = ease((ratio[near] - LIKE_SKIN[0]) / (LIKE_SKIN[1] - LIKE_SKIN[0]))
    darker = (invented[near].sum(axis=1) - seen[near].sum(axis=1)) / np.float32(3.0)
    distance = from_old[beside] / np.float32(unit)
    in_shadow = ease(1.25 * (1.0 - distance / SHADOW_REACH)) * ease(darker / SHADOW) * like_skin
    share[beside] = np.maximum(ease(1.25 * (1.0 - distance / JOINT)), in_shadow)
    return share


def _warmth(colours: NDArray[np.float32]) -> NDArray[np.float32]:
    """How colourful skin is, by what its red is stronger than its blue."""
    return np.asarray((colours[..., 0] - colours[..., 2]) / np.maximum(colours[..., 0], 0.05), np.float32)
