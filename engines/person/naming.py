"""Giving materials their names: skin becomes face, neck, arms, hands, torso or legs by where it lies."""

from __future__ import annotations

import cv2
import numpy as np

from engines.base import Label, Mask
from engines.person.body import Body
from engines.person.colour_models import Region
from engines.person.extents import Extents

HAIR, SKIN, UPPER, LOWER, OTHER = 1, 2, 3, 4, 5
"""Materials, before they are named; 0 is ground."""

_LONG = 1.4
"""Hem, on `engines.person.body.Limb.position`, below which trousers count as long."""

_FINGERS = 0.16
"""Side of the largest patch of skin beside a hand that may be its fingers, in shoulder widths."""

_FOREARM, _OPENING = (1.25, 1.0), (0.22, 0.12)
"""Where a print is none: on an arm, up to the first on `engines.person.body.Limb.offset`, from the second on
`engines.person.body.Limb.position`; and mostly in the opening of the neck, from the spine in shoulder widths and down
to that height."""

_TIPS = 2.3
"""How far from the hand's bones such fingers end, on `engines.person.body.Limb.offset`."""


def named(
    owners: Mask, hands: Region, hems: Region, body: Body, extents: Extents, *, skirted: bool, one_piece: bool
) -> Mask:
    """``(height, width)`` of `Label`.

    Args:
        owners: ``(height, width)`` of materials.
        hands: ``(height, width)`` bool, hands and forearms that were found in it.
        hems: ``(height, width)`` bool, trousers that hang over the shoes.
        body: The person's frame of reference.
        extents: Where the clothes end.
        skirted: Whether the bottom is closed between the legs.
        one_piece: Whether top and bottom are one.
    """
    labels = np.full(owners.shape, Label.BACKGROUND, np.uint8)
    labels[owners == HAIR] = Label.HAIR
    labels[owners == UPPER] = Label.FULL if one_piece else Label.UPPER
    labels[owners == LOWER] = Label.FULL if one_piece else Label.LOWER
    labels[owners == OTHER] = Label.OTHER
    _name_skin(labels, owners == SKIN, hands, body)
    labels[prints_like_skin(owners, body)] = Label.FULL if one_piece else Label.UPPER
    _name_feet(labels, owners != 0, body, extents, trousers=not skirted)
    labels[hems] = Label.FULL if one_piece else Label.LOWER
    _settle_crumbs(labels, owners != 0, body)
    return labels


def _name_skin(labels: Mask, skin: Region, hands: Region, body: Body) -> None:
    arm, along_arm, leg = body.arm.offset, body.arm.position, body.leg.offset
    labels[skin] = Label.TORSO_SKIN
    labels[skin & (body.height > 1.0) & (leg < 1.6)] = Label.LEGS
    labels[skin & (arm < 1.25) & (body.aside > 0.36)] = Label.ARMS
    labels[skin & (arm < 1.1) & (along_arm > 1.0)] = Label.ARMS
    labels[skin & (arm < 1.5) & (along_arm > 2.0)] = Label.HANDS
    labels[(labels == Label.TORSO_SKIN) & (arm < 2.2) & (along_arm > 2.0)] = Label.HANDS
    hands = hands & ((labels != Label.LEGS) | (arm < 1.25))  # the thigh beside a hand
    labels[hands] = np.where(along_arm[hands] > 2.0, np.uint8(Label.HANDS), np.uint8(Label.ARMS))
    labels[_fingers_on_legs(labels, body)] = Label.HANDS
    labels[skin & (body.height < 0.06) & (body.aside < 0.4)] = Label.NECK
    labels[skin & (body.below_chin < 0.0) & (body.head < 1.2)] = Label.FACE
    labels[skin & body.face.mask(*body.shape)] = Label.FACE


def prints_like_skin(owners: Mask, body: Body) -> Region:
    """``(height, width)`` bool: cords and prints of the top, which nothing else surrounds: a neckline meets the neck.

    Hands and forearms lie before it, and a chest may be cut off from its neck by a chain.

    Args:
        owners: ``(height, width)`` of materials.
        body: The person's frame of reference.
    """
    skin = owners == SKIN
    left, top, across, down = cv2.boundingRect(skin.astype(np.uint8))
    box = np.s_[max(top - 1, 0) : top + down + 1, max(left - 1, 0) : left + across + 1]
    count, parts = cv2.connectedComponents(skin[box].astype(np.uint8), connectivity=8)
    others = (~skin[box] & (owners[box] != UPPER)).astype(np.uint8)
    beside = cv2.dilate(others, np.ones((3, 3), np.uint8)) > 0
    beside |= (body.arm.offset[box] < _FOREARM[0]) & (body.arm.position[box] > _FOREARM[1])
    enclosed = np.bincount(parts[beside], minlength=count) == 0
    opening = (body.aside[box] < _OPENING[0]) & (body.height[box] < _OPENING[1])
    enclosed &= 2 * np.bincount(parts[opening], minlength=count) < np.bincount(parts.ravel(), minlength=count)
    enclosed[0] = False
    found = np.zeros(owners.shape, np.bool_)
    found[box] = enclosed[parts]
    return found


def _fingers_on_legs(labels: Mask, body: Body) -> Region:
    """Patches called legs that go on from a hand: fingers around a knee, beyond where the pose has their tips."""
    legs = labels == Label.LEGS
    left, top, across, down = cv2.boundingRect(legs.astype(np.uint8))
    box = np.s_[max(top - 1, 0) : top + down + 1, max(left - 1, 0) : left + across + 1]
    count, parts, stats, _ = cv2.connectedComponentsWithStats(legs[box].astype(np.uint8), connectivity=4)
    beside = cv2.dilate((labels[box] == Label.HANDS).astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    small = stats[:, cv2.CC_STAT_AREA] < (_FINGERS * body.breadth) ** 2
    small &= np.bincount(parts[beside], minlength=count) > 0
    small[parts[body.arm.offset[box] > _TIPS]] = False  # a thigh beside a hand goes on
    small[0] = False
    fingers = np.zeros(labels.shape, np.bool_)
    fingers[box] = small[parts]
    return fingers


def _name_feet(labels: Mask, person: Region, body: Body, extents: Extents, *, trousers: bool) -> None:
    leg, along = body.leg.offset, body.leg.position
    past = along - np.where(body.leg.second, np.float32(extents.hems[1]), np.float32(extents.hems[0]))
    socks = (labels == Label.LOWER) & (past > 0.25) & (along > 1.4)
    labels[socks] = Label.FEET
    if (
        trousers and min(extents.hems) > _LONG
    ):  # what shows between long trousers and the ground is boots, socks or a strip of ankle
        labels[(labels == Label.LEGS) & (along > min(extents.hems) - 0.1)] = Label.FEET
    labels[person & (along > 2.0) & (leg < 2.5) & (labels != Label.HANDS)] = Label.FEET


def _settle_crumbs(labels: Mask, person: Region, body: Body) -> None:
    """Give specks, too small to be anything, to what surrounds them."""
    smallest = max(12.0, (0.05 * body.breadth) ** 2)
    crumbs = np.zeros(labels.shape, bool)
    for label in np.unique(labels[person]):
        own = (person & (labels == label)).astype(np.uint8)
        left, top, across, down = cv2.boundingRect(own)
        box = np.s_[top : top + down, left : left + across]
        _, parts = cv2.connectedComponents(own[box], connectivity=4)
        small = np.bincount(np.asarray(parts).ravel()) < smallest
        small[0] = False
        if small.any():
            crumbs[box] |= small[parts]
    settled = person & ~crumbs
    if crumbs.any() and settled.any():
        source = (~settled).astype(np.uint8)
        _, nearest = cv2.distanceTransformWithLabels(source, cv2.DIST_L2, 3, labelType=cv2.DIST_LABEL_PIXEL)
        lookup = np.zeros(int(nearest.max()) + 1, np.uint8)
        lookup[nearest[settled]] = labels[settled]
        labels[crumbs] = lookup[nearest[crumbs]]
