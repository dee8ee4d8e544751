"""Which pixels of a photo a figure is taken on: old clothes, where new ones belong, what must stay.

Everything is read from the person map, not from the engine's own measure of the body: an engine that misunderstands
the body shall not be judged by its misunderstanding.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Category, Label, Landmark, PersonMap
from engines.regions import BoolMask, eroded, labelled_as

KEPT = (Label.FACE, Label.HAIR, Label.HANDS)
"""What no garment may touch."""

IN_FRONT = (*KEPT, Label.OTHER)
"""What lies over a garment."""

CLOTHED = (Label.UPPER, Label.LOWER, Label.FULL, Label.TORSO_SKIN)

CLOTHES = {
    Category.UPPER_BODY: (Label.UPPER, Label.FULL),
    Category.LOWER_BODY: (Label.LOWER, Label.FULL),
    Category.FULL_BODY: (Label.UPPER, Label.LOWER, Label.FULL),
}
"""What a garment of each category may be called once it is worn."""

MAYBE_CLOTHES = (Label.UPPER, Label.LOWER, Label.FULL, Label.OTHER)
"""What clothes may be taken for when they are taken for something else. They are taken for limbs or walls at rims, and
limbs and walls for them far more often."""

TOP_ENDS, SKIRT_BEGINS = 0.7, 1.1
"""Heights between mid-shoulder (0) and mid-hip (1) up to which a dress is a top for certain, and from which it is a
skirt for certain; between them it may be either and is neither."""

BELOW_NECKLINE = 0.3
"""Height from which every top covers the chest: necklines reach down to here."""

ABOVE_HEM = 0.85
"""Height down to which every top reaches that is not cropped."""

BELOW_WAISTBAND = 0.12
"""Share of the way from hip to knee from which trousers are seen under a top that hangs over them."""

MID_THIGH = 0.5
"""Share of the way from hip to knee down to which shorts and skirts reach."""

LEAST_UNIT = 0.45
"""Least shoulder width in torso lengths: somebody who is turned has a small one, not a small body."""

MIXED_RIM = 3
"""Pixels at the rim of a label that are mixed with its neighbour."""

FOREARM = 0.16
"""Half the width of a sleeved forearm in shoulder widths, generously."""


def shoulder_width(person_map: PersonMap) -> float:
    """The length by which everything is measured, pixels."""
    shoulders, hips = _middle(person_map, "SHOULDER"), _middle(person_map, "HIP")
    apart = _point(person_map, Landmark.LEFT_SHOULDER) - _point(person_map, Landmark.RIGHT_SHOULDER)
    return max(float(np.linalg.norm(apart)), LEAST_UNIT * float(np.linalg.norm(hips - shoulders)), 1.0)


def old_clothes(person_map: PersonMap, category: Category) -> BoolMask:
    """``(h, w)``: what the person wears in the place of a new garment of this category."""
    labels, height = person_map.labels, _heights(person_map)
    upper, lower, dress = (labels == label for label in (Label.UPPER, Label.LOWER, Label.FULL))
    if category is Category.FULL_BODY:
        return np.asarray(upper | lower | dress)
    if category is Category.UPPER_BODY:
        return np.asarray(upper | (dress & (height < TOP_ENDS)))
    return np.asarray(lower | (dress & (height > SKIRT_BEGINS)))


def still_worn(person_map: PersonMap, again: PersonMap, category: Category, new: BoolMask) -> BoolMask:
    """``(h, w)``: clothes of a category seen in the result that are not the new ones, and were no limb or wall before.

    Args:
        person_map: Of the photo.
        again: Of the result.
        category: Of the new garment.
        new: Where it lies.
    """
    beside = distance_from(new) > 2 * MIXED_RIM
    return old_clothes(again, category) & beside & labelled_as(person_map.labels, MAYBE_CLOTHES)


def recognised(again: PersonMap, category: Category, worn: BoolMask) -> float | None:
    """Share of a garment that was put on which a look at the result finds to be clothes of its kind.

    It says how well people in such clothes are understood: here, unlike in any photo, it is known where they are.

    Args:
        again: Of the result.
        category: Of the garment.
        worn: ``(h, w)``, where it is seen.
    """
    return float(labelled_as(again.labels, CLOTHES[category])[worn].mean()) if worn.any() else None


def to_cover(person_map: PersonMap, category: Category) -> BoolMask:
    """``(h, w)``: what any garment of this category covers, less what lies over it.

    The chest between the shoulder joints for tops, the hips down to mid-thigh for trousers and skirts, both for
    dresses. Sleeves, necklines, hems and trouser legs differ and are left out.
    """
    labels = person_map.labels
    region = np.zeros(labels.shape, bool)
    if category is not Category.LOWER_BODY:
        region |= _chest(person_map) & labelled_as(labels, CLOTHED)
    if category is not Category.UPPER_BODY:
        clothed = (Label.LOWER, Label.FULL, Label.LEGS)
        region |= _thighs(person_map) & labelled_as(labels, clothed)
    return region


def distance_from(mask: BoolMask) -> NDArray[np.float32]:
    """``(h, w)`` pixels to the nearest pixel of a mask; infinite where the mask is empty."""
    if not mask.any():
        return np.full(mask.shape, np.inf, np.float32)
    return np.asarray(cv2.distanceTransform((~mask).astype(np.uint8), cv2.DIST_L2, 5), dtype=np.float32)


def kept_parts(person_map: PersonMap) -> BoolMask:
    """``(h, w)``: face, hair and hands without their mixed rims."""
    return eroded(labelled_as(person_map.labels, KEPT), MIXED_RIM)


def forearms(person_map: PersonMap) -> BoolMask:
    """``(h, w)``: where a forearm or a hand may lie in front of the garment, bare or not."""
    region = np.zeros(person_map.labels.shape, np.uint8)
    width = max(1, round(2 * FOREARM * shoulder_width(person_map)))
    for side in ("LEFT", "RIGHT"):
        chain = [_point(person_map, Landmark[f"{side}_{joint}"]) for joint in ("ELBOW", "WRIST", "INDEX")]
        points = np.rint(np.clip(chain, -10_000, 10_000)).astype(np.int32)
        cv2.polylines(region, [points[:, None]], isClosed=False, color=1, thickness=width)
    return region > 0


def _chest(person_map: PersonMap) -> BoolMask:
    left, right = (_point(person_map, mark) for mark in (Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER))
    left_hip, right_hip = (_point(person_map, mark) for mark in (Landmark.LEFT_HIP, Landmark.RIGHT_HIP))
    region = _filled(person_map.labels.shape, [left, right, right_hip, left_hip])
    height = _heights(person_map)
    return region & (height > BELOW_NECKLINE) & (height < ABOVE_HEM)


def _thighs(person_map: PersonMap) -> BoolMask:
    corners = []
    for share in (BELOW_WAISTBAND, MID_THIGH):
        pair = []
        for side in ("LEFT", "RIGHT"):
            hip, knee = (_point(person_map, Landmark[f"{side}_{joint}"]) for joint in ("HIP", "KNEE"))
            pair.append(hip + share * (knee - hip))
        corners += pair if share == BELOW_WAISTBAND else pair[::-1]
    return _filled(person_map.labels.shape, corners)


def _filled(shape: tuple[int, ...], corners: list[NDArray[np.float32]]) -> BoolMask:
    region = np.zeros(shape, np.uint8)
    points = np.rint(np.clip(corners, -10_000, 10_000)).astype(np.int32)
    cv2.fillPoly(region, [points], 1)
    return region > 0


def _heights(person_map: PersonMap) -> NDArray[np.float32]:
    """``(h, w)``: 0 at mid-shoulder, 1 at mid-hip, along the line between them."""
    shoulders, hips = _middle(person_map, "SHOULDER"), _middle(person_map, "HIP")
    axis = hips - shoulders
    y, x = np.indices(person_map.labels.shape, dtype=np.float32)
    along = (x - shoulders[0]) * axis[0] + (y - shoulders[1]) * axis[1]
    return np.asarray(along / max(float(axis @ axis), 1.0), dtype=np.float32)


def _middle(person_map: PersonMap, joint: str) -> NDArray[np.float32]:
    left, right = (_point(person_map, Landmark[f"{side}_{joint}"]) for side in ("LEFT", "RIGHT"))
    return np.asarray((left + right) / 2, dtype=np.float32)


def _point(person_map: PersonMap, mark: Landmark) -> NDArray[np.float32]:
    return np.asarray(person_map.landmarks[mark, :2], dtype=np.float32)
