"""Scraps of skin, ground and other clothes that the map of a wearer took for the edge of a garment."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture
from engines.garment.ground import to_lab
from engines.garment.regions import BoolMask, dilated, eroded, nearest_known, opened, reaching_border

REACH = 30
"""How far inside the labelled edge a scrap may reach, canvas pixels."""

UNLIKE = 5.0
"""Distance from every colour of the garment beyond which a scrap is none of it, CIE Lab."""

LIKER, LIKE_GROUND = 0.4, 0.5
"""A scrap's distance from the colour beside the garment, and from the nearest ground's, as a share of that from the
garment's own at most. Ground between an arm and the body has skin beside it, and its own colour only farther away."""

COLOURS, SAMPLES = 8, 1500
"""Colours by which a garment is known, and pixels of it that are looked at for them."""

REDUCTION = 3
"""Scraps are looked for on a canvas so many times smaller."""

LEAST = 1
"""Half width of the smallest scrap, pixels of the smaller canvas; less is grain."""


def without_scraps(canvas: Picture, cloth: BoolMask, ground: BoolMask) -> BoolMask:
    """The garment without what at its edge has the colour of what lies beside it, and none of its own.

    Args:
        canvas: ``(h, w, 3)`` uint8 sRGB.
        cloth: ``(h, w)`` bool, as it was labelled.
        ground: ``(h, w)`` bool, what is behind the wearer, as it was labelled.
    """
    height, width = cloth.shape
    size = (width // REDUCTION, height // REDUCTION)
    small, behind = (
        np.asarray(cv2.resize(mask.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST), bool)
        for mask in (cloth, ground)
    )
    core = eroded(small, REACH // REDUCTION)
    if not core.any():
        return cloth
    lab = to_lab(np.asarray(cv2.resize(canvas, size, interpolation=cv2.INTER_AREA), np.uint8))
    edge = small & ~core
    own = np.min([np.linalg.norm(lab[edge] - colour, axis=1) for colour in _colours(lab[core])], axis=0)
    alike = np.zeros_like(own, dtype=bool)
    for known, share in ((~small, LIKER), (behind, LIKE_GROUND)):
        if known.any():
            beside = lab.reshape(-1, 3)[nearest_known(known)[edge]]
            alike |= np.linalg.norm(lab[edge] - beside, axis=1) < share * own
    scraps = np.zeros_like(small)
    scraps[edge] = (own > UNLIKE) & alike
    scraps = dilated(opened(scraps, LEAST), LEAST)
    whole = cv2.resize(scraps.astype(np.uint8), (width, height), interpolation=cv2.INTER_LINEAR)
    # What is no edge of the garment is a print, or a hole that shows what is worn below.
    return cloth & ~reaching_border(~cloth | (whole > 0))


def _colours(lab: NDArray[np.float32]) -> NDArray[np.float32]:
    """The usual colours among ``(n, 3)``."""
    few = np.ascontiguousarray(lab[:: max(1, len(lab) // SAMPLES)], np.float32)
    cv2.setRNGSeed(0)
    criteria = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 10, 1.0)
    labels = np.zeros((len(few), 1), np.int32)
    _, _, centres = cv2.kmeans(few, min(COLOURS, len(few)), labels, criteria, 1, cv2.KMEANS_PP_CENTERS)
    return np.asarray(centres, np.float32)
