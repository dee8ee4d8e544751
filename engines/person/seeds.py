"""Places where each material surely is, from which its colours are learnt first."""

from __future__ import annotations

import cv2
import numpy as np

from engines.base import Mask
from engines.person.colour_models import Region, Skin, histogram
from engines.person.evidence import FEW, LIKE_SKIN, Evidence
from engines.person.naming import HAIR, LOWER, SKIN, UPPER
from engines.person.networks import Floats
from engines.person.skirts import on_thighs, skirt_beside_legs

_BALD = 1.0
"""Roughness of skin on the crown, in CIELAB units; hair is above."""

_CHEST_END, _SURE = 0.6, 0.05
"""Height down to which there is surely a top, unless the waist is found elsewhere, and how far above that it is sure;
shoulders 0, hips 1."""


def skin_samples(seen: Evidence) -> list[Floats]:
    """Colours of the face and of both hands."""
    body, inside = seen.body, seen.inside
    height, width = body.shape
    places = []
    if body.face.measured:
        core = body.face.mask(height, width, 0.75) & inside
        places.append(seen.lab[core])
    broad = Skin(places)
    likely = seen.likeness_to(broad) > LIKE_SKIN
    for limb in body.arms:
        hand = inside & (limb.offset < 0.8) & (limb.position > 2.1) & (limb.position < 2.8) & likely
        if hand.sum() > FEW and (not body.face.measured or broad.resembles(np.median(seen.lab[hand], axis=0))):
            places.append(seen.lab[hand])
    return places


def skin_elsewhere(seen: Evidence, owners: Mask, known: Skin) -> list[Floats]:
    """Colours of neck, arms and legs, darker or lighter than the face, where the first round is sure of skin."""
    body = seen.body
    sure = cv2.erode((owners == SKIN).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    arm, along = body.arm.offset, body.arm.position
    neck = sure & (body.below_chin > 0.05) & (body.height < 0.25) & (body.aside < 0.3)
    places = [neck, sure & (arm < 0.8) & (along > 0.6), sure & (body.height > 1.2)]
    colours = [seen.lab[place] for place in places if place.sum() > FEW]
    return [colour for colour in colours if known.resembles(np.median(colour, axis=0))]


def seeded(seen: Evidence, waist: float | None) -> dict[int, Floats]:
    """Colour models from the places where each material surely is; a top may have other colours below the chest."""
    body, inside = seen.body, seen.inside
    like_skin = seen.skin > LIKE_SKIN
    chest_end = _CHEST_END if waist is None else waist - _SURE
    chest = inside & (body.height > 0.2) & (body.height < chest_end) & (body.aside < 0.42)
    plain = chest & ~like_skin
    top = plain if plain.sum() > 0.25 * chest.sum() else chest & (body.height > 0.35)
    thigh, skirt = on_thighs(seen, waist), skirt_beside_legs(seen, waist)
    plain = thigh & ~like_skin
    bottom = plain | skirt if plain.sum() > 0.2 * thigh.sum() else thigh
    return {
        UPPER: histogram(seen.cells, top if top.sum() > FEW else chest),
        LOWER: histogram(seen.cells, bottom),
        HAIR: histogram(seen.cells, _hair_seed(seen, like_skin)),
    }


def _hair_seed(seen: Evidence, like_skin: Region) -> Region:
    """What surrounds the face from the eyes upwards; on a bald head only what is no skin.

    Blond and ginger hair has the colour of skin, so colour alone cannot tell it from a bald head: brightness changes
    from lock to lock can.
    """
    body = seen.body
    grown = body.face.mask(*body.shape, scale=1.06)
    crown = seen.inside & ~grown & (body.head < 1.1) & (body.below_chin < -0.75)
    bald = crown.sum() > 0 and (crown & like_skin).sum() > 0.6 * crown.sum() and _roughness(seen, crown) < _BALD
    return crown & ~like_skin if bald else crown


def _roughness(seen: Evidence, where: Region) -> float:
    """Median change of lightness over a fiftieth of the shoulders' breadth, in CIELAB units."""
    size = 2 * max(1, round(0.02 * seen.body.breadth)) + 1
    lightness = np.ascontiguousarray(seen.lab[..., 0])
    change = np.abs(lightness - cv2.boxFilter(lightness, cv2.CV_32F, (size, size)))
    return float(np.median(change[where]))
