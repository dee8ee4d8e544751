"""Plate, drape and photo become one picture."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label, PersonMap
from engines.garment.regions import BoolMask, dilated
from engines.labels import labelled_as
from engines.warp.body.model import LEFT, RIGHT, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.composite.arms import ArmPlace, arm_places, arms_in_front, arms_left_alone, hidden_by_body
from engines.warp.composite.drawn_folds import arm_folds, leg_folds, torso_folds
from engines.warp.composite.form import broad_light, chest_and_belly, falling_light, roundness
from engines.warp.composite.front import hands_in_front, head_in_front
from engines.warp.composite.hanging_folds import hanging_folds
from engines.warp.composite.rims import without_rim
from engines.warp.composite.shading import bounded, exposure, folds_of_old_cloth
from engines.warp.composite.shadows import contact_shadow, shadow_of_arms
from engines.warp.composite.sharpness import crisper, edge_blur
from engines.warp.composite.zone import kept_outside
from engines.warp.pieces import Drape, Piece
from engines.warp.plate.fill import grain_of

CLOTH_BLUR = 0.55
"""Edge blur of cloth as it comes out of the rasteriser, pixels."""

GARMENT_SHADOW, SLEEVE_SHADOW, HEAD_SHADOW = 0.52, 0.45, 0.28
"""Depth of the contact shadows of the garment on skin and trousers, of sleeves on torso and arms, of head and hands
on the garment."""

GARMENT_REACH, SLEEVE_REACH, HEAD_REACH = 0.042, 0.022, 0.03
"""Reach of those shadows, in shoulder widths."""

SEAM_FROM = 0.17
"""Height below which a sleeve throws a shadow on the torso, in torso lengths; above, both are one surface."""

BELOW_HIPS = 1.1
"""Height below which there are two legs and not one body, in torso lengths."""

LEAST_RED = 0.04
"""How much redder than blue a person's skin is at least if that is to tell it from a wall."""

FOLDS_SEEN = 0.7
"""Share of the drawn folds that is left out where those of the old cloth are taken over."""

ARM_RIM, HAND_RIM = 2, 1
"""Width of the rims of arms and hands that are mixed with what was behind them, pixels."""

SIDE_NAMES = {LEFT: "left", RIGHT: "right"}


@dataclass(frozen=True)
class Scene:
    """Everything the compositor looks at.

    Attributes:
        photo: ``(h, w, 3)`` float32 sRGB, 0 to 1, as it was before this garment.
        plate: The same without the old garment.
        person_map: Of the photo.
        body: Measured from it.
        old: ``(h, w)`` bool, the old garment.
        drape: The new one.
    """

    photo: NDArray[np.float32]
    plate: NDArray[np.float32]
    person_map: PersonMap
    body: BodyModel
    old: BoolMask
    drape: Drape


def compose(scene: Scene, seed: int) -> NDArray[np.float32]:
    """Draw the garment into the plate.

    Order: plate, shadow of the garment, torso and legs, bare arms in front of them, sleeves with their shadow,
    head and hands.

    Args:
        scene: The layers.
        seed: Of the grain.

    Returns:
        ``(h, w, 3)`` float32 sRGB, 0 to 1.
    """
    photo, body, unit = scene.photo, scene.body, scene.body.shoulder_width
    person = _still_person(scene)
    blur = edge_blur(photo, body.matte > 0.3)
    exposed = np.float32(exposure(photo, scene.person_map))
    pieces = [_softened(piece, blur, exposed) for piece in scene.drape.pieces]
    base = [piece for piece in pieces if not piece.name.endswith("sleeve")]
    places = arm_places(body)
    on_body = Drape(tuple(base), {}).alpha
    sleeves = [_behind_body(piece, body, places, on_body) for piece in pieces if piece.name.endswith("sleeve")]
    cover = Drape((*base, *sleeves), {}).alpha

    plate = _blended(scene.plate, photo, arms_left_alone(scene.old, body, places))
    picture = plate * _on_person(contact_shadow(cover, GARMENT_REACH * unit, GARMENT_SHADOW), person)
    folds, believed = folds_of_old_cloth(photo, scene.old, unit)
    broad = broad_light(photo, scene.old, body)
    light = folds * falling_light(body, broad)
    lacking = 1 - FOLDS_SEEN * believed
    sleeve_ends = {side: scene.drape.checks.get(f"{name}_sleeve_end", 0.0) for side, name in SIDE_NAMES.items()}
    covers = {LEFT if piece.name.startswith("left") else RIGHT: piece.alpha for piece in sleeves}
    bare_arms = arms_in_front(scene.old, body, places, sleeve_ends, sleeves=covers, cloth=on_body)
    arms = np.maximum.reduce([bare_arms, *(piece.alpha for piece in sleeves)])
    on_legs = leg_folds(body, lacking) if any(piece.name.endswith("leg") for piece in base) else light
    for piece in base:
        factor = light * roundness(piece, body, broad, below_armpit=bool(sleeves))
        if piece.name == "torso":
            factor = factor * shadow_of_arms(arms, body) * torso_folds(body, lacking) * chest_and_belly(body)
        elif piece.name.endswith("leg"):
            factor = factor * on_legs
        if piece.name in ("torso", "skirt"):
            factor = factor * hanging_folds(piece, body)
        picture = _laid_over(picture, piece, bounded(factor, unit))
    picture = _blended(picture, without_rim(plate, bare_arms, ARM_RIM), bare_arms)
    # What a sleeve throws its shadow on is the garment's own torso as well.
    under_sleeves = np.maximum(person, on_body[..., None])
    sleeve_light = light * arm_folds(body, lacking) if sleeves else light
    for piece in sleeves:
        shadow = contact_shadow(piece.alpha, SLEEVE_REACH * unit, SLEEVE_SHADOW)
        shadow = 1 - (1 - shadow) * ease((body.heights - SEAM_FROM) / 0.12)
        picture = np.asarray(picture * _on_person(shadow, under_sleeves), dtype=np.float32)
        factor = sleeve_light * roundness(piece, body, broad, below_armpit=False)
        picture = _laid_over(picture, piece, bounded(factor, unit))

    picture = crisper(picture, np.maximum(cover - bare_arms, 0), blur)
    hands = hands_in_front(photo, scene.person_map, body, places, covers)
    front = np.maximum(head_in_front(photo, scene.person_map), hands)
    shade = contact_shadow(front, HEAD_REACH * unit, HEAD_SHADOW)
    on_cloth = cover * (1 - bare_arms)
    picture = picture * (1 - on_cloth[..., None] * (1 - shade[..., None]))
    picture = picture + _grain_missing(scene, cover, seed)
    # Before the wall hands keep the edges that they have.
    picture = _blended(picture, without_rim(photo, hands, HAND_RIM, dilated(cover > 0.5, HAND_RIM + 1)), front)
    picture = np.clip(picture, 0, 1).astype(np.float32)
    return kept_outside(picture, photo, scene.old | (cover > 0), scene.person_map.labels, unit)


def _blended(
    picture: NDArray[np.float32], over: NDArray[np.float32], cover: NDArray[np.float32]
) -> NDArray[np.float32]:
    left, top, width, height = cv2.boundingRect((cover > 0).astype(np.uint8))
    window = (slice(top, top + height), slice(left, left + width))
    blended = picture.copy()
    blended[window] += (over[window] - picture[window]) * cover[window][..., None]
    return blended


def _still_person(scene: Scene) -> NDArray[np.float32]:
    """``(h, w, 1)`` cover of the person without their old garment, beside which the wall is seen now."""
    person = scene.person_map.matte.astype(np.float32) / 255.0
    # What the old garment leaves open between the shoulders is skin.
    beside = np.abs(scene.body.laterals) > 0.35
    if (scene.person_map.labels[scene.old] == Label.LOWER).any():
        # Between the legs there is wall.
        beside |= (scene.body.heights > BELOW_HIPS) & (scene.body.leg_distance > 1.0)
    gone = dilated(scene.old, 4) & beside & ~_bared_limbs(scene)
    soft = cv2.GaussianBlur(gone.astype(np.float32), (0, 0), 1.5)
    return np.asarray(person * (1 - soft), dtype=np.float32)[..., None]


def _bared_limbs(scene: Scene) -> NDArray[np.bool_]:
    """``(h, w)`` arms and legs that the old garment hid: skin of the plate where a limb can be."""
    body = scene.body
    skin = labelled_as(body.labels, (Label.ARMS, Label.HANDS, Label.FACE))
    nothing = np.zeros(body.shape, dtype=bool)
    if not skin.any():
        return nothing
    usual = float(np.median(_redness(scene.photo[skin][::7])))
    if usual < LEAST_RED:
        return nothing
    limb = (body.arm_distance < 1.0) | ((body.heights > BELOW_HIPS) & (body.leg_distance < 1.0))
    return np.asarray(limb & (_redness(scene.plate) > 0.5 * usual), dtype=np.bool_)


def _redness(colours: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(colours[..., 0] - colours[..., 2], dtype=np.float32)


def _on_person(factor: NDArray[np.float32], person: NDArray[np.float32]) -> NDArray[np.float32]:
    """A shadow that falls on the person only, not on the wall behind."""
    return np.asarray(1 - (1 - factor[..., None]) * person, dtype=np.float32)


def _laid_over(picture: NDArray[np.float32], piece: Piece, factor: NDArray[np.float32]) -> NDArray[np.float32]:
    left, top, width, height = cv2.boundingRect((piece.alpha > 0).astype(np.uint8))
    window = (slice(top, top + height), slice(left, left + width))
    alpha = piece.alpha[window][..., None]
    shaded = np.minimum(piece.colour[window] * factor[window][..., None], alpha)
    laid = picture.copy()
    laid[window] = picture[window] * (1 - alpha) + shaded
    return laid


def _behind_body(sleeve: Piece, body: BodyModel, places: dict[int, ArmPlace], on_body: NDArray[np.float32]) -> Piece:
    """A sleeve without what hips and trousers in front of its arm hide; on the garment's own torso it lies in front."""
    side = LEFT if sleeve.name.startswith("left") else RIGHT
    hidden = hidden_by_body(body, side, places[side].seen)
    if not hidden.any():
        return sleeve
    open_share = 1 - hidden * (1 - on_body)
    return replace(sleeve, colour=sleeve.colour * open_share[..., None], alpha=sleeve.alpha * open_share)


def _softened(piece: Piece, blur: float, exposed: np.float32) -> Piece:
    """The piece as bright as the photo lets it be, with edges as soft as the photo's own."""
    colour = piece.colour * exposed
    lacking = blur**2 - CLOTH_BLUR**2
    if lacking < 0.04:
        return replace(piece, colour=colour)
    sigma = float(np.sqrt(lacking))
    colour = np.asarray(cv2.GaussianBlur(colour, (0, 0), sigma), dtype=np.float32)
    alpha = np.asarray(cv2.GaussianBlur(piece.alpha, (0, 0), sigma), dtype=np.float32)
    return replace(piece, colour=colour, alpha=alpha)


def _grain_missing(scene: Scene, cover: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    """Noise of the strength that the photo has on the person and the cloth lacks."""
    labels = scene.person_map.labels
    wanted = grain_of(scene.photo, (labels != Label.BACKGROUND) & (labels != Label.HAIR))
    noise = np.random.default_rng(seed).standard_normal(cover.shape, np.float32)
    return np.asarray((np.float32(0.7 * wanted) * noise * cover)[..., None], dtype=np.float32)
