"""Where bare skin may be seen: within the outline of the person, without frills of old clothes, below new shoulders."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.garment.regions import disk, window_of
from engines.warp.body.model import NECK_RISE, SIDES, BodyModel
from engines.warp.pieces import Drape
from engines.warp.skin.smooth_edge import antialiased

SKIN_OVER_SHOULDER = 0.18
"""How far above the shoulders of a sleeved garment no skin is invented, in shoulder widths."""

SLIT, SLIT_WITHIN = 0.04, 0.20
"""Width of what is too narrow to be a shoulder, and how far beside the axis that is asked, in shoulder widths."""

COLLAR_FROM, SHOULDER_FROM, SHOULDER_UNTIL = 0.08, 0.48, 0.12
"""Where those shoulders begin: at the ends of the neckline, between these two, in shoulder widths beside the axis,
above the third, in torso lengths below the shoulders."""

ON_CORD = 0.006
"""How near a cord across a neckline lies to its ends, in torso lengths."""

LEG_ROOM = 0.015
"""How far the outline of a bare leg may lie outside the old trousers, in shoulder widths."""

ARM_FROM, FRILL = 0.40, 0.022
"""How far beside the axis arms are, and the standard deviation with which the outline of a sleeve, its folds and its
frills is made that of an arm, in shoulder widths."""

NECK_DENT, SLOPE_DENT, SLOPE_FROM = 0.04, 0.09, 0.30
"""Radius of the dent between a collar and the neck it stood off, in shoulder widths: a bare neck has none. The same on
the slope of the shoulder, and how far beside the axis that begins: the ends of hair leave dents in its outline."""

WAIST, WAIST_ASIDE, WAIST_DENT = (0.35, 1.1), 0.6, 0.03
"""Heights between which a waist is, in torso lengths, how far aside, and the radius of the dent between a top that
bulged over it and what is worn below, in shoulder widths."""

GAP, GAP_FROM = 0.25, 0.15
"""Width of the widest gap between an arm and the body, in shoulder widths, and the height from which on there are any,
in torso lengths."""

SEEN_AS_CLOTH = 0.5
"""Cover from which a pixel shows the new garment more than what is behind it."""


def skin_room(worn: NDArray[np.float32], body: BodyModel) -> NDArray[np.float32]:
    """The silhouette with room for the smooth outline of bare skin.

    A leg may lie a little outside where folds of the old trousers come in, a neck where a collar stood off it, and an
    arm has not the frills and folds of its sleeve.

    Args:
        worn: ``(height, width)`` cover of the person with the old clothes, 0 to 1.
        body: The body in the photo.
    """
    unit = body.shoulder_width
    wider = np.asarray(cv2.dilate(worn, disk(max(1, round(LEG_ROOM * unit)))), np.float32)
    room = np.where(body.heights > body.crotch_height, wider, worn)
    arms = (np.abs(body.laterals) > ARM_FROM) & (body.heights < body.crotch_height) & (worn > 0)
    if arms.any():
        window = window_of(arms, round(3 * FRILL * unit))
        soft = cv2.GaussianBlur(worn[window], (0, 0), max(FRILL * unit, 1.0))
        smooth = antialiased(np.asarray(soft) > 0.5)
        beside = np.abs(body.laterals[window]) > ARM_FROM
        beside &= body.heights[window] < body.crotch_height
        room[window] = np.where(beside, smooth, room[window])
    collar = (body.heights < 0.0) & (body.heights > -NECK_RISE * 1.5 * body.shoulder_width / body.torso_length)
    # Between hair and a shoulder there is the wall.
    without_hair = np.where(body.labels == Label.HAIR, np.float32(0.0), worn)
    aside = np.abs(body.laterals)
    _without_dents(room, without_hair, collar & (aside < SHOULDER_FROM), NECK_DENT * unit)
    _without_dents(room, without_hair, collar & (aside < SHOULDER_FROM) & (aside > SLOPE_FROM), SLOPE_DENT * unit)
    waist = (body.heights > WAIST[0]) & (body.heights < WAIST[1]) & (np.abs(body.laterals) < WAIST_ASIDE)
    _without_dents(room, worn, waist, WAIST_DENT * unit)
    return np.asarray(room * (1.0 - antialiased(_seen_gaps(worn, body))), np.float32)


def _seen_gaps(worn: NDArray[np.float32], body: BodyModel) -> NDArray[np.bool_]:
    """``(height, width)``: the wall that the photo shows between an arm and the body; it goes on to a point there."""
    wall = (body.labels == Label.BACKGROUND) & (worn < SEEN_AS_CLOTH)
    asked = (body.heights > GAP_FROM) & (body.heights < body.crotch_height)
    seen = np.zeros(body.shape, bool)
    row = np.ones((1, max(2, round(GAP * body.shoulder_width))), np.uint8)
    window = window_of(asked & ~wall, row.shape[1])
    if wall[window].size:
        # Between an arm and the edge of the photo there is no gap.
        person = (~wall[window]).astype(np.uint8)
        closed = cv2.morphologyEx(person, cv2.MORPH_CLOSE, row, borderType=cv2.BORDER_CONSTANT, borderValue=0) > 0
        seen[window] = closed & wall[window] & asked[window]
    return seen


def _without_dents(
    room: NDArray[np.float32], worn: NDArray[np.float32], part: NDArray[np.bool_], radius: float
) -> None:
    """Fill what comes into the silhouette in one part of the body, in place, up to a radius in pixels."""
    if not part.any():
        return
    size = max(2, round(radius))
    window = window_of(part, size + 1)
    whole = np.asarray(cv2.morphologyEx(worn[window], cv2.MORPH_CLOSE, disk(size)), np.float32)
    room[window] = np.where(part[window], np.maximum(room[window], whole), room[window])


def above_shoulders(drape: Drape, clothed: NDArray[np.float32], body: BodyModel) -> NDArray[np.float32]:
    """Where a garment with sleeves has its shoulders right below: no skin stands out over them.

    Args:
        drape: The new garment.
        clothed: ``(height, width)`` its cover, 0 to 1.
        body: The body in the photo.

    Returns:
        ``(height, width)`` float32, 0 to 1.
    """
    if not any(piece.name.endswith("sleeve") for piece in drape.pieces):
        return np.zeros(body.shape, np.float32)
    reach = max(3, round(SKIN_OVER_SHOULDER * body.shoulder_width))
    covered = clothed > SEEN_AS_CLOTH
    upwards = cv2.dilate(covered.astype(np.uint8), np.ones((reach, 1), np.uint8), anchor=(0, 0), borderValue=0)
    beyond = np.zeros(body.shape, bool)
    feet = _ends_of_neckline(covered, body)
    for side in SIDES:
        beyond |= side * body.laterals > np.clip(side * feet[side], COLLAR_FROM, SHOULDER_FROM)
    # Within a hood there is cloth above the neck as well.
    column = np.ones((2 * reach, 1), np.uint8)
    hooded = cv2.dilate(covered.astype(np.uint8), column, anchor=(0, 2 * reach - 1), borderValue=0) > 0
    on_shoulder = upwards * (beyond & (body.heights < SHOULDER_UNTIL) & ~hooded)
    # Between a hood and the axis of somebody who leans a slit would be left, and the wall be seen in the neck.
    row = np.ones((1, max(2, round(SLIT * body.shoulder_width))), np.uint8)
    beside_neck = np.abs(body.laterals) < SLIT_WITHIN
    on_shoulder = np.where(beside_neck, cv2.morphologyEx(on_shoulder, cv2.MORPH_OPEN, row), on_shoulder)
    return np.asarray(cv2.GaussianBlur(on_shoulder.astype(np.float32), (0, 0), 1.0), np.float32)


def _ends_of_neckline(covered: NDArray[np.bool_], body: BodyModel) -> dict[int, float]:
    """Per side where the neckline ends, in shoulder widths from the axis: a cord across it would lie on both ends.

    On somebody who leans, the shoulder on one side may be lower than the neckline on its way to the other one.
    """
    asked = covered & (np.abs(body.laterals) < SHOULDER_FROM) & (body.heights < SHOULDER_UNTIL)
    columns = np.flatnonzero(asked.any(axis=0))
    ends = {side: side * SHOULDER_FROM for side in SIDES}
    if len(columns) == 0:
        return ends
    rows = np.argmax(asked[:, columns], axis=0)
    outline = np.stack([body.laterals[rows, columns], body.heights[rows, columns]], axis=1)
    floor = np.array([[-SHOULDER_FROM, SHOULDER_UNTIL], [SHOULDER_FROM, SHOULDER_UNTIL]], np.float32)
    cord = cv2.convexHull(np.concatenate([outline, floor]).astype(np.float32))[:, 0]
    cord = cord[cord[:, 1] < SHOULDER_UNTIL]
    cord = cord[np.argsort(cord[:, 0])]
    touched = outline[outline[:, 1] < np.interp(outline[:, 0], cord[:, 0], cord[:, 1]) + ON_CORD, 0]
    for side in SIDES:
        beside = side * touched[side * touched > 0.0]
        ends[side] = side * float(beside.min(initial=SHOULDER_FROM))
    return ends
