"""Plate, drape and photo become one picture."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label, PersonMap
from engines.garment.regions import BoolMask, dilated
from engines.warp.body.model import LEFT, RIGHT, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.channels import largest_channel
from engines.warp.composite.front import arms_in_front, hands_in_front, head_in_front
from engines.warp.composite.shading import bounded, contact_shadow, folds_of_old_cloth, roundness, shadow_of_arms
from engines.warp.composite.sharpness import edge_blur
from engines.warp.pieces import Drape, Piece
from engines.warp.plate.fill import grain_of

CLOTH_BLUR = 0.55
"""Edge blur of cloth as it comes out of the rasteriser, pixels."""

GARMENT_SHADOW, SLEEVE_SHADOW, HEAD_SHADOW = 0.30, 0.28, 0.24
"""Depth of the contact shadows of the garment on skin and trousers, of sleeves on the torso, of head and hands
on the garment."""

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
    pieces = [_softened(piece, blur) for piece in scene.drape.pieces]
    base = [piece for piece in pieces if not piece.name.endswith("sleeve")]
    sleeves = [piece for piece in pieces if piece.name.endswith("sleeve")]
    cover = scene.drape.alpha

    picture = scene.plate * _on_person(contact_shadow(cover, 0.02 * unit, GARMENT_SHADOW), person)
    light = folds_of_old_cloth(photo, scene.old, unit) * np.float32(_exposure(photo, scene.person_map))
    sleeve_ends = {side: scene.drape.checks.get(f"{name}_sleeve_end", 0.0) for side, name in SIDE_NAMES.items()}
    bare_arms = arms_in_front(photo, scene.old, body, sleeve_ends)
    arms = np.maximum.reduce([bare_arms, *(piece.alpha for piece in sleeves)])
    for piece in base:
        factor = light * roundness(piece, body, below_armpit=bool(sleeves))
        if piece.name == "torso":
            factor = factor * shadow_of_arms(arms, body)
        picture = _laid_over(picture, piece, bounded(factor, unit))
    picture = _blended(picture, scene.plate, bare_arms)
    for piece in sleeves:
        shadow = 1 - (1 - contact_shadow(piece.alpha, 0.018 * unit, SLEEVE_SHADOW)) * ease((body.heights - 0.22) / 0.15)
        picture = np.asarray(picture * _on_person(shadow, person), dtype=np.float32)
        picture = _laid_over(picture, piece, bounded(light * roundness(piece, body, below_armpit=False), unit))

    front = np.maximum(head_in_front(photo, scene.person_map), hands_in_front(scene.person_map))
    shade = contact_shadow(front, 0.03 * unit, HEAD_SHADOW)
    picture = picture * (1 - cover[..., None] * (1 - shade[..., None]))
    picture = picture + _grain_missing(scene, cover, seed)
    picture = _blended(picture, photo, front)
    return np.clip(picture, 0, 1).astype(np.float32)


def _blended(
    picture: NDArray[np.float32], over: NDArray[np.float32], cover: NDArray[np.float32]
) -> NDArray[np.float32]:
    return np.asarray(picture + (over - picture) * cover[..., None], dtype=np.float32)


def _still_person(scene: Scene) -> NDArray[np.float32]:
    """``(h, w, 1)`` cover of the person without their old garment, beside which the wall is seen now."""
    person = scene.person_map.matte.astype(np.float32) / 255.0
    # What the old garment leaves open between the shoulders is skin.
    gone = dilated(scene.old, 4) & (np.abs(scene.body.laterals) > 0.35)
    soft = cv2.GaussianBlur(gone.astype(np.float32), (0, 0), 1.5)
    return np.asarray(person * (1 - soft), dtype=np.float32)[..., None]


def _on_person(factor: NDArray[np.float32], person: NDArray[np.float32]) -> NDArray[np.float32]:
    """A shadow that falls on the person only, not on the wall behind."""
    return np.asarray(1 - (1 - factor[..., None]) * person, dtype=np.float32)


def _laid_over(picture: NDArray[np.float32], piece: Piece, factor: NDArray[np.float32]) -> NDArray[np.float32]:
    shaded = piece.colour * factor[..., None]
    return np.asarray(picture * (1 - piece.alpha[..., None]) + np.minimum(shaded, piece.alpha[..., None]), np.float32)


def _exposure(photo: NDArray[np.float32], person_map: PersonMap) -> float:
    """Factor that keeps cloth from being brighter than the brightest parts of a dim photo."""
    person = person_map.matte > 127
    if not person.any():
        return 1.0
    return float(np.clip(np.percentile(largest_channel(photo)[person], 97) / 0.96, 0.90, 1.0))


def _softened(piece: Piece, blur: float) -> Piece:
    """The piece with edges as soft as the photo's own."""
    lacking = blur**2 - CLOTH_BLUR**2
    if lacking < 0.04:
        return piece
    sigma = float(np.sqrt(lacking))
    colour = np.asarray(cv2.GaussianBlur(piece.colour, (0, 0), sigma), dtype=np.float32)
    alpha = np.asarray(cv2.GaussianBlur(piece.alpha, (0, 0), sigma), dtype=np.float32)
    return replace(piece, colour=colour, alpha=alpha)


def _grain_missing(scene: Scene, cover: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    """Noise of the strength that the photo has on the person and the cloth lacks."""
    labels = scene.person_map.labels
    wanted = grain_of(scene.photo, (labels != Label.BACKGROUND) & (labels != Label.HAIR))
    noise = np.random.default_rng(seed).standard_normal(cover.shape, np.float32)
    return np.asarray((np.float32(0.7 * wanted) * noise * cover)[..., None], dtype=np.float32)
