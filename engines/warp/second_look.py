"""A second look at the labels, by colour: dark linings taken for hair, and hardware taken for hands."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label, Landmark, PersonMap
from engines.channels import all_channels, brightness
from engines.filling import fill_from
from engines.garment.regions import BoolMask, dilated, eroded, opened, pieces, reaching, spread, window_of
from engines.labels import labelled_as
from engines.warp.body.model import BodyModel

SKIN_LABELS = (Label.NECK, Label.TORSO_SKIN, Label.ARMS)

SKIN_DARKER, SKIN_BRIGHTER = 40.0, 38.0
"""How much darker (in the shadow of the chin) or brighter than the face skin may be, CIE L."""

SKIN_HUE = 17.0
"""Largest difference from the face in a or b."""

LEAST_CHROMA = 0.45
"""Skin keeps at least this share of the face's colourfulness, in the direction of its hue; metal and white do not."""

HAIR_TOLERANCE = (30.0, 13.0, 15.0)
"""Largest difference of L, a and b between hair on the shoulders and hair around the face, regions averaged."""

FACE_ROOM = 0.06
"""How far a face reaches beyond its outermost landmark, in distances of the outermost ones; ear rings are nearer."""

NECK_ZONE = 0.60
"""Half width of the space above the shoulders where a collar may stand, in shoulder widths."""

MOST_DOUBTED = 0.25
"""Largest area of bare skin that may be doubted, in squared shoulder widths: more is real skin in another light."""

LEAST_ALONG_CLOTH = 0.4
"""Edge that cloth taken for skin or hair shares with the garment, over the edge shared with skin and hair."""

LARGEST_PATCH = 0.015
"""Area up to which a thing surrounded by cloth is a badge or a buckle on it, in squared shoulder widths."""


SLIVER = 0.04
"""Half width up to which what touches the garment is too thin to be a thing of its own, in shoulder widths."""

LIKE_CLOTH = 0.06
"""Largest difference of a sliver of cloth from the cloth beside it, in units of full white."""


def looked_at_again(photo: NDArray[np.float32], person_map: PersonMap, body: BodyModel) -> PersonMap:
    """Count what has neither the colour of skin nor of hair to the upper garment.

    Args:
        photo: ``(h, w, 3)`` float32 sRGB, 0 to 1.
        person_map: Of the photo.
        body: Measured from it.

    Returns:
        The same map, or a copy with some labels changed to `Label.UPPER`.
    """
    labels = person_map.labels
    face = eroded(labels == Label.FACE, 4)
    if face.sum() < 60:
        return person_map
    lab = _colours_of_person(photo, labels, blur=max(1.0, 0.008 * body.shoulder_width))
    skin = np.median(lab[face], axis=0)
    alike = _like(lab, skin)
    doubted = _skin_of_another_colour(alike, labels, body.shoulder_width)
    lining = _hair_of_another_colour(lab, person_map, body)
    doubted |= lining | _collar_around_head(lab, alike, person_map, lining)
    doubted = _beside_cloth(doubted, labels)
    changed = np.where(doubted, np.uint8(Label.UPPER), labels)
    # Last, since a ring of metal lies within cloth only once the skin beside it is known to be cloth.
    changed[_patches_on_cloth(alike, changed, body.shoulder_width)] = Label.UPPER
    changed[_rings_beside_neck(changed, body)] = Label.UPPER
    changed[_slivers_of_cloth(photo, changed, body.shoulder_width)] = Label.UPPER
    if np.array_equal(changed, labels):
        return person_map
    return replace(person_map, labels=changed)


def _colours_of_person(photo: NDArray[np.float32], labels: NDArray[np.uint8], blur: float) -> NDArray[np.float32]:
    """``(h, w, 3)`` CIE Lab of the blurred photo; 0 farther away from the person than the blur reaches."""
    lab = np.zeros(photo.shape, dtype=np.float32)
    window = window_of(labels != Label.BACKGROUND, round(4 * blur) + 1)
    smooth = np.asarray(cv2.GaussianBlur(photo[window], (0, 0), blur), dtype=np.float32)
    lab[window] = cv2.cvtColor(smooth, cv2.COLOR_RGB2LAB)
    return lab


def _like(lab: NDArray[np.float32], skin: NDArray[np.float32]) -> BoolMask:
    difference = lab - skin
    light = (difference[..., 0] > -SKIN_DARKER) & (difference[..., 0] < SKIN_BRIGHTER)
    hue = skin[1:] / max(float(np.linalg.norm(skin[1:])), 1e-3)
    coloured = lab[..., 1] * hue[0] + lab[..., 2] * hue[1] > LEAST_CHROMA * float(np.linalg.norm(skin[1:]))
    return np.asarray(
        light & coloured & (np.abs(difference[..., 1]) < SKIN_HUE) & (np.abs(difference[..., 2]) < SKIN_HUE)
    )


def _skin_of_another_colour(alike: BoolMask, labels: NDArray[np.uint8], unit: float) -> BoolMask:
    doubted = opened(labelled_as(labels, SKIN_LABELS) & ~alike, 2)
    return doubted if doubted.sum() < MOST_DOUBTED * unit**2 else np.zeros_like(doubted)


def _beside_cloth(doubted: BoolMask, labels: NDArray[np.uint8]) -> BoolMask:
    """Those regions that hang on to the garment: a collar does, a tattoo, an ear ring and pale light on skin do not."""
    count, numbered = cv2.connectedComponents(doubted.astype(np.uint8))
    if count == 1:
        return doubted
    cloth, rest = labels == Label.UPPER, (labels != Label.UPPER) & (labels != Label.BACKGROUND) & ~doubted
    along_cloth, along_rest = (
        np.bincount(numbered[doubted & dilated(beside, 2)], minlength=count) for beside in (cloth, rest)
    )
    return np.asarray(doubted & (along_cloth > LEAST_ALONG_CLOTH * along_rest)[numbered])


def _collar_around_head(lab: NDArray[np.float32], alike: BoolMask, person_map: PersonMap, lining: BoolMask) -> BoolMask:
    """What is called face or hair below the ears and is neither: a collar standing off the neck.

    Args:
        lab: ``(h, w, 3)`` CIE Lab.
        alike: ``(h, w)`` bool, of the face's colour.
        person_map: Of the photo.
        lining: ``(h, w)`` bool, cloth already found in the hair, which may go on upwards.
    """
    labels, points = person_map.labels, person_map.landmarks[: Landmark.MOUTH_RIGHT + 1, :2]
    ears, mouth = points[[Landmark.LEFT_EAR, Landmark.RIGHT_EAR]], points[[Landmark.MOUTH_LEFT, Landmark.MOUTH_RIGHT]]
    outer, inner = (points[:, 0].min(), points[:, 0].max()), (mouth[:, 0].min(), mouth[:, 0].max())
    room = FACE_ROOM * max(float(outer[1] - outer[0]), 1.0)
    rows, columns = np.ogrid[: alike.shape[0], : alike.shape[1]]
    below = rows > float(ears[:, 1].max())
    beyond = (columns < outer[0] - room) | (columns > outer[1] + room)
    face = (labels == Label.FACE) & ~alike & below
    hair = (labels == Label.HAIR) & below
    seeds = (face & beyond) | lining
    if not seeds.any():
        return np.asarray(seeds)
    # Cheeks end half way between ear and mouth; a beard is within.
    beside_cheeks = (columns < (outer[0] + inner[0]) / 2) | (columns > (outer[1] + inner[1]) / 2)
    asked = np.asarray((face | hair) & beside_cheeks)
    if hair.any():
        usual = np.median(lab[labels == Label.HAIR], axis=0)
        asked[asked] = ~all_channels(np.abs(lab[asked] - usual) < HAIR_TOLERANCE)
    return spread(seeds, asked)


def _slivers_of_cloth(photo: NDArray[np.float32], labels: NDArray[np.uint8], unit: float) -> BoolMask:
    """Folds in the shade: along the garment and of its colour, and too thin to be anything that one could carry."""
    found = np.asarray(labels == Label.OTHER)
    if not found.any():
        return found
    window = window_of(found, round(0.2 * unit))
    things, cloth = found[window], labels[window] == Label.UPPER
    slivers = reaching(things & ~opened(things, max(2, round(SLIVER * unit))), dilated(cloth, 1))
    found[window] = False
    if slivers.any():
        beside = fill_from(photo[window], eroded(cloth, 2), 4)
        smooth = np.asarray(cv2.GaussianBlur(photo[window], (0, 0), 0.8), np.float32)
        found[window] = slivers & (brightness(np.abs(smooth - beside)) < LIKE_CLOTH)
    return found


def _rings_beside_neck(labels: NDArray[np.uint8], body: BodyModel) -> BoolMask:
    """Things wholly between shoulders and head that touch the garment and no hand: its collar, not a bag or a phone."""
    ring = np.zeros(labels.shape, dtype=bool)
    zone = (body.heights < 0.0) & (np.abs(body.laterals) < NECK_ZONE)
    for around, region in pieces(labels == Label.OTHER, 4):
        beside = labels[around][dilated(region, 3) & ~region]
        if zone[around][region].all() and (beside == Label.UPPER).any() and not (beside == Label.HANDS).any():
            ring[around] |= region
    return ring


def _hair_of_another_colour(lab: NDArray[np.float32], person_map: PersonMap, body: BodyModel) -> BoolMask:
    """Regions of hair below the face that do not have the colour of the hair above."""
    hair = person_map.labels == Label.HAIR
    face_rows = np.flatnonzero((person_map.labels == Label.FACE).any(axis=1))
    chin = int(face_rows[-1] - 0.12 * len(face_rows))
    rows = np.arange(body.shape[0])[:, None]
    above, below = hair & (rows < chin), hair & (rows >= chin)
    if above.sum() < 100 or not below.any():
        return np.zeros_like(hair)
    usual = np.median(lab[above], axis=0)
    strange = np.zeros(hair.shape, dtype=bool)
    for window, region in pieces(below):
        mean = lab[window][region].mean(axis=0, dtype=np.float64)
        if (np.abs(mean - usual) > HAIR_TOLERANCE).any():
            strange[window] |= region
    return strange


def _patches_on_cloth(alike: BoolMask, labels: NDArray[np.uint8], unit: float) -> BoolMask:
    """Hands that are not of the face's colour, and small things, that lie within the garment.

    A gloved hand at the end of a sleeve and a bag beside the person are left alone.
    """
    doubted = np.zeros(labels.shape, dtype=bool)
    for label, least_within in ((Label.HANDS, 0.3), (Label.OTHER, 0.75), (Label.ARMS, 0.75)):
        for around, region in pieces(labels == label, 6):
            rim = dilated(region, 4) & ~region
            within = float((labels[around][rim] == Label.UPPER).mean()) if rim.any() else 0.0
            strange = float(alike[around][region].mean()) < 0.5
            patch = within > 0.5 and region.sum() < LARGEST_PATCH * unit**2
            if within > least_within and (strange or patch):
                doubted[around] |= region
    return doubted
