"""Gaps between an arm and the body, and through a hand: what is seen in them, and what lies on the arm's side of them.

Such a gap is too narrow for the networks, and the matte closes it. The wall right beside the person says which colour
it has; what has that colour, and neither that of the skin nor of the cloth next to it, is looked through. What is as
dark as the shirt on the arm's side of a gap is the arm in its own shade.
"""

from __future__ import annotations

import cv2
import numpy as np

from engines.base import Label, Mask
from engines.filling import carried_out
from engines.labels import labelled_as
from engines.person.body import Body
from engines.person.colour_models import Region
from engines.person.networks import Floats

_SKIN, _CLOTH = (Label.ARMS, Label.HANDS), (Label.UPPER, Label.LOWER, Label.FULL)

_FROM, _REACH = 0.25, 2.6
"""Where on `engines.person.body.Limb.position` and how far off on `Limb.offset` gaps are looked for."""

_BONE, _WRIST = 0.4, 2.1
"""Offset up to which, and position down to which an arm is not looked through: what lies on it there is a watch."""

_BESIDE = 0.10
"""How far from skin a gap reaches at most, in shoulder widths."""

_MARGIN = 0.25
"""How far around that the wall and the clothes are looked at, in shoulder widths."""

_WALL_REACH, _NEXT_REACH, _LEAST_KNOWN = 0.12, 0.08, 1e-3
"""Standard deviations over which the colours of the wall, and of skin and cloth, are averaged, in shoulder widths, and
the share of them around a pixel from which they are known."""

_REDUCED = 4
"""Factor by which these are worked out smaller."""

_GROUND = 0.05
"""Matte below which a pixel is wall alone."""

_RIM = 3
"""Width of the rims of wall, skin and cloth that are mixed with one another, pixels of the working copy."""

_LIGHTNESS_SAY = 0.5
"""Share of lightness in how far colours are apart, next to a and b: a gap lies in the shade."""

_LIKE, _CLEARLY = 8.0, 0.5
"""Largest such distance of what is looked through from the wall, and that over its distance from skin and cloth."""

_DEEP, _ALIKE, _MOST_ALIKE = 0.05, 10.0, 0.02
"""How far from its edge cloth is asked whether it has that colour itself, in shoulder widths; from which distance on
it has not; and the share of it that may: what is white on it is a print and no wall."""

_LEAST_OPEN, _LEAST_CLOSED = 0.0004, 0.0010
"""Area of a gap that meets the known wall, and of one that is closed in, in squared shoulder widths: a finger nail is
smaller."""

_STRIP, _LEAST_STRIP, _STRIP_OFF = 0.05, 0.10, 1.6
"""Width of the widest strip of an arm called cloth and its least length, in shoulder widths, and its distance from the
bones at most, on `engines.person.body.Limb.offset`."""

_WIDEST_GAP = 0.25
"""Width of the widest gap beside such a strip, in shoulder widths."""

_BESIDE_SKIN = 0.2
"""Share of the outline of a gap that is skin, at least."""


def wall_between(labels: Mask, lab: Floats, matte: Floats, body: Body) -> Region:
    """``(height, width)`` bool: wall that is called hand, arm or cloth.

    Args:
        labels: ``(height, width)`` of `engines.base.Label`.
        lab: ``(height, width, 3)`` CIELAB.
        matte: ``(height, width)``, 0 to 1.
        body: The person's frame of reference.
    """
    found = np.zeros(labels.shape, np.bool_)
    for limb in body.arms:
        window = _around((limb.offset < _REACH) & (limb.position > _FROM), round(_MARGIN * body.breadth))
        if min(labels[window].shape) > _REDUCED:
            offset, position = limb.offset[window], limb.position[window]
            near = (offset < _REACH) & (position > _FROM)
            like, nearer = _like_wall(near, labels[window], lab[window], matte[window], body.breadth)
            gaps = _gaps(like, (offset < _BONE) & (position < _WRIST), labels[window], body.breadth)
            # The rim of a gap is mixed with what is beside it, or lighter where the photo was sharpened.
            for _ in range(_RIM):
                gaps |= _grown(gaps, 1) & nearer
            found[window] |= gaps
    return found


def shaded_arms(labels: Mask, body: Body) -> Region:
    """``(height, width)`` bool: strips of arms called cloth, although a gap parts them from the clothes on the body.

    Args:
        labels: ``(height, width)`` of `engines.base.Label`.
        body: The person's frame of reference.
    """
    strips = np.zeros(labels.shape, np.bool_)
    for limb in body.arms:
        near = (limb.offset < _STRIP_OFF) & (limb.position > _FROM)
        window = _around(near, round(_WIDEST_GAP * body.breadth))
        if labels[window].size:
            strips[window] |= _strips_in(near[window], labels[window], body.aside[window], body.breadth)
    # The corner of a cuff is as narrow, and short.
    _, numbered, stats, _ = cv2.connectedComponentsWithStats(strips.astype(np.uint8), connectivity=8)
    long = stats[:, cv2.CC_STAT_HEIGHT] > _LEAST_STRIP * body.breadth
    return np.asarray(strips & long[numbered])


def _strips_in(near: Region, labels: Mask, aside: Floats, unit: float) -> Region:
    """``(h, w)`` of a window: narrow runs of cloth between an arm and a gap on its inner side."""
    arm, cloth, ground = labelled_as(labels, _SKIN), labelled_as(labels, _CLOTH), labels == Label.BACKGROUND
    row = np.ones((1, round(_WIDEST_GAP * unit)), np.uint8)
    person = (~ground).astype(np.uint8)
    gap = ground & (cv2.morphologyEx(person, cv2.MORPH_CLOSE, row, borderType=cv2.BORDER_CONSTANT, borderValue=0) > 0)
    changes = np.diff(np.pad(near & cloth, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    (rows, begins), ends = np.nonzero(changes > 0), np.nonzero(changes < 0)[1]
    inner = (begins > 0) & (ends < labels.shape[1]) & (ends - begins <= _STRIP * unit)
    rows, before, after = rows[inner], begins[inner] - 1, ends[inner]
    strips = np.zeros(labels.shape, np.bool_)
    for from_arm, to_gap in ((before, after), (after, before)):
        kept = arm[rows, from_arm] & gap[rows, to_gap] & (aside[rows, to_gap] < aside[rows, from_arm])
        for y, first, beyond in zip(rows[kept], before[kept] + 1, after[kept], strict=True):
            strips[y, first:beyond] = True
    return strips


def _like_wall(near: Region, labels: Mask, lab: Floats, matte: Floats, unit: float) -> tuple[Region, Region]:
    """Which pixels of a window clearly have the colour of the wall, and which have rather that than their own.

    Args:
        near: ``(h, w)``, near an arm; the others are not looked at.
        labels: ``(h, w)``.
        lab: ``(h, w, 3)``.
        matte: ``(h, w)``.
        unit: Shoulder width in pixels.

    Returns:
        ``(h, w)`` each.
    """
    skin, cloth = labelled_as(labels, _SKIN), labelled_as(labels, _CLOTH)
    # What is called an arm is one: it has tattoos.
    asked = near & (cloth | (labels == Label.HANDS))
    asked &= cv2.boxFilter(skin.astype(np.float32), -1, (2 * round(_BESIDE * unit) + 1,) * 2) > 0
    ground = _shrunk((labels == Label.BACKGROUND) & (matte < _GROUND), _RIM)
    own = [_usual(lab, _shrunk(part, _RIM), _NEXT_REACH * unit) for part in (skin, cloth)]
    off_wall = _off(lab, _usual(lab, ground, _WALL_REACH * unit), asked)
    off_own = np.minimum(*(_off(lab, usual, asked) for usual in own))
    like, nearer = asked.copy(), asked.copy()
    like[asked] = off_wall < np.minimum(_LIKE, _CLEARLY * off_own)
    nearer[asked] = off_wall < off_own
    if like.any():
        like &= skin | ~_in_print(lab, ground, cloth & ~_grown(like, _RIM), unit)
    like = cv2.morphologyEx(like.astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)) > 0
    return np.asarray(like), nearer


def _in_print(lab: Floats, ground: Region, cloth: Region, unit: float) -> Region:
    """``(h, w)`` where the cloth around has the colour of the wall itself: what is white on it is a print."""
    few = np.s_[::_REDUCED, ::_REDUCED]
    deep = _shrunk(cloth[few], max(1, round(_DEEP * unit / _REDUCED)))
    off_wall = _off(lab[few], _usual(lab, ground, _MARGIN * unit), deep)
    same = deep.copy()
    same[deep], deep[deep] = off_wall < _ALIKE, np.isfinite(off_wall)
    size = (2 * round(_MARGIN * unit / _REDUCED) + 1,) * 2
    share, all_of_it = (cv2.blur(part.astype(np.float32), size) for part in (same, deep))
    printed = (share > _MOST_ALIKE * all_of_it).astype(np.uint8)
    return cv2.resize(printed, cloth.shape[::-1], interpolation=cv2.INTER_NEAREST) > 0


def _gaps(like: Region, arm: Region, labels: Mask, unit: float) -> Region:
    """Those regions that lie beside skin and on no arm, and are larger than a nail, a rivet or a speck of light."""
    kept = np.zeros(like.shape, np.bool_)
    count, numbered, stats, _ = cv2.connectedComponentsWithStats(like.astype(np.uint8), connectivity=8)
    skin, ground = labelled_as(labels, _SKIN), labels == Label.BACKGROUND
    for number in range(1, count):
        left, top, width, height, area = (int(value) for value in stats[number])
        if area < _LEAST_OPEN * unit**2:
            continue
        around = np.s_[max(top - _RIM, 0) : top + height + _RIM, max(left - _RIM, 0) : left + width + _RIM]
        gap = numbered[around] == number
        outline = _grown(gap, _RIM) & ~gap
        open_ = bool((outline & ground[around]).any())
        beside_skin = (outline & skin[around]).sum() > _BESIDE_SKIN * outline.sum()
        if beside_skin and not arm[around][gap].any() and (open_ or area > _LEAST_CLOSED * unit**2):
            kept[around] |= gap
    return kept


def _usual(lab: Floats, known: Region, reach: float) -> tuple[Floats, Floats]:
    """The colours of a region carried out around it, read at few places, and how much of it is around each of them."""
    few = np.s_[::_REDUCED, ::_REDUCED]
    return carried_out(lab[few], known[few].astype(np.float32), max(reach / _REDUCED, 1.0))


def _off(lab: Floats, usual: tuple[Floats, Floats], asked: Region) -> Floats:
    """``(n,)`` how far the colours that are asked about are from usual ones; infinite where these are not known."""
    carried, weight = usual
    rows, columns = np.nonzero(asked)
    there = rows * carried.shape[0] // asked.shape[0], columns * carried.shape[1] // asked.shape[1]
    apart = lab[rows, columns] - carried[there]
    apart[:, 0] *= _LIGHTNESS_SAY
    off = np.sqrt(np.einsum("ij,ij->i", apart, apart))
    return np.asarray(np.where(weight[there] > _LEAST_KNOWN, off, np.inf), np.float32)


def _around(region: Region, margin: int) -> tuple[slice, slice]:
    left, top, across, down = cv2.boundingRect(region.astype(np.uint8))
    return np.s_[max(top - margin, 0) : top + down + margin, max(left - margin, 0) : left + across + margin]


def _shrunk(region: Region, radius: int) -> Region:
    return cv2.erode(region.astype(np.uint8), np.ones((2 * radius + 1,) * 2, np.uint8)) > 0


def _grown(region: Region, radius: int) -> Region:
    return cv2.dilate(region.astype(np.uint8), np.ones((2 * radius + 1,) * 2, np.uint8)) > 0
