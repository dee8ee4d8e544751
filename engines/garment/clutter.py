"""The mask of a garment on a busy ground: GrabCut with a prior that the garment is in the middle."""

from __future__ import annotations

import cv2
import numpy as np
from scipy import ndimage

from engines.base import Picture
from engines.garment.regions import BoolMask, largest, opened

WORKING_SIDE = 512
"""Longer side at which GrabCut runs, pixels; its time grows with the area."""

ROUNDS = 4
"""Alternations between colour models and cut."""


LEAST_CONTRAST = 8.0
"""Standard deviation of the brightness below which a picture shows nothing to cut out; GrabCut's search for a
cheapest cut takes minutes on a picture where all cuts cost the same."""


def mask_on_clutter(canvas: Picture) -> BoolMask:
    """Cut the central object out of a busy picture.

    Args:
        canvas: ``(h, w, 3)`` uint8 sRGB.

    Returns:
        ``(h, w)`` bool; empty where the picture has no contrast.
    """
    height, width = canvas.shape[:2]
    scale = WORKING_SIDE / max(height, width)
    small = cv2.resize(canvas, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    rows, columns = small.shape[:2]
    if float(cv2.GaussianBlur(small, (0, 0), 2.0).std()) < LEAST_CONTRAST:
        return np.zeros((height, width), dtype=bool)
    y, x = np.mgrid[0:rows, 0:columns].astype(np.float32)
    # 0 in the middle, 1 on an ellipse that touches the frame.
    radius = np.hypot((x - columns / 2) / (columns / 2), (y - rows / 2) / (rows / 2))
    prior = np.full((rows, columns), cv2.GC_PR_BGD, dtype=np.uint8)
    prior[radius < 0.72] = cv2.GC_PR_FGD
    rim = max(2, round(0.05 * min(rows, columns)))
    prior[:rim] = prior[-rim:] = cv2.GC_BGD
    prior[:, :rim] = prior[:, -rim:] = cv2.GC_BGD
    cv2.setRNGSeed(0)  # the colour models start from k-means
    cv2.grabCut(small, prior, (0, 0, 0, 0), np.zeros((1, 65)), np.zeros((1, 65)), ROUNDS, cv2.GC_INIT_WITH_MASK)
    found = (prior == cv2.GC_FGD) | (prior == cv2.GC_PR_FGD)
    found = np.asarray(ndimage.binary_fill_holes(largest(opened(found, 2))))
    enlarged = cv2.resize(found.astype(np.float32), (width, height), interpolation=cv2.INTER_LINEAR)
    return np.asarray(cv2.GaussianBlur(enlarged, (0, 0), 2.0) > 0.5)
