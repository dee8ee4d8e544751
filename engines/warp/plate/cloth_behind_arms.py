"""Old cloth that is seen again on the far side of an arm or a hand, where the labels have it for the wall.

Beside the elbow of an arm akimbo, or behind a hand on the hip, a small piece of the back of a shirt is seen. It lies in
the shade, so that its colour is that of the shirt in another light, and hangs together with nothing else of it.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.garment.regions import BoolMask, dilated, distance_from, eroded, opened, pieces, window_of
from engines.labels import labelled_as

SKIN, SUSPECTS, SAME = (Label.ARMS, Label.HANDS), (Label.BACKGROUND, Label.LOWER), (Label.UPPER, Label.FULL)
"""What lies before the cloth, what such a piece is taken for, and what it is rightly called where it is only too small
to be counted to the garment: crumbs of that name are hair and jewellery as well."""

REACH = 0.45
"""How far from the rest of the garment such a piece ends, in shoulder widths: an arm is in between."""

AROUND = 0.2
"""How far around arms and hands is looked, in shoulder widths."""

AREAS = (0.001, 0.03)
"""Areas of such a piece, in squared shoulder widths."""

SHADED, NAMED_LIT = (0.35, 1.0), 1.2
"""Between which shares of the garment's light it lies in, and the most of what is called the same."""

LIKE_CLOTH, UNLIKE_WALL = 0.045, 0.15
"""Largest distance from the garment's colour in such light, over that light, and least one from what is beside it, per
channel on average, in units of full white."""

CLEARLY_CLOSER = 0.6
"""Its distance from the garment's colour is at most this share of that from the trousers', in whatever light."""

REDUCED = 4
"""Every so-many-th pixel of a garment tells its colour."""

TOUCHING, RIM, RING = 3, 2, 4
"""Pixels within which such a piece touches the arm, width of its rim that is mixed with what is beside it, and how far
beyond that the wall is looked at."""

LEAST_CONTACT = 0.15
"""Share of its outline with which it lies along the arm: what stands beside an arm touches it in a point."""


def cloth_behind_arms(photo: NDArray[np.float32], labels: NDArray[np.uint8], old: BoolMask, unit: float) -> BoolMask:
    """``(height, width)`` bool: small pieces of the old garment beyond an arm that lies before it.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        labels: ``(height, width)`` of `Label`.
        old: ``(height, width)``, the old garment as labelled.
        unit: Shoulder width in pixels.
    """
    found = np.zeros(old.shape, bool)
    reach = round(AROUND * unit)
    near = dilated(labelled_as(labels, SKIN), reach) & _asked(labels, old)
    window = window_of(near, reach)
    if near[window].any() and old[window].any():
        found[window] = _pieces(photo[window], labels[window], old[window], near[window], unit)
    return found


def _pieces(
    photo: NDArray[np.float32], labels: NDArray[np.uint8], old: BoolMask, near: BoolMask, unit: float
) -> BoolMask:
    """The same in a window, ``near`` arms."""
    seen, lower, named = photo[near], labels[near] == Label.LOWER, labelled_as(labels, SAME)[near]
    alike, lit = _likeness(seen, _usual(photo, old))
    like = (alike < LIKE_CLOTH * lit) & (lit > SHADED[0]) & (lit < np.where(named, NAMED_LIT, SHADED[1]))
    if (like & lower).any():
        trousers, _ = _likeness(seen, _usual(photo, labels == Label.LOWER))
        like &= ~lower | (alike < CLEARLY_CLOSER * trousers)
    asked, found = np.zeros(old.shape, bool), np.zeros(old.shape, bool)
    asked[near] = like
    for window, piece in pieces(_beyond_arms(opened(asked, 1), labels, old, unit), 3 * RING):
        ring = dilated(piece, 2 * RING) & ~dilated(piece, RING) & (labels[window] == Label.BACKGROUND)
        colours = photo[window]
        if not ring.any():
            continue
        if np.abs(np.median(colours[ring], axis=0) - colours[piece].mean(axis=0)).mean() > UNLIKE_WALL:
            found[window] |= dilated(piece, RIM) & _asked(labels[window], old[window])
    return found


def _asked(labels: NDArray[np.uint8], old: BoolMask) -> BoolMask:
    """Where a piece may lie."""
    return labelled_as(labels, SUSPECTS) | (labelled_as(labels, SAME) & ~old)


def _usual(photo: NDArray[np.float32], part: BoolMask) -> NDArray[np.float32]:
    """``(3,)`` median colour of a part; every so-many-th pixel is enough."""
    few = np.s_[::REDUCED, ::REDUCED]
    return np.asarray(np.median(photo[few][part[few]] if part[few].any() else photo[part], axis=0), np.float32)


def _likeness(
    seen: NDArray[np.float32], colour: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """How far ``(n, 3)`` pixels are from a colour in their own light, per channel, and ``(n,)`` what light that is."""
    lit = (seen[:, 0] + seen[:, 1] + seen[:, 2]) / np.float32(max(3.0 * float(colour.mean()), 1e-3))
    off = [np.abs(seen[:, channel] - lit * colour[channel]) for channel in range(3)]
    return (off[0] + off[1] + off[2]) / np.float32(3), lit


def _beyond_arms(asked: BoolMask, labels: NDArray[np.uint8], old: BoolMask, unit: float) -> BoolMask:
    """Those regions that lie along an arm, are small and end near the garment."""
    if not asked.any():
        return asked
    count, numbered, stats, _ = cv2.connectedComponentsWithStats(asked.astype(np.uint8), connectivity=8)
    kept = (stats[:, cv2.CC_STAT_AREA] > AREAS[0] * unit**2) & (stats[:, cv2.CC_STAT_AREA] < AREAS[1] * unit**2)
    kept[0] = False
    if not kept.any():
        return np.zeros(old.shape, bool)
    outline = asked & ~eroded(asked, 1)
    arms = dilated(labelled_as(labels, SKIN), TOUCHING)
    around, along = (np.bincount(numbered[edge], minlength=count) for edge in (outline, outline & arms))
    kept &= along > LEAST_CONTACT * around
    from_old = distance_from(old)[asked]
    kept[np.unique(numbered[asked][(from_old > REACH * unit) | (from_old < TOUCHING)])] = False
    return np.asarray(kept[numbered])
