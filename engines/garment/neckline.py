"""The front neckline of a flat garment; the cloth seen above it is the inside of the back."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.ground import to_lab
from engines.garment.regions import BoolMask
from engines.warp.pieces import Cloth

ARC_SHAPES = ((2.0, 0.62), (3.0, 0.50), (1.3, 0.60))
"""Exponent of the arc (2 round, 3 square, 1.3 a V) and its greatest depth in neck widths."""

LEAST_SCORE = 14.0
"""Edge score below which there is no front neckline to be seen (hoods, turtlenecks, plain backs)."""

LEAST_SCORE_OVER_TEXTURE = 2.0
"""The arc must also beat the garment's own texture by this factor."""


def _edge_strength(cloth: Cloth) -> NDArray[np.float32]:
    colour = np.asarray(np.clip(cloth.colour * 255, 0, 255), dtype=np.uint8)
    lab = to_lab(np.asarray(cv2.GaussianBlur(colour, (0, 0), 1.5), dtype=np.uint8))
    across = sum(np.abs(cv2.Sobel(np.ascontiguousarray(lab[..., k]), cv2.CV_32F, 1, 0)) for k in range(3))
    down = sum(np.abs(cv2.Sobel(np.ascontiguousarray(lab[..., k]), cv2.CV_32F, 0, 1)) for k in range(3))
    return np.hypot(across, down).astype(np.float32)


def inner_back(cloth: Cloth, neck_left: NDArray[np.float64], neck_right: NDArray[np.float64]) -> BoolMask:
    """Find the part of the photo that shows the inside of the back, with the label.

    Arcs of three shapes and many depths are hung between the neck points; the one lying on the strongest edge
    all along is the front neckline, if it is strong enough.

    Args:
        cloth: The garment.
        neck_left: (x, y) of the neck's highest point left in the picture.
        neck_right: The same on the right.

    Returns:
        ``(h, w)`` bool, empty where no front neckline is seen.
    """
    mask = cloth.alpha > 0.5
    nothing = np.zeros(mask.shape, dtype=bool)
    width = float(neck_right[0] - neck_left[0])
    if width < 20:
        return nothing
    edges = _edge_strength(cloth)
    columns = np.arange(int(neck_left[0]), int(neck_right[0]) + 1)
    across = (columns - (neck_left[0] + neck_right[0]) / 2) / (width / 2)
    chord = neck_left[1] + (neck_right[1] - neck_left[1]) * (columns - neck_left[0]) / width
    top = mask[:, columns].argmax(axis=0)
    last_row = mask.shape[0] - 1
    thickened = cv2.dilate(edges, np.ones((5, 1), dtype=np.uint8))
    best_score, best_arc = 0.0, None
    for exponent, deepest in ARC_SHAPES:
        for depth in np.linspace(0.06, deepest, 44) * width:
            arc = np.clip(chord + depth * (1 - np.abs(across) ** exponent), 0, last_row).astype(int)
            inside = (arc > top + 4) & mask[arc, columns]
            if inside.mean() < 0.5:
                continue
            on_edge = thickened[arc, columns][inside]
            evenness = float(np.percentile(on_edge, 25)) ** 0.5
            shallow_first = 1 - 0.25 * depth / width
            score = float(np.median(on_edge)) * float(inside.mean()) ** 2 * evenness * shallow_first
            if score > best_score:
                best_score, best_arc = score, arc
    texture = float(np.median(edges[mask])) ** 1.5 + 1e-3
    if best_arc is None or best_score < LEAST_SCORE or best_score < LEAST_SCORE_OVER_TEXTURE * texture:
        return nothing
    nothing[:, columns] = (np.arange(mask.shape[0])[:, None] < best_arc[None]) & mask[:, columns]
    return nothing


def without_inner_back(cloth: Cloth, back: BoolMask) -> Cloth:
    """The cloth with the inside of its back made transparent, and the matte's ring above it too."""
    if not back.any():
        return cloth
    tall = cv2.dilate(back.astype(np.uint8), np.ones((3, 3), dtype=np.uint8))
    upwards = cv2.dilate(tall, np.ones((7, 1), dtype=np.uint8), anchor=(0, 0))
    cover = cv2.GaussianBlur(upwards.astype(np.float32), (0, 0), 0.8)
    return Cloth(cloth.colour, (cloth.alpha * (1 - cover)).astype(np.float32))
