"""Rims of what is cut out of a photo."""

import cv2
import numpy as np

from engines.warp.composite.rims import without_ground, without_rim

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


def test_no_line_is_drawn_where_the_rim_of_a_round_arm_begins() -> None:
    aside = np.abs(np.arange(80, dtype=np.float32) - 40) / 20
    # As dark at its edge as the round of an arm, and the last pixels mixed with blue.
    shade = 1 - 0.45 * np.clip(aside, 0, 1) ** 6
    row = SKIN * shade[:, None]
    row[aside > 0.9] = 0.3 * row[aside > 0.9] + 0.7 * np.array([0.1, 0.2, 0.6], np.float32)
    photo = np.repeat(row[None].astype(np.float32), 60, axis=0)
    cover = np.repeat((aside <= 1).astype(np.float32)[None], 60, axis=0)
    clean = without_rim(photo, cover, 3)[30, 40:61]
    assert clean[:, 2].max() <= photo[30, 40, 2] + 1e-3
    assert (np.diff(clean[:, 0]) < 0.004).all()
    assert np.abs(np.diff(clean[:, 0])).max() < 0.05
    assert clean[-1, 0] < 0.95 * SKIN[0]


def test_only_what_is_not_the_hands_own_gives_way_at_its_edge() -> None:
    hand = np.zeros((80, 100), bool)
    hand[20:60, 20:80] = True
    soft = np.asarray(cv2.GaussianBlur(hand.astype(np.float32), (0, 0), 0.8), np.float32)[..., None]
    skin = np.broadcast_to(SKIN, (80, 100, 3)).copy()
    skin[:, 77:] *= 0.6  # the shaded side of a finger
    photo = soft * skin + (1 - soft) * WALL
    clean = without_ground(photo, hand, ~hand, 200.0, np.ones_like(hand))
    assert np.abs(clean[20:60, 20:76] - SKIN).max() < 0.08
    assert np.abs(clean[25:55, 77] - 0.6 * SKIN).max() < 0.06
    np.testing.assert_array_equal(clean[25:55, 25:75], photo[25:55, 25:75])
    np.testing.assert_array_equal(clean[:15], photo[:15])
