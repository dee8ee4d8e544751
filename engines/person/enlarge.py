"""Bringing the working copy's maps to the size of the photo."""

from __future__ import annotations

import cv2
import numpy as np

from engines.base import Label, Mask, Picture
from engines.person.networks import Floats
from engines.settling import Guide


def enlarged_labels(labels: Mask, height: int, width: int) -> Mask:
    """Labels at ``(height, width)`` with smooth borders: each pixel takes the label with the largest smooth share."""
    if labels.shape == (height, width):
        return labels
    best = np.zeros((height, width), np.uint8)
    winner = np.zeros((height, width), np.uint8)
    for label in Label:
        where = (labels == label).astype(np.uint8) * np.uint8(255)
        if where.any():
            share = cv2.resize(where, (width, height), interpolation=cv2.INTER_CUBIC)
            np.copyto(winner, np.uint8(label), where=share > best)
            np.maximum(best, share, out=best)
    return winner


def enlarged_matte(matte: Floats, small: Picture, photo: Picture) -> Mask:
    """The matte at the photo's size, 0 to 255, its border led by the photo's own edges."""
    if matte.shape == photo.shape[:2]:
        return np.asarray(np.round(matte * 255.0), dtype=np.uint8)
    cover = Guide(_grey(small), 2, 1e-3).enlarge(matte, _grey(photo))
    cover *= np.float32(255.0)  # in place: of a camera's photo every copy is 50 MB
    cover += np.float32(0.5)
    return np.clip(cover, 0.0, 255.0, out=cover).astype(np.uint8)


def _grey(photo: Picture) -> Floats:
    grey = np.asarray(cv2.cvtColor(photo, cv2.COLOR_RGB2GRAY), dtype=np.float32)
    grey /= np.float32(255.0)
    return grey
