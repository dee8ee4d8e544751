"""Where a person's joints are, and a rough mask of the person, from MediaPipe's pose landmark network."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engines.base import Picture
from engines.person.networks import Floats, Network, Square, sigmoid

_LANDMARKS = 33
_CENTRE, _RADIUS = 33, 34
"""Auxiliary rows after the landmarks: the middle of the hips, and a point on the circle around the body."""

_REGION_MARGIN = 1.25
"""Side of the region over the diameter of that circle, as in training."""

_ROUNDS = 2
"""Each round cuts the region that the last one proposed; from a detection the second is already steady."""

_ROUNDS_FROM_FRAME = 4
"""From the whole frame more are needed."""


@dataclass(frozen=True)
class Pose:
    """One person's pose.

    Attributes:
        landmarks: ``(33, 4)``: x, y in pixels of the photo, z in the same scale, visibility 0 to 1.
        mask: ``(height, width)``, 0 to 1, how much the network believes in the person there.
        score: 0 to 1.
        region: The square that the last round looked at.
    """

    landmarks: Floats
    mask: Floats
    score: float
    region: Square


def region_of_body(centre: Floats, circle: Floats) -> Square:
    """The square around a body whose middle is ``centre`` and whose circle passes through ``circle``."""
    reach = circle - centre
    return Square(
        float(centre[0]),
        float(centre[1]),
        max(2.0 * float(np.hypot(reach[0], reach[1])) * _REGION_MARGIN, 8.0),
        float(np.arctan2(reach[0], -reach[1])),
    )


def find_pose(network: Network, photo: Picture, start: Square | None = None) -> Pose:
    """Follow the network from ``start``, or from the whole frame, to the body it settles on."""
    height, width = photo.shape[:2]
    region = start or Square(width / 2, height / 2, float(max(width, height)))
    for last in range(_ROUNDS if start else _ROUNDS_FROM_FRAME, 0, -1):
        rows, score, logits = network.run(region.cut(photo, network.size))[:3]
        table = rows.reshape(-1, 5)
        points = region.to_photo(table[:, :2], network.size)
        if last > 1:
            region = region_of_body(points[_CENTRE], points[_RADIUS])
    landmarks = np.column_stack(
        [points, table[:, 2] * (region.side / network.size), sigmoid(table[:, 3])],
    )[:_LANDMARKS]
    mask = region.paste(sigmoid(logits[..., 0]), width, height)
    return Pose(landmarks.astype(np.float32), mask, float(score.ravel()[0]), region)
