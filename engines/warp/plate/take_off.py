"""What goes with the old garment; it is known before the new one is."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Category, Label, PersonMap
from engines.garment.regions import dilated, eroded, largest, window_of
from engines.labels import labelled_as
from engines.warp.body.model import BodyModel
from engines.warp.skin.bare_skin import BareBody, bare_body

OVERREACH = 0.005
"""How far the removal reaches beyond the old garment's labels, in heights of the photo."""

LARGEST_PINHOLE = 0.03
"""Area up to which a hole in the old garment is taken off with it, in squared shoulder widths."""

UNLABELLED_RIM = 0.06
"""Width of the rim of the old garment that the labels may have missed and the matte has not, in shoulder widths."""

CRUMB = 0.02
"""Regions smaller than this share of the largest one are no garment, nor a part of one."""

JOINED = 0.04
"""Distance within which a crumb belongs to the garment all the same, in shoulder widths."""

CLOTHES = (Label.UPPER, Label.LOWER, Label.FULL)

KEPT = (Label.FACE, Label.HAIR, Label.HANDS, Label.FEET, Label.NECK, Label.TORSO_SKIN, Label.ARMS, Label.LEGS)


@dataclass(frozen=True)
class TakenOff:
    """What is taken off.

    Attributes:
        person_map: Of the photo.
        body: Measured from it.
        old: ``(height, width)`` bool, the old garment.
        stays: ``(height, width)`` bool, the parts of the person and the things that are not replaced.
        from_old: ``(height, width)`` float32 distance from the old garment, pixels.
        removed: ``(height, width)`` bool, the old garment with its rim.
        naked: The body without clothes.
    """

    person_map: PersonMap
    body: BodyModel
    old: NDArray[np.bool_]
    stays: NDArray[np.bool_]
    from_old: NDArray[np.float32]
    removed: NDArray[np.bool_]
    naked: BareBody


def take_off(photo: NDArray[np.float32], person_map: PersonMap, body: BodyModel, category: Category) -> TakenOff | None:
    """Find all that goes with the old garment of a category; None where nothing of it is worn.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        person_map: Of that photo.
        body: Measured from it.
        category: What is being replaced.
    """
    old = old_garment(person_map.labels, body, category)
    if not old.any():
        return None
    stays = _staying(old, person_map, category)
    from_old = np.asarray(cv2.distanceTransform((~old).astype(np.uint8), cv2.DIST_L2, 5), np.float32)
    removed = _removed(len(photo), person_map, old, from_old=from_old, stays=stays, unit=body.shoulder_width)
    return TakenOff(person_map, body, old, stays, from_old, removed, bare_body(photo, body))


def old_garment(labels: NDArray[np.uint8], body: BodyModel, category: Category) -> NDArray[np.bool_]:
    """``(height, width)``: what the person wears now in the place of a new garment of this category."""
    dress, garment = np.asarray(labels == Label.FULL), np.zeros(labels.shape, dtype=bool)
    if category is not Category.LOWER_BODY:
        garment |= _whole(np.asarray(labels == Label.UPPER), body.shoulder_width)
    if category is not Category.UPPER_BODY:
        # Crumbs of lower garment are socks and shadows.
        garment |= largest(np.asarray(labels == Label.LOWER), CRUMB)
    if category is Category.FULL_BODY:
        return np.asarray(garment | dress)
    if not dress.any():
        return garment
    below = np.asarray(body.heights > body.waist.line(body.laterals))
    return np.asarray(garment | (dress & (~below if category is Category.UPPER_BODY else below)))


def _whole(cloth: NDArray[np.bool_], unit: float) -> NDArray[np.bool_]:
    """A garment without the crumbs that lie away from it: hair and ear rings that the labels give to it."""
    count, numbered = cv2.connectedComponents(cloth.astype(np.uint8), connectivity=8)
    if count <= 2:
        return cloth
    areas = np.bincount(np.asarray(numbered).ravel())
    areas[0] = 0
    kept = areas >= CRUMB * areas.max()
    beside = dilated(kept[numbered], max(2, round(JOINED * unit)))
    kept[np.unique(numbered[beside & cloth])] = True
    return np.asarray(kept[numbered])


def _staying(old: NDArray[np.bool_], person_map: PersonMap, category: Category) -> NDArray[np.bool_]:
    """``(height, width)``: the parts of the person and the things that no garment of this category replaces."""
    other = {Category.UPPER_BODY: (Label.LOWER,), Category.LOWER_BODY: (Label.UPPER,), Category.FULL_BODY: ()}
    stays = labelled_as(person_map.labels, (*KEPT, Label.OTHER, *other[category]))
    # What carries the garment's label and is none of it, like crumbs in the hair, stays too.
    return stays | (labelled_as(person_map.labels, CLOTHES) & ~old)


def _removed(
    rows: int,
    person_map: PersonMap,
    old: NDArray[np.bool_],
    *,
    from_old: NDArray[np.float32],
    stays: NDArray[np.bool_],
    unit: float,
) -> NDArray[np.bool_]:
    """The old garment, and the rim around it that carries its colour."""
    # The outermost pixel of what stays is mixed with the old garment and goes too.
    sure = eroded(stays, 1)
    removed = old | ((from_old <= _overreach(rows)) & ~sure)
    removed |= _unlabelled_rim(from_old, stays, person_map, unit)
    return np.asarray(removed | (pinholes(removed, unit) & (person_map.labels == Label.BACKGROUND)))


def _overreach(rows: int) -> int:
    """How far the removal reaches beyond the old garment's labels, pixels."""
    return max(2, round(OVERREACH * rows))


def _unlabelled_rim(
    from_old: NDArray[np.float32], stays: NDArray[np.bool_], person_map: PersonMap, unit: float
) -> NDArray[np.bool_]:
    """What belongs to the person, to no part of them, and lies beside the old garment: its frills and seams."""
    reach = max(2, round(UNLABELLED_RIM * unit))
    rim = (person_map.labels == Label.BACKGROUND) & (person_map.matte > 12) & (from_old <= reach)
    if not rim.any():
        return np.asarray(rim)
    window = window_of(rim, 3 * reach + 1)
    # Soles and heels often have no name either.
    feet = person_map.labels[window] == Label.FEET
    near = rim[window] & ~dilated(feet, 3 * reach) if feet.any() else rim[window]
    # Loose hair and ear rings are nearer to the head.
    from_others = cv2.distanceTransform((~stays[window]).astype(np.uint8), cv2.DIST_L2, 3)
    rim[window] = near & (from_old[window] < np.asarray(from_others))
    return np.asarray(rim)


def pinholes(cloth: NDArray[np.bool_], unit: float) -> NDArray[np.bool_]:
    """Small holes in the old garment: highlights and buckles more often than gaps."""
    holes = np.zeros_like(cloth)
    window = window_of(cloth)
    # A frame of ground joins what is open towards the outside.
    ground = np.pad((~cloth[window]).astype(np.uint8), 1, constant_values=1)
    _, numbered, stats, _ = cv2.connectedComponentsWithStats(ground, connectivity=4)
    small = stats[:, cv2.CC_STAT_AREA] < LARGEST_PINHOLE * unit * unit
    holes[window] = small[numbered][1:-1, 1:-1] & ~cloth[window]
    return holes
