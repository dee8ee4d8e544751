"""The photo without the old clothes: what a new garment is laid on.

What the old garment covered and the new one does not becomes, in this order of right: skin where the body is bare
now, the continuing other garment between top and trousers, or what is behind the person. All of it is one opaque
picture that is blended in once; two half transparent fills would leave a light rim between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Category, PersonMap
from engines.beside import beside
from engines.garment.regions import dilated, eroded
from engines.warp.blending import blended
from engines.warp.body.model import LEFT
from engines.warp.grain import grain, grain_of
from engines.warp.pieces import Drape
from engines.warp.plate.other_garment import Continuation, at_hem, continued_garment
from engines.warp.plate.patch_fill import structured_fill
from engines.warp.plate.plate import Plate, left_as_it_is
from engines.warp.plate.take_off import TakenOff, pinholes
from engines.warp.skin.bare_skin import BareSkin, bare_skin
from engines.warp.skin.faded_skin import faded_into_seen
from engines.warp.skin.room import above_shoulders, skin_room
from engines.warp.skin.smooth_edge import antialiased

EDGE_BLUR = 1.2
"""Width of the soft border of the fill, pixels."""

RIM = 0.02
"""Width of the old garment's rim that may lie over the wall, in shoulder widths."""

MIXED = 2
"""Pixels at the rim of what stays that the soft border of the fill may reach."""

SEEN_BELOW = 0.99
"""Cover of the new garment below which what is behind it shows through."""


@dataclass(frozen=True)
class _Fills:
    """What may come to light, and how far it does.

    Attributes:
        behind: ``(height, width, 3)``, what is behind the person.
        skin: The person's own.
        other: The garment that goes on where the old one was, if one does.
        bare: ``(height, width)`` cover of skin.
        continued: ``(height, width)`` cover of the other garment.
    """

    behind: NDArray[np.float32]
    skin: BareSkin
    other: Continuation | None
    bare: NDArray[np.float32]
    continued: NDArray[np.float32]


def fill_in(photo: NDArray[np.float32], off: TakenOff, drape: Drape, category: Category) -> Plate:
    """The photo with skin, the other garment or the wall where the old garment was.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        off: What goes with the old garment.
        drape: The new garment; only pixels it leaves open matter.
        category: What is being replaced.
    """
    clothed = drape.alpha
    fills = _fills(photo, off, drape, category)
    fill = _laid_over(fills)
    # Under the other garment skin goes on, and is not seen.
    skin = fills.bare * (1.0 - fills.continued)
    uncovered = skin + fills.continued
    share = _share(photo, off, fills, skin=skin)
    if category is Category.UPPER_BODY and fills.other is not None:
        # Under a hem what is mixed with it is replaced.
        hem = at_hem(fills.continued, off.from_old, off.body.torso_length) * (clothed < SEEN_BELOW)
        share = np.maximum(share, hem * np.float32(fills.other.hidden))
    person = left_as_it_is(photo, off.person_map).person
    return Plate(
        blended(photo, fill, np.asarray(share, dtype=np.float32)),
        np.asarray(person + (uncovered - person) * share, dtype=np.float32),
    )


def _fills(photo: NDArray[np.float32], off: TakenOff, drape: Drape, category: Category) -> _Fills:
    """Draw what may come to light where the old garment was."""
    body, clothed, person_map = off.body, drape.alpha, off.person_map
    wanted = np.asarray(off.removed & (clothed < SEEN_BELOW))
    # What is behind the person does not depend on what is before it.
    with beside(lambda: _behind(photo, off, wanted)) as found_behind:
        other = continued_garment(photo, person_map, body, clothed, category)
        skin = bare_skin(
            photo,
            body,
            off.naked,
            clothed,
            off.from_old,
            torso=category is not Category.LOWER_BODY or body.waist.bare_midriff,
            arms=category is not Category.LOWER_BODY,
            legs=category is not Category.UPPER_BODY,
        )
    worn = _silhouette(off.old, person_map, body.shoulder_width)
    bare = skin.cover * skin_room(worn, body) * (1.0 - above_shoulders(drape, clothed, body))
    continued = np.zeros(body.shape, np.float32) if other is None else other.cover * worn
    if other is not None and other.beside is not None:
        arms = skin.arms[LEFT].on | skin.arms[-LEFT].on
        bare *= 1.0 - other.beside * (dilated(skin.torso, MIXED) & ~arms)
    return _Fills(found_behind.result(), skin, other, bare, continued)


def _laid_over(fills: _Fills) -> NDArray[np.float32]:
    """``(height, width, 3)``: what is behind the person, skin over it, and the other garment over that."""
    fill = blended(fills.behind, fills.skin.colour, fills.bare)
    if fills.other is not None:
        # Skin goes on under the other garment: where both are half transparent no wall shows between them.
        fill = blended(fill, fills.other.colour, fills.continued)
    return fill


def _share(
    photo: NDArray[np.float32],
    off: TakenOff,
    fills: _Fills,
    *,
    skin: NDArray[np.float32],
) -> NDArray[np.float32]:
    """``(height, width)`` how far the fill takes the place of the photo, 0 to 1."""
    share = np.asarray(cv2.GaussianBlur(off.removed.astype(np.float32), (0, 0), EDGE_BLUR), np.float32)
    share = np.maximum(share, off.old.astype(np.float32))
    # Beyond the one pixel that is mixed with the old garment, what stays is left alone to the last bit.
    share[eroded(off.stays, MIXED)] = 0.0
    unit = off.body.shoulder_width
    joint = faded_into_seen(photo, fills.skin.colour, off.from_old, off.person_map.labels, unit)
    joint *= skin
    return np.maximum(share, joint).astype(np.float32)


def _silhouette(old: NDArray[np.bool_], person_map: PersonMap, unit: float) -> NDArray[np.float32]:
    """Cover of the person; rims of the old garment that stand out over the wall are wall, however wide an arm is."""
    matte = person_map.matte > 127
    matte |= eroded(old | pinholes(old, unit), round(RIM * unit) + 1)
    return antialiased(matte)


def _behind(photo: NDArray[np.float32], off: TakenOff, wanted: NDArray[np.bool_]) -> NDArray[np.float32]:
    """What is behind the person, continued from around them, with the photo's grain."""
    radius = max(3, round(0.008 * photo.shape[0]))
    person = off.person_map.matte > 12
    apart = np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)
    free = np.asarray(cv2.dilate((person | wanted).astype(np.uint8), apart) == 0)
    behind = structured_fill(photo, free, wanted)
    return np.asarray(
        np.clip(behind + grain((free.shape[0], free.shape[1]), grain_of(photo, free)), 0.0, 1.0), dtype=np.float32
    )
