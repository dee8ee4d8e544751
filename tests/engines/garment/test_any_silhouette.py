"""Whatever blob stands out from a picture's ground: it is measured as a garment that can be hung up, or refused."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from engines.base import EngineError
from engines.garment.cloth import LONG_SIDE, Cloth, looked_at
from engines.garment.dress_landmarks import DressLandmarks, find_dress_landmarks
from engines.garment.lower_landmarks import find_lower_landmarks
from engines.garment.upper_landmarks import find_upper_landmarks
from tests.engines.hanging_drawings import network

SIDE = LONG_SIDE


def blob(seed: int) -> Cloth:
    """Polygons, mirrored, and something on one side: what is left of a garment that was cut out badly."""
    chance = np.random.default_rng(seed)
    mask = np.zeros((SIDE, SIDE), np.uint8)
    for _ in range(int(chance.integers(2, 6))):
        points = chance.uniform((0.03, 0.05), (0.55, 0.95), (int(chance.integers(3, 7)), 2)) * SIDE
        cv2.fillPoly(mask, [points.astype(np.int32)], 255)
    mask |= mask[:, ::-1]
    for _ in range(int(chance.integers(0, 3))):
        points = chance.uniform(0.05, 0.95, (3, 2)) * SIDE
        cv2.fillPoly(mask, [points.astype(np.int32)], int(chance.choice([0, 255])))
    return looked_at(Cloth(np.full((SIDE, SIDE, 3), 0.4, np.float32), mask.astype(np.float32) / 255), network())


@pytest.mark.parametrize("seed", range(20))
def test_shoulders_have_a_seam_or_the_garment_is_refused(seed: int) -> None:
    cloth = blob(seed)
    for measure in (find_upper_landmarks, find_dress_landmarks):
        try:
            marks = measure(cloth)
        except EngineError as error:
            if error.code != "garment_not_recognised":
                raise
            continue
        shoulders = (marks.upper if isinstance(marks, DressLandmarks) else marks).shoulders
        assert shoulders.tip[0] > shoulders.neck_foot[0]


@pytest.mark.parametrize("seed", range(0, 40, 4))
def test_what_hangs_from_the_waist_has_a_height_or_is_refused(seed: int) -> None:
    try:
        marks = find_lower_landmarks(blob(seed))
    except EngineError as error:
        if error.code != "garment_not_recognised":
            raise
        return
    assert marks.height > 0
