"""How steadily colours change across curves on a garment: stripes and prints change now one way and now the other."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.ground import to_lab
from engines.garment.regions import BoolMask

BLUR = 1.2
"""Blur of the colours, canvas pixels."""

CLEAR = 1.5
"""Strength beyond which an edge counts no more, in medians of what lies around."""

LEAST_SEEN = 0.35
"""Share of a curve that runs over cloth."""

Reals = NDArray[np.float64]


def steadiness(colour: NDArray[np.float32], inside: BoolMask, arcs: Reals) -> tuple[Reals, Reals]:
    """How steadily, and how much, colours change across curves.

    Args:
        colour: ``(h, w, 3)`` float32 sRGB, 0 to 1.
        inside: ``(h, w)`` bool, cloth away from its outline.
        arcs: ``(n, points, 2)`` x and y.

    Returns:
        ``(n,)`` how steadily colours change across each arc where it runs over cloth, 0 to 1, and how much, CIE Lab.
    """
    lab = to_lab(np.asarray(cv2.GaussianBlur(np.clip(colour * 255, 0, 255).astype(np.uint8), (0, 0), BLUR), np.uint8))
    planes = [np.ascontiguousarray(lab[..., channel]) for channel in range(3)]
    ways = [[cv2.Sobel(plane, cv2.CV_32F, *way) for plane in planes] for way in ((1, 0), (0, 1))]
    # Added one by one: sums along so short axes take several times as long.
    strength = sum((np.abs(slope) for way in ways for slope in way), np.zeros(inside.shape, np.float32))
    usual = max(float(np.median(strength[inside])) if inside.any() else 0.0, 0.5)
    along = np.gradient(arcs, axis=1)
    normals = np.stack([-along[..., 1], along[..., 0]], axis=-1)
    normals /= np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), 1e-6)
    height, width = inside.shape
    x = np.clip(np.rint(arcs[..., 0]), 0, width - 1).astype(int)
    y = np.clip(np.rint(arcs[..., 1]), 0, height - 1).astype(int)
    on_cloth = inside[y, x]
    along_x, along_y = (np.stack([slope[y, x] for slope in way], axis=-1) for way in ways)
    across = along_x * normals[..., :1] + along_y * normals[..., 1:]
    across *= on_cloth[..., None]
    counted = across / np.maximum(np.abs(across).sum(axis=-1), CLEAR * usual)[..., None]
    count = on_cloth.sum(axis=1)
    score, change = (np.abs(each.sum(axis=1)).sum(axis=-1) / np.maximum(count, 1) for each in (counted, across))
    return np.where(count >= LEAST_SEEN * arcs.shape[1], score, 0.0), change
