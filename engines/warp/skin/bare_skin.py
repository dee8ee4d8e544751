"""Skin where clothes used to be: the person's own tone, on the limbs and the torso that the body model expects."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.channels import on_channels
from engines.garment.regions import closed, dilated, window_of
from engines.labels import labelled_as
from engines.warp.body.bare_parts import CAP_SLEEVE, BarePart, bare_arm, bare_leg, bare_torso, clothed_until
from engines.warp.body.limbs import Limb
from engines.warp.body.model import LEFT, SIDES, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.skin.joint import led_to_seen
from engines.warp.skin.light import (
    ARMPIT,
    SkinLight,
    hem_shade,
    limb_lights,
    limb_shade,
    lit_from_around,
    shade_of_arms,
    torso_shade,
)
from engines.warp.skin.shoulder_outline import curved, one_shoulder_line
from engines.warp.skin.smooth_edge import antialiased
from engines.warp.skin.texture import coloured_texture, skin_texture
from engines.warp.skin.tone import BODY_LABELS, skin_tone, sure_skin

LEAST_SHARE = 0.05
"""Share of the body around a pixel beside it from which that lies in the body's shade."""

UNDER_HEM = (0.02, 0.03)
"""How far skin goes on under a sleeve and under a trouser leg, as a share of arm and leg."""

CUFF_SHADOW = 0.08
"""Width of the strip of a limb in the shadow of its old cuff or hem, in shoulder widths: its tone is not led on."""

UNDER_EDGE = 3
"""Width of the rim of a garment under which no torso lies, pixels."""

BELLY = 0.45
"""Height from which the skin of a torso is a belly's, in torso lengths."""

UPPER_SKIN = (Label.NECK, Label.TORSO_SKIN, Label.ARMS)
"""Skin whose tone bared chests, bellies and arms have; legs lie in another light."""

LEG_GRAIN = 0.2
"""How much coarser the skin of legs is than that of arms and chest."""

BELOW_ARMPIT = 0.38
"""Height from which a garment goes round the body, torso lengths below the shoulders; above it armholes are open."""

WORN = 0.5
"""Cover from which a pixel of the axis is cloth."""

LACE = 0.03
"""Radius of the holes that cloth may have, in shoulder widths."""

ROUND_HEM = 0.12
"""How far above the middle of a hem its ends may lie, in shoulder widths; below them is the body and not the wall."""


@dataclass(frozen=True)
class BareSkin:
    """Invented skin over the whole picture.

    Attributes:
        colour: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        cover: ``(height, width)`` float32, 0 to 1: where a bare body would be seen.
        arms: Both whole arms by picture side.
        legs: Both whole legs by picture side.
        torso: ``(height, width)``, the torso without the arms before it.
    """

    colour: NDArray[np.float32]
    cover: NDArray[np.float32]
    arms: dict[int, BarePart]
    legs: dict[int, BarePart]
    torso: NDArray[np.bool_]


def bare_skin(
    photo: NDArray[np.float32],
    body: BodyModel,
    naked: BareBody,
    clothed: NDArray[np.float32],
    from_old: NDArray[np.float32],
    *,
    torso: bool,
    arms: bool,
    legs: bool,
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
        torso: Whether chest and midriff may be bared.
        arms: Whether the arms may be bared.
        legs: Whether the legs may be bared.
    """
    bare, lights, middle = naked.limbs, naked.lights, naked.torso
    kinds = ([Label.ARMS] if arms else []) + ([Label.LEGS] if legs else [])
    whole = [(bare[kind][side], lights[kind][side]) for kind in kinds for side in SIDES]
    opened: list[BarePart] = []
    for side in SIDES:
        if arms:
            opened.append(_opened(bare[Label.ARMS][side], body.arms[side], clothed, UNDER_HEM[0]))
        if legs:
            opened.append(_opened(bare[Label.LEGS][side], body.legs[side], clothed, UNDER_HEM[1]))
    # The outermost pixels of neck and chest are mixed with the old cloth and drawn anew.
    seen = labelled_as(body.labels, (Label.NECK, Label.TORSO_SKIN))
    # Under the half transparent edge of a garment, too, there is the wall.
    wall = dilated(beside_garment(body, clothed), UNDER_EDGE) if torso else np.ones(body.shape, bool)
    cover = (middle.on & ~wall) | (seen & torso)
    for part in opened:
        cover |= part.on
    if torso and arms:
        cover = one_shoulder_line(cover, body)
    if torso and arms and all(part.begin <= 0.0 for part in opened if part.bend < 0.0):
        cover = curved(cover, body)
    colour = _coloured(photo, body, cover, from_old, torso=middle, whole=whole, opened=opened, bare=bare)
    before = bare[Label.ARMS][LEFT].on | bare[Label.ARMS][-LEFT].on
    return BareSkin(colour, antialiased(cover), bare[Label.ARMS], bare[Label.LEGS], middle.on & ~before)


def _opened(whole: BarePart, limb: Limb, clothed: NDArray[np.float32], under_hem: float) -> BarePart:
    """What of a limb comes out of the new clothes, and a share of its length more.

    A sleeve so short that the round of the shoulder is bare leaves the whole arm.
    """
    leg = whole.bend > 0.0
    # What lies further down on a leg is its own: ripped trousers go on below their holes.
    begin = clothed_until(limb, clothed, *([1.0] if leg else [])) - under_hem
    if begin <= (0.0 if leg else CAP_SLEEVE):
        return whole
    return replace(whole, on=whole.on & (whole.share >= begin), begin=begin)


def _coloured(
    photo: NDArray[np.float32],
    body: BodyModel,
    cover: NDArray[np.bool_],
    from_old: NDArray[np.float32],
    *,
    torso: BarePart,
    whole: list[tuple[BarePart, SkinLight]],
    opened: list[BarePart],
    bare: dict[Label, dict[int, BarePart]],
) -> NDArray[np.float32]:
    """Skin in its light where it is wanted, ``(height, width, 3)``, and anything elsewhere.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        body: The body in the photo.
        cover: ``(height, width)``, where skin is wanted.
        from_old: ``(height, width)`` distance from the old garment, pixels.
        torso: The bare torso.
        whole: The limbs that may be bared, with their light.
        opened: What of them comes out of the new clothes.
        bare: All limbs by the label of their skin and by picture side.
    """
    unit = body.shoulder_width
    arms, legs = (bare[kind][LEFT].on | bare[kind][-LEFT].on for kind in (Label.ARMS, Label.LEGS))
    shade = _shade(body, torso, whole) * shade_of_arms(torso.on, arms, body)
    belly = torso.on & ~arms & ~legs
    shade[belly] = lit_from_around(shade[belly])
    upper = not any(part.bend > 0.0 for part, _ in whole)
    # A belly lies in the shadow of the hem above it, a chest not in that of its neckline.
    by_hem = from_old < CUFF_SHADOW * unit
    shaded = by_hem & (body.labels == Label.TORSO_SKIN) & (body.heights > BELLY)
    lit_body = body.relabelled(np.where(shaded, np.uint8(Label.OTHER), body.labels))
    tone = skin_tone(photo, lit_body, shade, UPPER_SKIN if upper else BODY_LABELS)
    window = window_of(cover, round(0.05 * unit) + 4)
    colour = photo.copy()
    if not cover.any():
        return colour
    colour[window] = tone.under(shade, window)
    sure = sure_skin(body)
    parts = (torso.on[window], arms[window], legs[window])
    lit = sure & ~shaded & ~(labelled_as(body.labels, (Label.ARMS, Label.LEGS)) & by_hem)
    colour[window] += led_to_seen(photo[window] - colour[window], body.labels[window], lit[window], parts, unit)
    form = np.ones(body.shape, np.float32)
    for part in opened:
        form[part.on] *= hem_shade(part, unit)
    bared = [part for part in opened if part.bend > 0.0]
    texture = skin_texture(photo, sure, colour[window].shape[:2])
    if bared:
        texture += (texture - 1.0) * (np.float32(LEG_GRAIN) * legs[window])
    colour[window] *= coloured_texture(texture)
    colour[window] = np.clip(colour[window] * on_channels(_smooth(form, unit)[window]), 0.0, 1.0)
    return colour


def _shade(body: BodyModel, torso: BarePart, limbs: list[tuple[BarePart, SkinLight]]) -> NDArray[np.float32]:
    """Factors of about 1 on the bare body, seen or not, ``(height, width)``."""
    unit = body.shoulder_width
    shade = np.ones(body.shape, np.float32)
    shade[torso.on] = torso_shade(torso, body.heights)
    for part, light in limbs:
        # Limbs are in front of the torso, but at its shoulder an arm is one surface with it: no inner edge there.
        own = np.ones(int(part.on.sum()), np.float32)
        towards_axis = part.across[part.on] * body.laterals[part.on] < 0
        own[towards_axis] = _own_surface(part.share[part.on][towards_axis])
        on_torso = torso.on[part.on]
        own = np.where(on_torso, own, 1.0)
        shade[part.on] += (limb_shade(part, light) - shade[part.on]) * own
    # The wall around the body has no shade that could blur into its dark edges.
    on = torso.on.copy()
    for part, _ in limbs:
        on |= part.on
    share = _smooth(on.astype(np.float32), unit)
    within = _smooth((shade * on).astype(np.float32), unit) / np.maximum(share, LEAST_SHARE)
    return np.where(share > LEAST_SHARE, within, np.float32(1.0))


def _own_surface(share: NDArray[np.float32]) -> NDArray[np.float32]:
    """0 where an arm goes over into the torso to 1 from where it hangs free, by share of its length."""
    return ease((share - ARMPIT[0]) / (ARMPIT[1] - ARMPIT[0]))


def _smooth(values: NDArray[np.float32], unit: float) -> NDArray[np.float32]:
    return np.asarray(cv2.GaussianBlur(values, (0, 0), max(1.5, 0.012 * unit)), np.float32)


@dataclass(frozen=True)
class BareBody:
    """All of a body as if it wore nothing.

    Attributes:
        limbs: Whole arms and legs by the label of their skin and by picture side.
        lights: On each of these.
        torso: Neck, shoulders, chest and midriff.
    """

    limbs: dict[Label, dict[int, BarePart]]
    lights: dict[Label, dict[int, SkinLight]]
    torso: BarePart


def bare_body(photo: NDArray[np.float32], body: BodyModel) -> BareBody:
    """Find where the parts of a bare body would be seen, and how light falls on them.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        body: The body in the photo.
    """
    limbs = {
        Label.ARMS: {side: bare_arm(body, side, 0.0) for side in SIDES},
        Label.LEGS: {side: bare_leg(body, side, 0.0) for side in SIDES},
    }
    return BareBody(limbs, limb_lights(photo, body.labels, limbs), bare_torso(body))


def beside_garment(body: BodyModel, clothed: NDArray[np.float32]) -> NDArray[np.bool_]:
    """What lies to the left and the right of a closed garment.

    The body in the photo is as wide as its old clothes; a new garment may be narrower.

    Args:
        body: The body in the photo.
        clothed: ``(height, width)`` cover of the new garment, 0 to 1.

    Returns:
        ``(height, width)``; nothing in rows where the axis of the body is bare.
    """
    bone = body.skeleton
    height, width = body.shape
    along = (np.arange(height) - bone.shoulders[1]) / max(float(bone.down[1]), 0.1)
    axis = np.rint(bone.shoulders[0] + along * bone.down[0]).astype(np.int64)
    worn = (axis >= 0) & (axis < width) & (along > BELOW_ARMPIT * body.torso_length)
    worn[worn] = clothed[worn, axis[worn]] > WORN
    beside = np.zeros(body.shape, bool)
    rows = np.flatnonzero(worn)
    if not len(rows):
        return beside
    span = slice(int(rows[0]), int(rows[-1]) + 1)
    cloth = closed(clothed[span] > WORN, max(1, round(LACE * body.shoulder_width)))
    right_of = np.arange(width)[None] >= axis[span, None]
    right, left = np.logical_or.accumulate(~cloth & right_of, axis=1), ~cloth & ~right_of
    left = np.logical_or.accumulate(left[:, ::-1], axis=1)[:, ::-1]
    # A hem goes round the body: what lies below its higher ends is not beside it.
    hem = cloth[-max(1, round(ROUND_HEM * body.shoulder_width)) :]
    under = np.zeros_like(cloth)
    under[len(cloth) - len(hem) :] = np.logical_or.accumulate(hem, axis=0) & ~hem
    beside[span] = (right | left) & worn[span, None] & ~under
    return beside
