"""The photo without the old clothes, on which a new garment is laid.

Places that the old garment covered and the new one does not become, in this order of precedence: skin where the body is
bare now, the continued other garment between top and trousers, or the background. All of it is one opaque picture that
is blended in once; two half transparent fills would leave a light rim between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Category, Label, PersonMap
from engines.beside import beside
from engines.regions import BoolMask, dilated, eroded, largest, reaching, window_of
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.painting import blended, grain_where_smooth, white_noise
from engines.warp.plate.other_garment import continued_garment
from engines.warp.plate.patch_fill import structured_fill
from engines.warp.ribbon import Drape
from engines.warp.skin.bare_skin import BareBody, antialiased, bare_body, bare_skin, faded_into_seen

OVERREACH = 0.005
"""How far the removal reaches beyond the old garment's labels, in heights of the photo."""

LARGEST_PINHOLE = 0.03
"""Area up to which a hole in the old garment is taken off with it, in squared shoulder widths: highlights and buckles
are holes in the labels more often than gaps."""

CRUMB, JOINED = 0.02, 0.04
"""Regions smaller than this share of the largest one are no garment, nor a part of one: hair, ear rings, socks and
shadows that the labels give to it; unless they lie this near to it, in shoulder widths."""

EDGE_BLUR, MIXED = 1.2, 2
"""Width of the soft border of the fill, and the pixels at the rim of what stays that it may reach."""

RIM = 0.02
"""Width of the old garment's rim that may lie over the wall, in shoulder widths."""

SEEN_BELOW = 0.99
"""Cover of the new garment below which what is behind it shows through."""

OVER_SHOULDER, COLLAR = 0.18, (0.08, 0.48)
"""How far above the shoulders of a sleeved garment no skin is invented, and between which distances from the axis they
begin, at the highest points of the neckline, in shoulder widths."""

SHOULDER_UNTIL, LEVEL = 0.12, 0.006
"""Height at which those shoulders end, and how much lower a point is as high as the highest, in torso lengths."""


@dataclass(frozen=True)
class Plate:
    """What a new garment is laid on.

    Attributes:
        picture: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        person: ``(height, width)`` float32, 0 to 1: cover of the person and what they still wear in it; shadows of the
            new garment fall on that, and not on the wall that came to light beside it.
    """

    picture: NDArray[np.float32]
    person: NDArray[np.float32]


@dataclass(frozen=True)
class TakenOff:
    """The old garment and everything removed with it; it does not depend on the new garment.

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
    old: BoolMask
    stays: BoolMask
    from_old: NDArray[np.float32]
    removed: BoolMask
    naked: BareBody


def left_as_it_is(photo: NDArray[np.float32], person_map: PersonMap) -> Plate:
    """The plate of a garment that is put on over everything."""
    return Plate(photo, np.asarray(person_map.matte, np.float32) / 255.0)


def old_garment(labels: NDArray[np.uint8], body: BodyModel, category: Category) -> BoolMask:
    """``(height, width)``: what the person wears now in the place of a new garment of this category."""
    garment = np.asarray(labels == Label.FULL)
    if garment.any() and category is not Category.FULL_BODY:
        below = np.asarray(body.heights > body.waist.line(body.laterals))
        garment &= ~below if category is Category.UPPER_BODY else below
    for label, other in ((Label.UPPER, Category.LOWER_BODY), (Label.LOWER, Category.UPPER_BODY)):
        if category is not other:
            cloth = np.asarray(labels == label)
            near = dilated(largest(cloth, CRUMB), max(2, round(JOINED * body.shoulder_width)))
            garment |= reaching(cloth, near, connectivity=8)
    return garment


def take_off(photo: NDArray[np.float32], person_map: PersonMap, body: BodyModel, category: Category) -> TakenOff | None:
    """Find everything that is removed with the old garment of a category; None if no such garment is worn.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        person_map: Of that photo.
        body: Measured from it.
        category: What is being replaced.
    """
    labels = person_map.labels
    old = old_garment(labels, body, category)
    if not old.any():
        return None
    # Pixels with the garment's label that are not part of it, like crumbs in the hair, stay too.
    stays = np.asarray((labels != Label.BACKGROUND) & ~old)
    from_old = np.asarray(cv2.distanceTransform((~old).astype(np.uint8), cv2.DIST_L2, 5), np.float32)
    # The outermost pixel of what stays is mixed with the old garment and goes too.
    removed = old | ((from_old <= max(2, round(OVERREACH * len(photo)))) & ~eroded(stays, 1))
    removed |= pinholes(removed, body.shoulder_width) & (labels == Label.BACKGROUND)
    return TakenOff(person_map, body, old, stays, from_old, np.asarray(removed), bare_body(body))


def pinholes(cloth: BoolMask, unit: float) -> BoolMask:
    """Small holes in the old garment."""
    holes = np.zeros_like(cloth)
    window = window_of(cloth)
    # A frame of ground joins what is open towards the outside.
    ground = np.pad((~cloth[window]).astype(np.uint8), 1, constant_values=1)
    _, numbered, stats, _ = cv2.connectedComponentsWithStats(ground, connectivity=4)
    small = stats[:, cv2.CC_STAT_AREA] < LARGEST_PINHOLE * unit * unit
    holes[window] = small[numbered][1:-1, 1:-1] & ~cloth[window]
    return holes


def fill_in(photo: NDArray[np.float32], off: TakenOff, drape: Drape, category: Category) -> Plate:
    """The photo with skin, the other garment or the wall where the old garment was.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        off: What goes with the old garment.
        drape: The new garment; only pixels it leaves open matter.
        category: What is being replaced.
    """
    body, clothed = off.body, drape.alpha
    wanted = np.asarray(off.removed & (clothed < SEEN_BELOW))
    # The background does not depend on the person.
    with beside(lambda: _behind(photo, off, wanted)) as found_behind:
        other = continued_garment(photo, body, clothed, off.from_old, category)
        skin = bare_skin(photo, body, off.naked, clothed, off.from_old, category=category)
    # Rims of the old garment that stand out over the wall are wall, however wide an arm is.
    inner = eroded(off.old | pinholes(off.old, body.shoulder_width), round(RIM * body.shoulder_width) + 1)
    silhouette = antialiased((off.person_map.matte > 127) | inner)
    bare = skin.cover * silhouette * (1.0 - _over_shoulders(drape, clothed, body))
    share = cv2.GaussianBlur(off.removed.astype(np.float32), (0, 0), EDGE_BLUR)
    share = np.maximum(np.asarray(share, np.float32), off.old.astype(np.float32))
    # Beyond the one pixel that is mixed with the old garment, what stays is left alone to the last bit.
    share[eroded(off.stays, MIXED)] = 0.0
    continued = np.zeros(body.shape, np.float32)
    if other is not None:
        continued = other.cover * silhouette
        bare *= 1.0 - other.beside * (dilated(off.naked.torso.on, MIXED) & ~off.naked.both(Label.ARMS))
        share = np.maximum(share, other.at_hem * silhouette)
    fill = blended(found_behind.result(), skin.colour, bare)
    if other is not None:
        # Skin continues under it, so that no wall shows between them where both are half transparent.
        fill = blended(fill, other.colour, continued)
    # Under the other garment skin is not seen.
    bare = bare * (1.0 - continued)
    joint = faded_into_seen(photo, skin.colour, off.from_old, off.person_map.labels, body.shoulder_width)
    share = np.maximum(share, joint * bare)
    person = left_as_it_is(photo, off.person_map).person
    return Plate(
        blended(photo, fill, share), np.asarray(person + (bare + continued - person) * share, dtype=np.float32)
    )


def _over_shoulders(drape: Drape, clothed: NDArray[np.float32], body: BodyModel) -> NDArray[np.float32]:
    """``(height, width)``, 0 to 1: right above the shoulders of a garment with sleeves, where no skin stands out."""
    if not any(piece.name.endswith("sleeve") for piece in drape.pieces):
        return np.zeros(body.shape, np.float32)
    covered = (clothed > 0.5) & (body.heights < SHOULDER_UNTIL)
    reach = max(3, round(OVER_SHOULDER * body.shoulder_width))
    column = np.ones((reach, 1), np.uint8)
    above = cv2.dilate(covered.astype(np.uint8), column, anchor=(0, 0), borderValue=0) > 0
    # Within a hood there is cloth above the neck as well.
    above &= cv2.dilate(covered.astype(np.uint8), column, anchor=(0, reach - 1), borderValue=0) == 0
    beyond = np.zeros(body.shape, bool)
    for side in SIDES:
        aside = body.laterals * np.float32(side)
        slope = covered & (aside > COLLAR[0]) & (aside < COLLAR[1])
        highest = slope & (body.heights < body.heights[slope].min(initial=SHOULDER_UNTIL) + LEVEL)
        beyond |= aside > aside[highest].min(initial=COLLAR[1])
    return np.asarray(cv2.GaussianBlur((above & beyond).astype(np.float32), (0, 0), 1.0), np.float32)


def _behind(photo: NDArray[np.float32], off: TakenOff, wanted: BoolMask) -> NDArray[np.float32]:
    """What is behind the person, continued from around them, with the photo's grain."""
    radius = max(3, round(0.008 * photo.shape[0]))
    apart = np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)
    free = np.asarray(cv2.dilate(((off.person_map.matte > 12) | wanted).astype(np.uint8), apart) == 0)
    behind = structured_fill(photo, free, wanted)
    noise = white_noise((free.shape[0], free.shape[1]), 0)[..., None] * np.float32(grain_where_smooth(photo, free))
    return np.asarray(np.clip(behind + noise, 0.0, 1.0), dtype=np.float32)
