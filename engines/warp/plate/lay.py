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
from engines.beside import beside
from engines.channels import on_channels
from engines.garment.regions import dilated, eroded, largest, window_of
from engines.labels import labelled_as
from engines.warp.blending import blended
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.grain import grain, grain_of
from engines.warp.pieces import Drape
from engines.warp.plate.bare_skin import bare_skin
from engines.warp.plate.cloth_outline import outline_of_cloth
from engines.warp.plate.faded_skin import at_cuffs, faded_into_seen
from engines.warp.plate.hem_rim import above_cloth, own_rim
from engines.warp.plate.neck_slope import below_slope
from engines.warp.plate.other_garment import at_hem, continued_garment, on_skin
from engines.warp.plate.patch_fill import structured_fill
from engines.warp.plate.plate import Plate, TakenOff, left_as_it_is
from engines.warp.plate.shoe_collar import shoe_collar
from engines.warp.plate.shoe_colours import shoes_told_from_trousers
from engines.warp.plate.shoe_parts import inside_shoes, shoes_completed
from engines.warp.plate.skin_room import above_shoulders, skin_room
from engines.warp.plate.smooth_edge import antialiased
from engines.warp.plate.stray_cloth import bare_ankles, pieces_of_other, stray_cloth
from engines.warp.plate.wall_joint import met_at_rim

OVERREACH = 0.005
"""How far the removal reaches beyond the old garment's labels, in heights of the photo."""

EDGE_BLUR = 1.2
"""Width of the soft border of the fill, pixels."""

LARGEST_PINHOLE = 0.03
"""Area up to which a hole in the old garment is taken off with it, in squared shoulder widths."""

RIM = 0.02
"""Width of the old garment's rim that may lie over the wall, in shoulder widths."""

UNLABELLED_RIM = 0.06
"""Width of the rim of the old garment that the labels may have missed and the matte has not, in shoulder widths."""

MIXED = 2
"""Pixels at the rim of what stays that the soft border of the fill may reach."""

SEEN_BELOW = 0.99
"""Cover of the new garment below which what is behind it shows through."""

SOME_CLOTH = 0.05
"""Cover from which the new garment's edge is there."""

CRUMB = 0.02
"""Regions smaller than this share of the largest one are no garment, nor a part of one."""

JOINED = 0.04
"""Distance within which a crumb belongs to the garment all the same, in shoulder widths."""

CLOTHES = (Label.UPPER, Label.LOWER, Label.FULL)

KEPT = (Label.FACE, Label.HAIR, Label.HANDS, Label.FEET, Label.NECK, Label.TORSO_SKIN, Label.ARMS, Label.LEGS)


def take_off(photo: NDArray[np.float32], person_map: PersonMap, body: BodyModel, category: Category) -> TakenOff | None:
    """Find all that goes with the old garment of a category; None where nothing of it is worn.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        person_map: Of that photo.
        body: Measured from it.
        category: What is being replaced.
    """
    labels, ankles = person_map.labels, np.zeros(body.shape, bool)
    if category is Category.UPPER_BODY:
        old = old_garment(labels, body, category)
        waistband = pieces_of_other(old, np.asarray(labels == Label.LOWER), body.shoulder_width)
        old, labels = old & ~waistband, np.where(waistband, np.uint8(Label.LOWER), labels)
    else:
        labels = shoes_told_from_trousers(photo, labels, body.shoulder_width)
        labels = shoes_completed(photo, labels, body.shoulder_width)
        old = old_garment(labels, body, category)
        # Ankles in the shadow of a hem go with it: in the light that falls on them now they are drawn anew.
        ankles = bare_ankles(photo, labels, old, body.shoulder_width)
        old, labels = old | ankles, np.where(ankles, np.uint8(Label.LOWER), labels)
    if not old.any():
        return None
    person_map, body = replace(person_map, labels=labels), body.relabelled(labels)
    stays = _staying(old, person_map, category)
    from_old = np.asarray(cv2.distanceTransform((~old).astype(np.uint8), cv2.DIST_L2, 5), np.float32)
    removed = _removed(photo, person_map, old, from_old=from_old, stays=stays, unit=body.shoulder_width)
    return TakenOff(person_map, body, old, stays, from_old, removed, ankles)


def lay_plate(
    photo: NDArray[np.float32], person_map: PersonMap, body: BodyModel, drape: Drape, category: Category
) -> Plate:
    """The photo without the old garment of a category, see `take_off` and `fill_in`."""
    off = take_off(photo, person_map, body, category)
    return left_as_it_is(photo, person_map) if off is None else fill_in(photo, off, drape, category)


def fill_in(photo: NDArray[np.float32], off: TakenOff, drape: Drape, category: Category) -> Plate:
    """The photo with skin, the other garment or the wall where the old garment was.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        off: What goes with the old garment.
        drape: The new garment; only pixels it leaves open matter.
        category: What is being replaced.
    """
    whole, clothed = left_as_it_is(photo, off.person_map), drape.alpha
    person_map, body, old, from_old = off.person_map, off.body, off.old, off.from_old
    unit, stays, removed = body.shoulder_width, off.stays, off.removed
    wanted = np.asarray(removed & (clothed < SEEN_BELOW))
    # What is behind the person does not depend on what is before it.
    with beside(lambda: _behind(photo, person_map, removed, wanted)) as found_behind:
        other = continued_garment(photo, person_map, body, clothed, category)
        skin = bare_skin(
            photo,
            body,
            clothed,
            from_old,
            torso=category is not Category.LOWER_BODY or body.waist.bare_midriff,
            arms=category is not Category.LOWER_BODY,
            legs=category is not Category.UPPER_BODY,
        )
    behind = found_behind.result()
    worn = _silhouette(old, person_map, unit)
    other_cover = np.zeros(body.shape, np.float32) if other is None else other.cover * worn
    skin_cover = skin.cover * skin_room(worn, body) * (1.0 - above_shoulders(drape, clothed, body))
    cleared = np.zeros(body.shape, np.float32)
    if category is not Category.LOWER_BODY:
        skin_cover, cleared = below_slope(skin_cover, clothed, from_old, body)
    fill = behind
    if off.ankles.any():
        fill = blended(fill, photo, inside_shoes(off.ankles, skin_cover, person_map.labels, unit))
    fill = blended(fill, skin.colour, skin_cover)
    if category is Category.UPPER_BODY:
        below = np.maximum(other_cover, (person_map.labels == Label.LOWER).astype(np.float32))
        fill *= on_channels(1.0 - on_skin(below, unit) * skin_cover * skin.torso)
    if other is not None:
        # Skin goes on under the other garment: where both are half transparent no wall shows between them.
        fill = blended(fill, other.colour, other_cover)
        skin_cover = skin_cover * (1.0 - other_cover)
    uncovered = skin_cover + other_cover
    share = cv2.GaussianBlur(removed.astype(np.float32), (0, 0), EDGE_BLUR)
    share = np.maximum(np.asarray(share, np.float32), old.astype(np.float32))
    # Beyond the one pixel that is mixed with the old garment, what stays is left alone to the last bit.
    share[eroded(stays, MIXED)] = 0.0
    share = np.maximum(share, cleared)
    joint = faded_into_seen(photo, skin.colour, from_old, person_map.labels, unit)
    # The skin below an old cuff is drawn before the new cloth with the arm that came out of it.
    faded = (clothed < SEEN_BELOW) | at_cuffs(body, old)
    share = np.maximum(share, joint * skin_cover * faded)
    if category is Category.UPPER_BODY:
        share = np.maximum(share, at_hem(other_cover, from_old, body.torso_length) * (clothed < SEEN_BELOW))
    else:
        labels, cloth = person_map.labels, old & ~off.ankles
        seen = off.ankles | (labels == Label.LEGS)
        for side in SIDES:
            leg, bare = body.legs[side], skin.legs[side]
            collar = shoe_collar(photo, labels, leg, cloth=cloth, seen=seen, bare=bare, skin=skin.colour, unit=unit)
            if collar is not None:
                fill[collar.window] *= on_channels(1.0 + (collar.shade - 1.0) * skin_cover[collar.window])
                fill[collar.window][collar.beside] = behind[collar.window][collar.beside]
                fill[collar.window] += (collar.colour - fill[collar.window]) * collar.over[..., None]
                share[collar.window] = np.maximum(share[collar.window], collar.cover)
    if category is Category.LOWER_BODY:
        top = stays & (person_map.labels == Label.UPPER)
        below = old & above_cloth(clothed > SOME_CLOTH)
        own, rim = own_rim(photo, np.asarray(top), from_old, np.asarray(below), _overreach(photo))
        fill, share = blended(fill, own, rim), np.maximum(share, rim)
        uncovered = np.maximum(uncovered, rim)
    return Plate(
        blended(photo, fill, np.asarray(share, dtype=np.float32)),
        np.asarray(whole.person + (uncovered - whole.person) * share, dtype=np.float32),
    )


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
    photo: NDArray[np.float32],
    person_map: PersonMap,
    old: NDArray[np.bool_],
    *,
    from_old: NDArray[np.float32],
    stays: NDArray[np.bool_],
    unit: float,
) -> NDArray[np.bool_]:
    """The old garment, the rim around it that carries its colour, and slivers of it under other labels."""
    labels = person_map.labels
    # The outermost pixel of what stays is mixed with the old garment and goes too.
    sure = eroded(stays, 1)
    removed = old | ((from_old <= _overreach(photo)) & ~sure)
    removed |= stray_cloth(photo, labels, old, from_old, unit)
    removed |= outline_of_cloth(photo, labels, old, from_old, unit)
    removed |= _unlabelled_rim(from_old, stays, person_map, unit)
    return np.asarray(removed | (_pinholes(removed, unit) & (labels == Label.BACKGROUND)))


def _silhouette(old: NDArray[np.bool_], person_map: PersonMap, unit: float) -> NDArray[np.float32]:
    """Cover of the person; rims of the old garment that stand out over the wall are wall, however wide an arm is."""
    matte = person_map.matte > 127
    matte |= eroded(old | _pinholes(old, unit), round(RIM * unit) + 1)
    return antialiased(matte)


def _overreach(photo: NDArray[np.float32]) -> int:
    return max(2, round(OVERREACH * len(photo)))


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


def _pinholes(cloth: NDArray[np.bool_], unit: float) -> NDArray[np.bool_]:
    """Small holes in the old garment: highlights and buckles more often than gaps."""
    holes = np.zeros_like(cloth)
    window = window_of(cloth)
    # A frame of ground joins what is open towards the outside.
    ground = np.pad((~cloth[window]).astype(np.uint8), 1, constant_values=1)
    _, numbered, stats, _ = cv2.connectedComponentsWithStats(ground, connectivity=4)
    small = stats[:, cv2.CC_STAT_AREA] < LARGEST_PINHOLE * unit * unit
    holes[window] = small[numbered][1:-1, 1:-1] & ~cloth[window]
    return holes


def _behind(
    photo: NDArray[np.float32], person_map: PersonMap, removed: NDArray[np.bool_], wanted: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """What is behind the person, continued from around them, with the photo's grain."""
    radius = max(3, round(0.008 * photo.shape[0]))
    person = person_map.matte > 12
    apart = np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)
    free = np.asarray(cv2.dilate((person | wanted).astype(np.uint8), apart) == 0)
    behind = structured_fill(photo, free, wanted)
    ground = ~dilated(person & ~removed, MIXED) & ~removed & (person_map.labels == Label.BACKGROUND)
    behind = met_at_rim(behind, photo, np.asarray(ground), removed)
    return np.asarray(
        np.clip(behind + grain((free.shape[0], free.shape[1]), grain_of(photo, free)), 0.0, 1.0), dtype=np.float32
    )
