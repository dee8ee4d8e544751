"""Rims of what is cut out of a photo."""

import cv2
import numpy as np

from engines.warp.composite.rims import without_rim

SKIN, WALL = np.array([0.5, 0.3, 0.2], np.float32), np.array([0.97, 0.97, 0.97], np.float32)


def test_the_rim_takes_the_colour_of_the_inside_and_the_inside_stays() -> None:
    solid = np.zeros((60, 60), np.float32)
    solid[20:40, 10:50] = 1
    soft = np.asarray(cv2.GaussianBlur(solid, (0, 0), 1.0), np.float32)
    photo = soft[..., None] * SKIN + (1 - soft[..., None]) * WALL
    clean = without_rim(photo, soft, 2)
    np.testing.assert_allclose(clean[19:41, 12:48], np.broadcast_to(SKIN, (22, 36, 3)), atol=0.05)
    np.testing.assert_array_equal(clean[24:36, 14:46], photo[24:36, 14:46])
    np.testing.assert_array_equal(clean[:10], photo[:10])


def test_nothing_in_front_changes_nothing() -> None:
    photo = np.full((8, 8, 3), 0.4, np.float32)
    np.testing.assert_array_equal(without_rim(photo, np.zeros((8, 8), np.float32), 2), photo)
