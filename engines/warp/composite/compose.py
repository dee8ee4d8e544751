"""Plate, drape and photo become one picture."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label, PersonMap
from engines.channels import on_channels
from engines.regions import BoolMask, window_of
from engines.warp.body.model import LEFT, RIGHT, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.composite.arms import arms_in_front
from engines.warp.composite.front import hands_in_front, head_in_front
from engines.warp.composite.light import exposure, read_light
from engines.warp.composite.shadows import SHADOW_GONE, contact_shadow, shaded
from engines.warp.painting import blended, grain_where_smooth, white_noise
from engines.warp.plate.lay import Plate
from engines.warp.ribbon import Drape, Piece

GARMENT_SHADOW, SLEEVE_SHADOW, HEAD_SHADOW = 0.45, 0.56, 0.22
"""Depth of the contact shadows of the garment on skin and trousers, of sleeves on torso and arms, of head and hands
on the garment."""

GARMENT_REACH, SLEEVE_REACH, HEAD_REACH = 0.034, 0.036, 0.03
"""Reach of those shadows, in shoulder widths."""

TOP_SHADOW, TOP_REACH = 0.55, 0.042
"""The same of a top on the trousers or the skirt that it hangs over: the hem lies on them."""

SHOE_SHADOW, SHOE_REACH = 0.75, 0.060
"""The same of a leg of trousers on the shoe it rests on: hardly any light gets under its hem."""

ABOVE_ARMPIT, SEAM_FADES, USUAL_ARMPIT = 0.05, 0.12, 0.25
"""How far above its armpit a sleeve begins to throw a shadow on the torso, over which height that comes in, and where
armpits usually are, in torso lengths; farther up both are one surface."""

FADE_FROM, FADE_UNTIL = 0.09, 0.13
"""Distance from the old and the new garment up to which shadows and fills are drawn, and from which on no pixel is
touched, in shoulder widths."""

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
        tucked_into: Whether a top that was put on before it is tucked into it.
    """

    photo: NDArray[np.float32]
    plate: Plate
    person_map: PersonMap
    body: BodyModel
    old: BoolMask
    drape: Drape
    tucked_into: bool = False


@dataclass(frozen=True)
class _Layers:
    """The new garment and the arms, in their order of overlap.

    Attributes:
        base: Torso, legs or skirt.
        sleeves: By picture side.
        on_body: ``(h, w)`` cover of ``base``.
        cover: ``(h, w)`` of the whole garment.
        bare_arms: ``(h, w)`` cover of what of the arms lies before its torso.
    """

    base: tuple[Piece, ...]
    sleeves: dict[int, Piece]
    on_body: NDArray[np.float32]
    cover: NDArray[np.float32]
    bare_arms: NDArray[np.float32]


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
    layers = _layers_of(scene)
    picture = _with_front(scene, layers, _dressed(scene, layers), seed)
    np.clip(picture, 0, 1, out=picture)
    return _kept_outside(picture, scene, layers.cover > 0)


def _layers_of(scene: Scene) -> _Layers:
    """Lay the garment's pieces over one another, in the light of the photo."""
    body, checks = scene.body, scene.drape.checks
    exposed = np.float32(exposure(scene.photo, scene.person_map))
    pieces = [replace(piece, colour=piece.colour * exposed) for piece in scene.drape.pieces]
    base = tuple(piece for piece in pieces if not piece.name.endswith("sleeve"))
    sleeves = {
        LEFT if piece.name.startswith("left") else RIGHT: piece for piece in pieces if piece.name.endswith("sleeve")
    }
    ends = {side: checks.get(f"{name}_sleeve_end", 0.0) for side, name in SIDE_NAMES.items()}
    return _Layers(
        base,
        sleeves,
        Drape(base, {}).alpha,
        Drape((*base, *sleeves.values()), {}).alpha,
        arms_in_front(scene.old, body, ends),
    )


def _dressed(scene: Scene, layers: _Layers) -> NDArray[np.float32]:
    """The plate with the garment and the bare arms before it."""
    body, unit, person, plate = scene.body, scene.body.shoulder_width, scene.plate.person, scene.plate.picture
    light = read_light(scene.photo, scene.old, body, scene.drape.pieces)
    top = _worn_over(scene, layers)
    casts = layers.cover
    for piece in layers.base:
        if piece.behind is not None:
            # Cloth behind the neck throws no shadow on it.
            casts = np.maximum(casts - piece.behind, 0.0)
    shadow = contact_shadow(casts, GARMENT_REACH * unit, GARMENT_SHADOW)
    fallen = 1 - (1 - shadow) * person * (1 - top)
    if any(piece.name.endswith("leg") for piece in layers.base):
        on_shoes = contact_shadow(casts, SHOE_REACH * unit, SHOE_SHADOW)
        fallen = np.minimum(fallen, 1 - (1 - on_shoes) * person * (scene.person_map.labels == Label.FEET))
    picture = shaded(plate, fallen)
    below_top = contact_shadow(top, TOP_REACH * unit, TOP_SHADOW) if top.any() else np.float32(1)
    for piece in layers.base:
        picture = _laid_over(picture, piece, light.on(piece, below_armpit=bool(layers.sleeves)) * below_top)
    picture = blended(picture, plate, layers.bare_arms)
    # Shadows do not add up: a sleeve's shadow darkens the surface below at most to its own depth.
    fallen += (1 - fallen) * layers.on_body
    fallen += (1 - fallen) * layers.bare_arms
    below, reach = np.maximum(person, layers.on_body), SLEEVE_REACH * unit
    for piece in layers.sleeves.values():
        window = window_of(piece.alpha > 0, round(SHADOW_GONE * reach))
        if piece.alpha[window].size:
            falls = ease((body.heights[window] - _armpit(piece, body)) / SEAM_FADES) * below[window]
            shadow = 1 - (1 - contact_shadow(piece.alpha[window], reach, SLEEVE_SHADOW)) * falls
            picture[window] = shaded(picture[window], np.minimum(shadow / fallen[window], 1))
            fallen[window] = np.minimum(fallen[window], shadow)
        picture = _laid_over(picture, piece, light.on(piece))
    return picture


def _worn_over(scene: Scene, layers: _Layers) -> NDArray[np.float32]:
    """``(h, w)`` cover of a top that hangs over the new trousers or skirt: its shadow falls on them, and not theirs."""
    if scene.tucked_into or scene.body.waist.tucked or any(piece.name == "torso" for piece in layers.base):
        return np.zeros(scene.body.shape, dtype=np.float32)
    top = (scene.person_map.labels == Label.UPPER) & ~scene.old
    return np.asarray(cv2.GaussianBlur(top.astype(np.float32), (0, 0), 0.7), dtype=np.float32)


def _armpit(sleeve: Piece, body: BodyModel) -> float:
    """Height at which a sleeve begins to throw a shadow on the torso, torso lengths below the shoulders."""
    seam = (sleeve.mesh[:2].reshape(-1, 2) - body.skeleton.shoulders) @ body.skeleton.down / body.torso_length
    return (float(seam.max()) if seam.size else USUAL_ARMPIT) - ABOVE_ARMPIT


def _laid_over(picture: NDArray[np.float32], piece: Piece, factor: NDArray[np.float32]) -> NDArray[np.float32]:
    window = piece.window
    alpha = on_channels(piece.alpha[window])
    cloth = np.minimum(shaded(piece.colour[window], factor[window]), alpha)
    laid = picture.copy()
    laid[window] = picture[window] * (1 - alpha) + cloth
    return laid


def _with_front(scene: Scene, layers: _Layers, picture: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    """The picture with grain, and with hair, face and hands before the garment, whose shadow falls on it."""
    photo, unit, labels = scene.photo, scene.body.shoulder_width, scene.person_map.labels
    sleeves = {side: piece.alpha for side, piece in layers.sleeves.items()}
    hands = hands_in_front(photo, labels, unit, scene.body.arm_places, sleeves)
    front = np.maximum(head_in_front(photo, labels), hands)
    shade = contact_shadow(front, HEAD_REACH * unit, HEAD_SHADOW)
    picture = shaded(picture, 1 - layers.cover * (1 - layers.bare_arms) * (1 - shade))
    # Noise of the strength that the photo has on the person and the cloth lacks.
    wanted = grain_where_smooth(photo, (labels != Label.BACKGROUND) & (labels != Label.HAIR))
    own = grain_where_smooth(picture, layers.cover > 0.9)
    noise = white_noise((labels.shape[0], labels.shape[1]), seed)
    lacking = np.float32(np.sqrt(max(wanted**2 - own**2, 0.0)))
    picture += on_channels(lacking * noise * layers.cover)
    return blended(picture, photo, front)


def _kept_outside(picture: NDArray[np.float32], scene: Scene, new: BoolMask) -> NDArray[np.float32]:
    """The finished picture where garments are and were, and the photo, to the last bit, everywhere else."""
    labels, photo, unit = scene.person_map.labels, scene.photo, scene.body.shoulder_width
    zone = scene.old | new
    if (labels[zone] == Label.LOWER).any():
        # Cuffs of trousers may be called shoes.
        zone = zone | (labels == Label.FEET)
    if not zone.any():
        return photo
    window, kept = window_of(zone, round(FADE_UNTIL * unit) + 1), photo.copy()
    away = cv2.distanceTransform((~zone[window]).astype(np.uint8), cv2.DIST_L2, 5) / np.float32(unit)
    share = on_channels(ease(np.asarray((FADE_UNTIL - away) / (FADE_UNTIL - FADE_FROM), dtype=np.float32)))
    before = photo[window]
    kept[window] = np.where(share > 0, before + (picture[window] - before) * share, before)
    return kept
