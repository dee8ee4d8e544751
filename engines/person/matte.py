"""How much of each pixel is the person: two networks' rough masks, settled by the colours on either side."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Mask, Picture
from engines.person.body import Body
from engines.person.finding import Person
from engines.person.networks import Floats
from engines.person.parser import Chances, Thing
from engines.settling import Guide, log_odds, settled, sigmoid

_SURE = 0.04
"""Pixels of the rough masks below this teach the colours of the ground; those above one minus this, the person's."""

_NETWORK_TRUST, _COLOUR_TRUST = 3.5, 2.6
"""Largest weight of the networks and of the colours, as log odds: colours must not overrule sure networks."""

_SEEN, _NOT_DENIED, _DARING = 0.995, 0.45, 1.4
"""If the pose's mask is above the first and the other mask above the second, colours may count against the person by at
most the third: a tattoo or a fold in the shadow has the colour of a dark wall."""

_OUT_OF_REACH = 3.0
"""Log odds subtracted where no part of the body can be: one network includes flags and helmets."""

_COARSE = 4
"""Factor by which maps that change slowly over the photo are computed smaller."""

_LARGEST_SPECK = 0.04
"""Side of the largest hole that is filled, in shoulder widths: the gap between arm and body is larger."""

_EDGE = 5.0
"""How far from the ground, in pixels of the working copy, a pixel may still be partly person."""

_GROUND_SURELY = 0.85
"""Chance of ground above which a pixel of the matte is not the person, such as the gap between an arm and the body."""

_CARRIED = (0.3, 0.6)
"""Chance of a bag from which it is kept in front of a new garment, and from which it is whole, without gaps inside."""


def refined(person: Person, lab: Floats, cells: NDArray[np.intp]) -> Floats:
    """``(height, width)``, 0 to 1: the person's cover of each pixel of the working photo.

    Args:
        person: Gives the rough masks, and says where no part of the person can be.
        lab: ``(height, width, 3)`` CIELAB of the working photo.
        cells: Its histogram cells.
    """
    height, width = person.mask.shape
    body = Body(person.landmarks, person.face, (0, 0, width, height), _COARSE)
    # The networks make different errors: one includes a striped flag, the other a helmet on the table.
    odds = np.float32(0.5) * (log_odds(person.mask, _NETWORK_TRUST) + log_odds(person.people, _NETWORK_TRUST))
    odds -= _OUT_OF_REACH * cv2.resize(sigmoid((body.reach - 1.05) * 10), (width, height))
    seen = (person.mask > _SEEN) & (person.people > _NOT_DENIED)
    least = np.where(seen, np.float32(-_DARING), np.float32(-_COLOUR_TRUST))
    cover = settled(odds, lab, cells, sure=_SURE, least=least, most=_COLOUR_TRUST)
    return _solid(np.clip((cover - 0.2) / 0.6, 0.0, 1.0).astype(np.float32), body.breadth)


def _solid(cover: Floats, breadth: float) -> Floats:
    """The cover without crumbs and holes.

    Crumbs are separate pieces that are small compared with the largest. Holes are places inside the person that have
    the ground's colour, and gaps that are too small to see through.
    """
    _, parts = cv2.connectedComponents((cover > 0.5).astype(np.uint8))
    areas = np.bincount(np.asarray(parts).ravel())  # many times faster than the statistics of the same library
    crumbs = areas < 0.05 * areas[1:].max(initial=0)
    crumbs[0] = False
    dropped = cv2.dilate(crumbs.take(np.asarray(parts)).astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    cover = np.where(dropped, np.float32(0.0), cover)
    _, parts = cv2.connectedComponents((cover <= 0.5).astype(np.uint8), connectivity=4)
    small = np.bincount(np.asarray(parts).ravel()) < (_LARGEST_SPECK * breadth) ** 2
    small[0] = False
    specks = small.take(np.asarray(parts))
    within = ((cover > 0.5) | specks).astype(np.uint8)
    deep = cv2.distanceTransform(within, cv2.DIST_L2, 3) > _EDGE
    return np.where(deep | specks, np.float32(1.0), cover)


def with_carried(matte: Floats, chances: Chances) -> Floats:
    """The matte with carried things and without sure ground; ``(height, width)``, 0 to 1.

    The matte's networks know people only and leave out a bag or a helmet beside them.
    """
    frame = (0, 0, matte.shape[1], matte.shape[0])
    carried = np.clip((chances.of(Thing.BAG, *frame) - _CARRIED[0]) / (_CARRIED[1] - _CARRIED[0]), 0.0, 1.0)
    whole = np.maximum(matte, carried)
    whole[chances.of(Thing.GROUND, *frame) > _GROUND_SURELY] = 0.0
    return np.asarray(whole, np.float32)


def enlarged_matte(matte: Floats, small: Picture, photo: Picture) -> Mask:
    """The matte of a working copy at the photo's size, 0 to 255, its border led by the photo's own edges."""
    if matte.shape == photo.shape[:2]:
        return np.asarray(np.round(matte * 255.0), dtype=np.uint8)
    cover = Guide(_grey(small), 2, 1e-3).enlarge(matte, _grey(photo))
    cover *= np.float32(255.0)  # in place: of a camera's photo every copy is 50 MB
    cover += np.float32(0.5)
    return np.clip(cover, 0.0, 255.0, out=cover).astype(np.uint8)


def _grey(photo: Picture) -> Floats:
    grey = np.asarray(cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY), dtype=np.float32)
    grey /= np.float32(255.0)
    return grey
