"""The photo without the old clothes: what a new garment is laid on.

What the old garment covered and the new one does not becomes, in this order of right: skin where the body is bare
now, the continuing other garment between top and trousers, or what is behind the person. All of it is one opaque
picture that is blended in once; two half transparent fills would leave a light rim between them.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Category, Label, PersonMap
from engines.garment.regions import dilated, eroded, largest
from engines.labels import labelled_as
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.channels import largest_channel
from engines.warp.pieces import Drape
from engines.warp.plate.bare_skin import SKIN_LABELS, antialiased, bare_skin
from engines.warp.plate.fill import fill_from, grain, grain_of
from engines.warp.plate.other_garment import continued_garment
from engines.warp.plate.patch_fill import structure_around, structured_fill
from engines.warp.plate.stray_cloth import bare_ankles, shoes_told_from_trousers, stray_cloth

OVERREACH = 0.005
"""How far the removal reaches beyond the old garment's labels, in heights of the photo."""

EDGE_BLUR = 1.2
"""Width of the soft border of the fill, pixels."""

CRUMB = 0.02
"""Regions smaller than this share of the largest one do not count as lower garment."""

SKIN_OVER_SHOULDER = 0.18
"""How far above the shoulders of a sleeved garment no skin is invented, in shoulder widths."""

SHOULDER_FROM, SHOULDER_UNTIL = 0.40, 0.12
"""Where those shoulders are: from this many shoulder widths beside the axis, above this height in torso lengths."""

LARGEST_PINHOLE = 0.03
"""Area up to which a hole in the old garment is taken off with it, in squared shoulder widths."""

RIM = 0.02
"""Width of the old garment's rim that may lie over the wall, in shoulder widths."""

UNLABELLED_RIM = 0.06
"""Width of the rim of the old garment that the labels may have missed and the matte has not, in shoulder widths."""

FAINT_RIM, FAINT = 0.08, 0.12
"""Width of the rim that is cleaned before a smooth ground, in shoulder widths, and largest difference from that
ground of what is cleaned, in units of full white."""

SKIN_FADE = 0.12
"""Distance over which invented skin fades into seen skin, in shoulder widths."""

SEEN_BELOW = 0.99
"""Cover of the new garment below which what is behind it shows through."""

KEPT = (Label.FACE, Label.HAIR, Label.HANDS, Label.FEET, Label.NECK, Label.TORSO_SKIN, Label.ARMS, Label.LEGS)


def lay_plate(
    photo: NDArray[np.float32], person_map: PersonMap, body: BodyModel, drape: Drape, category: Category
) -> NDArray[np.float32]:
    """Take the old garment of a category off the photo.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        person_map: Of that photo.
        body: Measured from it.
        drape: The new garment; only pixels it leaves open matter.
        category: What is being replaced.

    Returns:
        ``(height, width, 3)`` float32 sRGB, 0 to 1.
    """
    clothed = drape.alpha
    if category is not Category.UPPER_BODY:
        told = shoes_told_from_trousers(photo, person_map.labels, body.shoulder_width)
        person_map, body = replace(person_map, labels=told), replace(body, labels=told)
    old = old_garment(person_map.labels, body, category)
    removed = _reached(old, person_map, category)
    removed |= stray_cloth(photo, person_map.labels, old, body.shoulder_width)
    if category is not Category.UPPER_BODY:
        removed |= bare_ankles(photo, person_map.labels, old, body.shoulder_width)
    removed |= _unlabelled_rim(old, person_map, body.shoulder_width)
    removed |= _pinholes(removed, body.shoulder_width) & (person_map.labels == Label.BACKGROUND)
    if not removed.any():
        return photo.copy()
    removed |= _faint_rim(photo, old, person_map, body.shoulder_width)
    fill = _behind(photo, person_map, np.asarray(removed & (clothed < SEEN_BELOW)))
    other = continued_garment(photo, person_map, body, clothed, category)
    worn = _silhouette(old, person_map, body.shoulder_width)
    other_cover = np.zeros(body.shape, np.float32) if other is None else other.cover * worn
    if other is not None:
        fill = fill + (other.colour - fill) * other_cover[..., None]
    skin = bare_skin(
        photo,
        body,
        clothed,
        torso=category is not Category.LOWER_BODY or body.waist.bare_midriff,
        arms=category is not Category.LOWER_BODY,
        legs=category is not Category.UPPER_BODY,
    )
    skin_cover = skin.cover * worn * (1.0 - other_cover) * (1.0 - _above_shoulders(drape, body))
    fill = fill + (skin.colour - fill) * skin_cover[..., None]
    share = cv2.GaussianBlur(removed.astype(np.float32), (0, 0), EDGE_BLUR)
    share = np.maximum(share, old.astype(np.float32))
    share = np.maximum(share, _into_skin(old, person_map.labels, body.shoulder_width) * skin.cover)
    share = share[..., None]
    return np.asarray(photo + (fill - photo) * share, dtype=np.float32)


def old_garment(labels: NDArray[np.uint8], body: BodyModel, category: Category) -> NDArray[np.bool_]:
    """``(height, width)``: what the person wears now in the place of a new garment of this category."""
    dress = np.asarray(labels == Label.FULL)
    upper = np.asarray(labels == Label.UPPER)
    # Crumbs of lower garment are socks and shadows.
    lower = largest(np.asarray(labels == Label.LOWER), CRUMB)
    if category is Category.FULL_BODY:
        return np.asarray(dress | upper | lower)
    if not dress.any():
        return upper if category is Category.UPPER_BODY else lower
    below = np.asarray(body.heights > body.waist.line(body.laterals))
    return np.asarray(upper | (dress & ~below) if category is Category.UPPER_BODY else lower | (dress & below))


def _reached(old: NDArray[np.bool_], person_map: PersonMap, category: Category) -> NDArray[np.bool_]:
    """The old garment and the rim around it that carries its colour, short of everything that stays."""
    labels = person_map.labels
    radius = max(2, round(OVERREACH * labels.shape[0]))
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1))
    grown = cv2.dilate(old.astype(np.uint8), disc) > 0
    other = {Category.UPPER_BODY: (Label.LOWER,), Category.LOWER_BODY: (Label.UPPER,), Category.FULL_BODY: ()}
    stays = labelled_as(labels, (*KEPT, Label.OTHER, *other[category])).astype(np.uint8)
    # The outermost pixel of what stays is mixed with the old garment and goes too.
    sure = cv2.erode(stays, np.ones((3, 3), np.uint8)) > 0
    return np.asarray(old | (grown & ~sure))


def _silhouette(old: NDArray[np.bool_], person_map: PersonMap, unit: float) -> NDArray[np.float32]:
    """Cover of the person; rims of the old garment that stand out over the wall are wall, however wide an arm is."""
    matte = person_map.matte > 127
    matte |= eroded(old | _pinholes(old, unit), round(RIM * unit) + 1)
    return antialiased(matte)


def _unlabelled_rim(old: NDArray[np.bool_], person_map: PersonMap, unit: float) -> NDArray[np.bool_]:
    """What belongs to the person, to no part of them, and lies beside the old garment: its frills and seams."""
    nameless = (person_map.labels == Label.BACKGROUND) & (person_map.matte > 12)
    reach = max(2, round(UNLABELLED_RIM * unit))
    # Soles and heels often have no name either.
    beside_shoes = dilated(person_map.labels == Label.FEET, 3 * reach)
    return np.asarray(nameless & dilated(old, reach) & ~beside_shoes)


def _faint_rim(
    photo: NDArray[np.float32], old: NDArray[np.bool_], person_map: PersonMap, unit: float
) -> NDArray[np.bool_]:
    """A wider rim before a smooth ground: white frills before a white wall escape labels and matte alike."""
    reach = max(2, round(FAINT_RIM * unit))
    person = person_map.matte > 12
    rim = (
        dilated(old, reach)
        & (person_map.labels == Label.BACKGROUND)
        & ~dilated(labelled_as(person_map.labels, (Label.FEET, Label.HAIR, Label.OTHER)), 2 * reach)
    )
    ground = ~dilated(person | rim, 2)
    if structure_around(photo, ground, rim) > 0.0:
        return np.zeros_like(rim)
    return np.asarray(rim & (largest_channel(np.abs(photo - fill_from(photo, ground))) < FAINT), bool)


def _above_shoulders(drape: Drape, body: BodyModel) -> NDArray[np.float32]:
    """Where a garment with sleeves has its shoulders right below: no skin stands out over them.

    Returns:
        ``(height, width)`` float32, 0 to 1.
    """
    if not any(piece.name.endswith("sleeve") for piece in drape.pieces):
        return np.zeros(body.shape, np.float32)
    reach = max(3, round(SKIN_OVER_SHOULDER * body.shoulder_width))
    upwards = cv2.dilate(
        (drape.alpha > 0.5).astype(np.uint8), np.ones((reach, 1), np.uint8), anchor=(0, 0), borderValue=0
    )
    on_shoulder = (np.abs(body.laterals) > SHOULDER_FROM) & (body.heights < SHOULDER_UNTIL)
    return np.asarray(cv2.GaussianBlur((upwards * on_shoulder).astype(np.float32), (0, 0), 1.0), np.float32)


def _pinholes(cloth: NDArray[np.bool_], unit: float) -> NDArray[np.bool_]:
    """Small holes in the old garment: highlights and buckles more often than gaps."""
    _, numbered, stats, _ = cv2.connectedComponentsWithStats((~cloth).astype(np.uint8), connectivity=4)
    small = stats[:, cv2.CC_STAT_AREA] < LARGEST_PINHOLE * unit * unit
    return np.asarray(small[numbered] & ~cloth)


def _into_skin(old: NDArray[np.bool_], labels: NDArray[np.uint8], unit: float) -> NDArray[np.float32]:
    """How far invented skin fades into seen skin: the shadow that a cuff or neckline threw there goes with it."""
    distance = cv2.distanceTransform((~old).astype(np.uint8), cv2.DIST_L2, 5) / np.float32(SKIN_FADE * unit)
    skin = labelled_as(labels, SKIN_LABELS).astype(np.float32)
    return np.asarray(ease(1.0 - distance) * skin, dtype=np.float32)


def _behind(photo: NDArray[np.float32], person_map: PersonMap, wanted: NDArray[np.bool_]) -> NDArray[np.float32]:
    """What is behind the person, continued from around them, with the photo's grain."""
    radius = max(3, round(0.008 * photo.shape[0]))
    person = (person_map.matte > 12) | wanted
    free = np.asarray(cv2.dilate(person.astype(np.uint8), np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)) == 0)
    behind = structured_fill(photo, free, wanted)
    return np.asarray(
        np.clip(behind + grain((free.shape[0], free.shape[1]), grain_of(photo, free)), 0.0, 1.0), dtype=np.float32
    )
