"""The regions of a photo that a garment may change, for every engine."""

from __future__ import annotations

from collections.abc import Iterable

import cv2
import numpy as np

from engines.base import Category, EngineError, Label, Landmark
from engines.finish.views import Floats, View
from engines.regions import BoolMask, dilated, labelled_as

WORN = {
    Category.UPPER_BODY: (Label.UPPER, Label.FULL, Label.TORSO_SKIN),
    Category.LOWER_BODY: (Label.LOWER, Label.FULL, Label.LEGS),
    Category.FULL_BODY: (Label.UPPER, Label.LOWER, Label.FULL, Label.TORSO_SKIN),
}
"""The labels that a garment replaces."""

_REACHED = {
    Category.UPPER_BODY: (Label.NECK, Label.ARMS),
    Category.LOWER_BODY: (),
    Category.FULL_BODY: (Label.NECK, Label.ARMS, Label.LEGS),
}
"""Further labels of the person that a garment may cover."""

ROOM = {Category.UPPER_BODY: 0.30, Category.LOWER_BODY: 0.30, Category.FULL_BODY: 0.40}
"""How far a garment may stand off the body, in shoulder widths."""

BELOW_HIPS, ABOVE_HIPS = 0.9, 0.35
"""How far tops hang down from the hips and trousers reach up, in lengths of the torso."""

LEAST_SHOWN = 0.005
"""Least share of the photo that shows clothes or bare skin where the garment is to be worn."""

HOW_TO_BE_SHOWN = {
    Category.UPPER_BODY: "Show yourself from head to hips.",
    Category.LOWER_BODY: "Show yourself down to the knees at least.",
    Category.FULL_BODY: "Show yourself from head to knees at least.",
}

_LEG_POINTS = (Landmark.LEFT_HIP, Landmark.RIGHT_HIP, Landmark.LEFT_KNEE, Landmark.RIGHT_KNEE)
_FOOT_POINTS = (Landmark.LEFT_ANKLE, Landmark.RIGHT_ANKLE)


def replaced_by(view: View, categories: Iterable[Category]) -> BoolMask:
    """``(h, w)`` bool: clothes and bare skin where garments of these categories are worn."""
    wanted = tuple(label for category in categories for label in WORN[category])
    return labelled_as(view.labels, wanted)


def check_shown(view: View, categories: Iterable[Category]) -> None:
    """Check that a photo shows the parts of the body on which garments of these categories are worn.

    Raises:
        EngineError: ``pose_not_usable`` when it is cut off above that.
    """
    for category in categories:
        if replaced_by(view, [category]).mean() < LEAST_SHOWN:
            raise EngineError("pose_not_usable", advice=HOW_TO_BE_SHOWN[category])


def changeable(view: View, categories: Iterable[Category]) -> BoolMask:
    """``(h, w)`` bool: the widest region that garments of these categories can change."""
    zone = np.zeros(view.labels.shape, dtype=bool)
    for category in categories:
        zone |= _changeable_by(view, category)
    return zone


def shoulder_width(view: View) -> float:
    """Distance of the shoulders in pixels of the view, at least a tenth of its height for people seen from the side."""
    left, right = view.landmarks[Landmark.LEFT_SHOULDER, :2], view.landmarks[Landmark.RIGHT_SHOULDER, :2]
    return max(float(np.linalg.norm(left - right)), 0.1 * int(view.labels.shape[0]))


def _changeable_by(view: View, category: Category) -> BoolMask:
    unit = shoulder_width(view)
    region = labelled_as(view.labels, WORN[category] + _REACHED[category])
    clothes = labelled_as(view.labels, (Label.UPPER, Label.LOWER, Label.FULL, Label.LEGS))
    shoulders, hips = _height_of(view, Landmark.LEFT_SHOULDER), _height_of(view, Landmark.LEFT_HIP)
    rows = np.arange(view.labels.shape[0])[:, None]
    torso = max(hips - shoulders, 0.5 * unit)
    if category is Category.UPPER_BODY:
        region |= clothes & (rows < hips + BELOW_HIPS * torso)
    else:
        region |= clothes & (rows > hips - ABOVE_HIPS * torso)
        region |= _hull(view, _LEG_POINTS + _FOOT_POINTS)
    return dilated(region, round(ROOM[category] * unit))


def _height_of(view: View, left: Landmark) -> float:
    """Mean row of a landmark and its twin on the right, which follows it."""
    return float(view.landmarks[[left, left + 1], 1].mean())


def _hull(view: View, points: tuple[Landmark, ...]) -> BoolMask:
    """Between the legs, where a skirt hangs."""
    corners: Floats = view.landmarks[list(points), :2]
    drawn = np.zeros(view.labels.shape, dtype=np.uint8)
    cv2.fillConvexPoly(drawn, np.asarray(cv2.convexHull(np.rint(corners).astype(np.int32)), dtype=np.int32), 1)
    return drawn.astype(bool)
