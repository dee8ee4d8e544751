"""Finding people in a photo with MediaPipe's single-shot detector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engines.base import Picture
from engines.person.networks import Floats, Network, Square, sigmoid

_SAME_OBJECT_OVERLAP = 0.3
"""Two boxes with a larger intersection over union are the same person or face."""


@dataclass(frozen=True)
class Detection:
    """One found object.

    Attributes:
        box: Left, top, right, bottom in pixels of the photo. The pose detector's is around the head and of one size,
            whatever the size of the person.
        points: ``(n, 2)`` key points in pixels of the photo.
        score: 0 to 1.
    """

    box: tuple[float, float, float, float]
    points: Floats
    score: float


class Detector:
    """A single-shot detector whose boxes are offsets from a grid of anchors.

    Args:
        network: Gives ``(anchors, 4 + 2 * points)`` offsets in pixels of its input, and ``(anchors, 1)`` logits.
        grids: Cells per side and anchors per cell of each grid, in the order of the network's rows.
    """

    def __init__(self, network: Network, grids: Sequence[tuple[int, int]]) -> None:
        self._network = network
        self._anchors = np.concatenate([_anchor_centres(cells, each) for cells, each in grids])

    def find(self, photo: Picture, lowest_score: float, region: Square | None = None) -> list[Detection]:
        """What is in the photo, or in one square of it, best first; each object once."""
        height, width = photo.shape[:2]
        square = region or Square(width / 2, height / 2, float(max(width, height)))
        size = self._network.size
        offsets, logits = self._network.run(square.cut(photo, size))
        scores = sigmoid(logits[:, 0])
        found: list[Detection] = []
        for row in np.argsort(-scores):
            if scores[row] < lowest_score:
                break
            anchor = self._anchors[row] * size
            centre, extent = offsets[row, :2] + anchor, offsets[row, 2:4]
            points = square.to_photo(offsets[row, 4:].reshape(-1, 2) + anchor, size)
            corners = square.to_photo(np.stack([centre - extent / 2, centre + extent / 2]), size)
            left, top, right, bottom = (float(value) for value in corners.ravel())
            candidate = Detection((left, top, right, bottom), points, float(scores[row]))
            if all(overlap(candidate, other) < _SAME_OBJECT_OVERLAP for other in found):
                found.append(candidate)
        return found


def pose_detector(network: Network) -> Detector:
    """The detector whose four points are mid hips, a point one body radius away, mid shoulders, and its radius."""
    return Detector(network, ((28, 2), (14, 2), (7, 6)))


def overlap(one: Detection, other: Detection) -> float:
    """Intersection over union of the two boxes, 0 to 1."""
    first, second = np.array(one.box).reshape(2, 2), np.array(other.box).reshape(2, 2)
    shared = float(np.prod(np.maximum(np.minimum(first[1], second[1]) - np.maximum(first[0], second[0]), 0.0)))
    areas = float(np.prod(first[1] - first[0]) + np.prod(second[1] - second[0]))
    return shared / max(areas - shared, 1e-6)


def _anchor_centres(cells: int, each: int) -> Floats:
    """``(cells * cells * each, 2)`` centres as x and y, 0 to 1, row by row."""
    line = (np.arange(cells, dtype=np.float32) + 0.5) / cells
    rows, columns = np.meshgrid(line, line, indexing="ij")
    return np.repeat(np.stack([columns.ravel(), rows.ravel()], axis=1), each, axis=0)
