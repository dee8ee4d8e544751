"""Skin that comes to light has no rim of the old garment in it."""

import numpy as np

from engines.warp.composite.old_edge import without_old_edge

SKIN = np.array([0.8, 0.6, 0.5], np.float32)


def test_a_dark_rim_across_an_arm_becomes_skin_and_the_rest_stays() -> None:
    plate = np.broadcast_to(SKIN, (200, 200, 3)).copy()
    old = np.zeros((200, 200), bool)
    old[:, 100:] = True
    plate[:, 96:101] *= 0.4
    plate[:, 140:] = (0.1, 0.2, 0.9)
    arms = np.zeros((200, 200), bool)
    arms[:, 40:130] = True
    light = np.zeros((200, 200), np.float32)
    light[60:140, 90:125] = 1
    mended = without_old_edge(plate, light, arms, old, 300.0)
    np.testing.assert_allclose(mended[80:120, 92:110], np.broadcast_to(SKIN, (40, 18, 3)), atol=0.02)
    np.testing.assert_array_equal(mended[:20], plate[:20])
    np.testing.assert_array_equal(mended[:, 130:], plate[:, 130:])


def test_nothing_comes_to_light_nothing_changes() -> None:
    plate = np.random.default_rng(0).random((50, 50, 3), np.float32)
    nowhere = np.zeros((50, 50), bool)
    mended = without_old_edge(plate, np.zeros((50, 50), np.float32), nowhere, nowhere, 100.0)
    np.testing.assert_array_equal(mended, plate)
