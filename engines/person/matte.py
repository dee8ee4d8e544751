"""How much of each pixel is the person: two networks' rough masks, settled by the colours on either side."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture
from engines.person.body import Body
from engines.person.networks import Floats, Network, sigmoid
from engines.person.pose import Pose
from engines.settling import Guide, Region, colour_odds, log_odds

_POSE_SHARE = 0.5
"""Of the two networks' log odds. Each errs alone: one takes in a striped flag, the other a helmet on the table."""

_PADDING = 0.12
"""Added around the pose's mask, in its own width and height, before the selfie network looks."""

_SURE = 0.04
"""Rough masks below this, or above one minus this, teach the colours of ground and person."""

_NETWORK_TRUST, _COLOUR_TRUST = 3.5, 2.6
"""Largest say of the networks and of the colours, as log odds: colours may not overrule where networks are sure."""

_SEEN, _NOT_DENIED, _DARING = 0.995, 0.45, 1.4
"""Where the pose's mask is above the first and the other above the second, colours may say so much against the person:
a tattoo and a fold in the shadow have the colour of a dark wall, and are none."""

_OUT_OF_REACH = 3.0
"""Log odds taken off where no part of the body can be: flags and helmets that one network takes in."""

_COARSE = 4
"""How much smaller what changes slowly over the photo is drawn."""

_LARGEST_SPECK = 0.04
"""Side of the largest hole that is filled, in shoulder widths: the gap between arm and body is larger."""

_EDGE = 5.0
"""How far from the ground, in pixels of the working copy, a pixel may still be partly person."""

_UNSEEN_COLOUR = 0.05
"""Share of the person's colours that the sure part does not show."""


def silhouette(network: Network, photo: Picture, pose: Pose) -> Floats:
    """What the selfie network takes for people around the pose, ``(height, width)``, 0 to 1."""
    height, width = photo.shape[:2]
    left, top, right, bottom = _padded_box(pose.mask > 0.3)
    size = (network.size, network.size)
    cut = np.asarray(cv2.resize(photo[top:bottom, left:right], size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    drawn = network.run(cut)[0][..., 0]
    people = np.zeros((height, width), np.float32)
    people[top:bottom, left:right] = cv2.resize(drawn, (right - left, bottom - top), interpolation=cv2.INTER_LINEAR)
    return people


def agreement(pose: Pose, people: Floats) -> float:
    """Intersection over union of the pose's mask with the silhouette, 0 to 1."""
    one, other = pose.mask > 0.5, people > 0.5
    return float((one & other).sum()) / max(float((one | other).sum()), 1.0)


def refined(pose: Pose, people: Floats, body: Body, lab: Floats, cells: NDArray[np.intp]) -> Floats:
    """``(height, width)``, 0 to 1: the person's cover of each pixel of the working photo.

    Args:
        pose: Gives the one mask.
        people: Gives the other, from `silhouette`.
        body: Says where no part of the person can be.
        lab: ``(height, width, 3)`` CIELAB of the working photo.
        cells: Its histogram cells.
    """
    odds = _POSE_SHARE * log_odds(pose.mask, _NETWORK_TRUST)
    odds += (1.0 - _POSE_SHARE) * log_odds(people, _NETWORK_TRUST)
    odds -= _OUT_OF_REACH * _beyond(body)
    rough = sigmoid(odds)
    colours = colour_odds(lab, cells, rough > 1.0 - _SURE, rough < _SURE)
    least = np.where((pose.mask > _SEEN) & (people > _NOT_DENIED), np.float32(-_DARING), np.float32(-_COLOUR_TRUST))
    odds = odds + np.clip(0.8 * colours, least, _COLOUR_TRUST)
    guide = Guide(np.ascontiguousarray(lab[..., 0]) / np.float32(100.0), max(2, max(lab.shape) // 256), 4e-4)
    cover = guide.smooth(sigmoid((1.5 * odds).astype(np.float32)))
    return _solid(_main_part(np.clip((cover - 0.2) / 0.6, 0.0, 1.0).astype(np.float32)), body.breadth)


def _beyond(body: Body) -> Floats:
    """1 where no part of the body can be, 0 where one can."""
    height, width = body.shape
    small = sigmoid((body.shrunk(_COARSE).reach - 1.05) * 10)
    return np.asarray(cv2.resize(small, (width, height)), dtype=np.float32)


def _main_part(cover: Floats) -> Floats:
    """Drop pieces that hang on to nothing and are small against the largest."""
    count, parts = cv2.connectedComponents((cover > 0.5).astype(np.uint8))
    if count <= 2:
        return cover
    areas = np.bincount(np.asarray(parts).ravel())  # many times faster than the statistics of the same library
    areas[0] = 0
    small = areas < 0.05 * areas.max()
    small[0] = False
    dropped = cv2.dilate(small[parts].astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    kept = cv2.dilate((~small & (areas > 0))[parts].astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    return np.where(dropped & ~kept, np.float32(0.0), cover)


def _solid(cover: Floats, breadth: float) -> Floats:
    """Fill what is pale within the person for having the ground's colour, and holes too small to be looked through."""
    _, parts = cv2.connectedComponents((cover <= 0.5).astype(np.uint8), connectivity=4)
    small = np.bincount(np.asarray(parts).ravel()) < (_LARGEST_SPECK * breadth) ** 2
    small[0] = False
    specks = small.take(np.asarray(parts))
    within = ((cover > 0.5) | specks).astype(np.uint8)
    deep = cv2.distanceTransform(within, cv2.DIST_L2, 3) > _EDGE
    return np.where(deep | specks, np.float32(1.0), cover)


def _padded_box(mask: Region) -> tuple[int, int, int, int]:
    height, width = mask.shape
    left, top, across, down = cv2.boundingRect(mask.astype(np.uint8))
    if across < 8 or down < 8:
        return 0, 0, width, height
    aside, above = int(_PADDING * across), int(_PADDING * down)
    return (
        max(left - aside, 0),
        max(top - above, 0),
        min(left + across + aside, width),
        min(top + down + above, height),
    )
