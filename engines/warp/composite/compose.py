"""Plate, drape and photo become one picture."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.channels import on_channels
from engines.garment.regions import BoolMask, window_of
from engines.warp.blending import blended
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.composite.front import hands_in_front, head_in_front
from engines.warp.composite.layers import Layers, Scene, casting, layers_of
from engines.warp.composite.piece_light import PieceLight, lit_level, read_light
from engines.warp.composite.shadows import (
    SHADOW_GONE,
    contact_shadow,
    crease_beside,
    shaded,
    shadow_of_cuffs,
    shadow_on_shoes,
    weaker_on_neck,
)
from engines.warp.grain import grain_where_smooth, white_noise
from engines.warp.pieces import Piece

GARMENT_SHADOW, SLEEVE_SHADOW, HEAD_SHADOW = 0.45, 0.56, 0.22
"""Depth of the contact shadows of the garment on skin and trousers, of sleeves on torso and arms, of head and hands
on the garment."""

TOP_SHADOW, TOP_REACH = 0.55, 0.042
"""The same of a top on the trousers or the skirt that it hangs over, and its reach in shoulder widths: the hem lies on
them."""

SHOE_SHADOW, SHOE_REACH = 0.75, 0.060
"""The same of a leg of trousers on the shoe it rests on."""

GARMENT_REACH, SLEEVE_REACH, HEAD_REACH = 0.034, 0.036, 0.03
"""Reach of those shadows, in shoulder widths."""

ABOVE_ARMPIT, SEAM_FADES, USUAL_ARMPIT = 0.05, 0.12, 0.25
"""How far above its armpit a sleeve begins to throw a shadow on the torso, over which height that comes in, and where
armpits usually are, in torso lengths; farther up both are one surface."""


FADE_FROM, FADE_UNTIL = 0.09, 0.13
"""Distance from the old and the new garment up to which shadows and fills are drawn, and from which on no pixel is
touched, in shoulder widths."""


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
    layers = layers_of(scene)
    picture = _with_front(scene, layers, _dressed(scene, layers), seed)
    np.clip(picture, 0, 1, out=picture)
    zone = scene.old | (layers.cover > 0)
    return _kept_outside(picture, scene.photo, zone, scene.person_map.labels, scene.body.shoulder_width)


def _kept_outside(
    picture: NDArray[np.float32], photo: NDArray[np.float32], garments: BoolMask, labels: NDArray[np.uint8], unit: float
) -> NDArray[np.float32]:
    """The picture where garments are and were, and the photo, to the last bit, everywhere else.

    Args:
        picture: ``(h, w, 3)`` float32, 0 to 1, finished.
        photo: The same as it was.
        garments: ``(h, w)`` bool, the old and the new one.
        labels: ``(h, w)`` of `Label`; cuffs of trousers may be called shoes.
        unit: Shoulder width in pixels.
    """
    zone = garments
    if (labels[garments] == Label.LOWER).any():
        zone = garments | (labels == Label.FEET)
    if not zone.any():
        return photo
    window, kept = window_of(zone, round(FADE_UNTIL * unit) + 1), photo.copy()
    away = cv2.distanceTransform((~zone[window]).astype(np.uint8), cv2.DIST_L2, 5) / np.float32(unit)
    share = on_channels(ease(np.asarray((FADE_UNTIL - away) / (FADE_UNTIL - FADE_FROM), dtype=np.float32)))
    before = photo[window]
    kept[window] = np.where(share > 0, before + (picture[window] - before) * share, before)
    return kept


def _dressed(scene: Scene, layers: Layers) -> NDArray[np.float32]:
    """The plate with the garment and the bare arms before it."""
    photo, body, unit = scene.photo, scene.body, scene.body.shoulder_width
    person = scene.plate.person
    light = read_light(photo, scene.old, body, scene.drape.pieces)
    plate = scene.plate.picture
    casts = casting(layers)
    shadow = weaker_on_neck(contact_shadow(casts, GARMENT_REACH * unit, GARMENT_SHADOW), body)
    cuffs = [piece.alpha for piece in layers.sleeves.values()]
    falls = shadow_of_cuffs(cuffs, layers.bare_arms, GARMENT_REACH * unit, GARMENT_SHADOW) if cuffs else shadow
    worn_over = _worn_over(scene, layers)
    fallen = 1 - (1 - shadow) * person * (1 - worn_over)
    if any(piece.name.endswith("leg") for piece in layers.base):
        shoes = (scene.person_map.labels == Label.FEET) * person
        fallen = np.minimum(fallen, shadow_on_shoes(casts, shoes, SHOE_REACH * unit, SHOE_SHADOW))
    picture = shaded(plate, fallen)
    below_top = _below_top(scene, layers, worn_over)
    before = np.maximum.reduce([layers.bare_arms, *(piece.alpha for piece in layers.sleeves.values())])
    factors = [light.on_base(piece, before, sleeved=bool(layers.sleeves)) for piece in layers.base]
    level = lit_level(layers.base, factors)
    for piece, factor in zip(layers.base, factors, strict=True):
        picture = _laid_over(picture, piece, factor * below_top / level)
    on_arms = 1 - (1 - falls) * layers.under_cuffs * person
    bare = shaded(plate, on_arms)
    picture = blended(picture, bare, layers.bare_arms)
    fallen += (1 - fallen) * layers.on_body
    fallen += (on_arms - fallen) * layers.bare_arms
    return _with_sleeves(picture, fallen, layers, (light, level), np.maximum(person, layers.on_body))


def _with_sleeves(
    picture: NDArray[np.float32],
    fallen: NDArray[np.float32],
    layers: Layers,
    lit: tuple[PieceLight, np.float32],
    below: NDArray[np.float32],
) -> NDArray[np.float32]:
    """The picture with the sleeves and their shadow.

    Args:
        picture: ``(h, w, 3)`` float32, with everything that lies below them.
        fallen: ``(h, w)`` factor of the shadows that have fallen on it. Shadows do not add up: a sleeve's only makes
            it as dark as itself.
        layers: The garment.
        lit: Light on its pieces, and how much of it falls on its torso where that is lit.
        below: ``(h, w)`` cover of what a shadow may fall on: the person and the garment's own torso.
    """
    light, level = lit
    body, picture, fallen = light.body, picture.copy(), fallen.copy()
    reach = SLEEVE_REACH * body.shoulder_width
    for piece in layers.sleeves.values():
        window = window_of(piece.alpha > 0, round(SHADOW_GONE * reach))
        if piece.alpha[window].size:
            falls = ease((body.heights[window] - _armpit(piece, body)) / SEAM_FADES) * below[window]
            shadow = contact_shadow(piece.alpha[window], reach, SLEEVE_SHADOW)
            crease = 1 - (1 - crease_beside(piece.alpha[window], body.shoulder_width)) * layers.on_body[window]
            shadow = 1 - (1 - shadow * crease) * falls
            picture[window] = shaded(picture[window], np.minimum(shadow / fallen[window], 1))
            fallen[window] = np.minimum(fallen[window], shadow)
        picture = _laid_over(picture, piece, light.on_sleeve(piece) / level)
    return picture


def _armpit(sleeve: Piece, body: BodyModel) -> float:
    """Height at which a sleeve begins to throw a shadow on the torso, torso lengths below the shoulders."""
    seam = (sleeve.mesh[:2].reshape(-1, 2) - body.skeleton.shoulders) @ body.skeleton.down / body.torso_length
    return (float(seam.max()) if seam.size else USUAL_ARMPIT) - ABOVE_ARMPIT


def _with_front(scene: Scene, layers: Layers, picture: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    """The picture with grain, and with hair, face and hands before the garment, whose shadow falls on it."""
    photo, unit = scene.photo, scene.body.shoulder_width
    covers = {side: piece.alpha for side, piece in layers.sleeves.items()}
    hands = hands_in_front(photo, scene.person_map, scene.body, layers.places, sleeves=covers)
    front = np.maximum(head_in_front(photo, scene.person_map), hands)
    shade = contact_shadow(front, HEAD_REACH * unit, HEAD_SHADOW)
    on_cloth = layers.cover * (1 - layers.bare_arms)
    picture = shaded(picture, 1 - on_cloth * (1 - shade))
    picture += _grain_missing(scene, picture, layers.cover, seed)
    return blended(picture, photo, front)


def _worn_over(scene: Scene, layers: Layers) -> NDArray[np.float32]:
    """``(h, w)`` cover of a top that hangs over the new trousers or skirt: no shadow of theirs falls on it."""
    if scene.tucked_into or scene.body.waist.tucked or any(piece.name == "torso" for piece in layers.base):
        return np.zeros(scene.body.shape, dtype=np.float32)
    top = (scene.person_map.labels == Label.UPPER) & ~scene.old
    return np.asarray(cv2.GaussianBlur(top.astype(np.float32), (0, 0), 0.7), dtype=np.float32)


def _below_top(scene: Scene, layers: Layers, worn_over: NDArray[np.float32]) -> NDArray[np.float32] | np.float32:
    """Factor of the shadow of a top that stays on the new trousers or skirt below it."""
    unit = scene.body.shoulder_width
    top, reach, depth = worn_over, TOP_REACH * unit, TOP_SHADOW
    if not worn_over.any():
        return np.float32(1)
    # Light on the garment alone is asked for, and not far below the top.
    margin = round(SHADOW_GONE * reach)
    rows, columns = window_of(layers.on_body > 0, margin)
    seen = np.flatnonzero((top[rows, columns] > 0).any(axis=1))
    factor = np.ones(top.shape, np.float32)
    if len(seen):
        window = slice(rows.start, min(rows.start + int(seen[-1]) + margin, rows.stop)), columns
        factor[window] = contact_shadow(np.ascontiguousarray(top[window], np.float32), reach, depth)
    return factor


def _laid_over(picture: NDArray[np.float32], piece: Piece, factor: NDArray[np.float32]) -> NDArray[np.float32]:
    window = piece.window
    alpha = on_channels(piece.alpha[window])
    cloth = np.minimum(shaded(piece.colour[window], factor[window]), alpha)
    laid = picture.copy()
    laid[window] = picture[window] * (1 - alpha) + cloth
    return laid


def _grain_missing(
    scene: Scene, picture: NDArray[np.float32], cover: NDArray[np.float32], seed: int
) -> NDArray[np.float32]:
    """Noise of the strength that the photo has on the person and the cloth lacks."""
    labels = scene.person_map.labels
    wanted = grain_where_smooth(scene.photo, (labels != Label.BACKGROUND) & (labels != Label.HAIR))
    own = grain_where_smooth(picture, cover > 0.9)
    noise = white_noise((cover.shape[0], cover.shape[1]), seed)
    lacking = np.float32(np.sqrt(max(wanted**2 - own**2, 0.0)))
    return np.asarray(on_channels(lacking * noise * cover), dtype=np.float32)
