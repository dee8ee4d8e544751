"""What would make a better picture and is no reason to refuse one; the same for all engines."""

from __future__ import annotations

import cv2
import numpy as np

from engines.base import Landmark, PersonMap, Picture
from engines.person.segmenter import in_usual_light

LOOKED_AT_SIDE = 1024
"""Longer side, in pixels, of the copy that blur is measured on: engines work at this size."""

LEAST_SHARPNESS, TILE = 4.0, 32
"""Least deviation of the Laplacian, in levels of 0 to 255, in the sharpest tenth of a photo's squares, which are so
many pixels a side. The least of 69 photos of people was 6.1; blurred by 2 pixels they had 3.2 in the median, and by
3 pixels 2.1."""

LEAST_TORSO = 100.0
"""Pixels of the photo from the shoulders to the hips. Of 69 photos one had 71 and all others 128 or more."""

LEAST_GARMENT_SIDE = 512
"""Longer side of a garment's picture, in pixels; it is laid on a canvas of twice as many."""

SENTENCES = {
    "photo_blurred": "The photo is blurred. Hold the camera still, and let it focus on the person.",
    "photo_dark": "The photo is dark. Take it by daylight, or with the light in front of the person.",
    "person_small": "The person is small in the photo. Come closer, or use a larger photo.",
    "garment_small": "The picture of the garment is small. Use one with at least 1024 pixels on its longer side.",
}
"""By code, for a shopper to read."""


def advice_on_photo(photo: Picture, person_map: PersonMap | None) -> list[str]:
    """Codes of the advice on a customer photo; whoever is in it is not judged where nobody was found."""
    found = []
    if _sharpness(photo) < LEAST_SHARPNESS:
        found.append("photo_blurred")
    if in_usual_light(photo) is not photo:
        found.append("photo_dark")
    if person_map is not None and _torso(person_map) < LEAST_TORSO:
        found.append("person_small")
    return found


def advice_on_garment(picture: Picture) -> list[str]:
    """Codes of the advice on a garment's picture."""
    return ["garment_small"] if max(picture.shape[:2]) < LEAST_GARMENT_SIDE else []


def _sharpness(photo: Picture) -> float:
    scale = min(1.0, LOOKED_AT_SIDE / max(photo.shape[:2]))
    size = (max(TILE, round(photo.shape[1] * scale)), max(TILE, round(photo.shape[0] * scale)))
    small = photo if scale == 1.0 else cv2.resize(photo, size, interpolation=cv2.INTER_AREA)
    edges = cv2.Laplacian(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY), cv2.CV_32F)
    rows, columns = edges.shape[0] // TILE, edges.shape[1] // TILE
    tiles = edges[: rows * TILE, : columns * TILE].reshape(rows, TILE, columns, TILE)
    return float(np.quantile(tiles.std(axis=(1, 3)), 0.9))


def _torso(person_map: PersonMap) -> float:
    shoulders, hips = (
        person_map.landmarks[[left, left + 1], :2].mean(axis=0) for left in (Landmark.LEFT_SHOULDER, Landmark.LEFT_HIP)
    )
    return float(np.linalg.norm(shoulders - hips))
