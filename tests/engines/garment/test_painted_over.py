"""Cloth goes on under what lies over it: in its light and its weave, without the shadow on it."""

import cv2
import numpy as np

from engines.garment.painted_over import painted_over, without_chinks

SIDE, HAND, SHADOW_WIDTH = 320, (225, 180, 160), 9.0


def _woven() -> np.ndarray:
    """Light from the left on a coarse weave."""
    weave = cv2.GaussianBlur(np.random.default_rng(1).normal(0.0, 14.0, (SIDE, SIDE)), (0, 0), 0.8)
    light = np.linspace(190.0, 130.0, SIDE)[None]
    return np.clip((light + weave)[..., None] * (1.0, 0.9, 0.75), 0, 255)


def _held(woven: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same with a hand on it that throws a shadow, and where that hand is."""
    hand = np.zeros((SIDE, SIDE), np.uint8)
    cv2.circle(hand, (150, 160), 45, 1, -1)
    away = cv2.distanceTransform(1 - hand, cv2.DIST_L2, 5)
    shaded = woven * (1.0 - 0.4 * np.exp(-((away / SHADOW_WIDTH) ** 2)))[..., None]
    return np.where(hand[..., None] > 0, HAND, shaded).astype(np.uint8), hand > 0


def test_hand_and_its_shadow_become_cloth() -> None:
    woven = _woven()
    held, hand = _held(woven)
    painted = painted_over(held, ~hand, hand).astype(float)
    around = cv2.dilate(hand.astype(np.uint8), np.ones((31, 31), np.uint8)) > 0
    smooth, wanted = (cv2.GaussianBlur(picture, (0, 0), 6.0) for picture in (painted, woven))
    assert np.abs(smooth - wanted)[around].max() < 12.0
    assert np.abs(cv2.GaussianBlur(held.astype(float), (0, 0), 6.0) - wanted)[around].max() > 30.0


def test_weave_goes_on_and_a_seam_does_not() -> None:
    woven = _woven()
    woven[:, 90:93] = 30.0
    held, hand = _held(woven)
    painted = painted_over(held, ~hand, hand).astype(float)
    fine = painted - cv2.GaussianBlur(painted, (0, 0), 3.0)
    assert 0.6 < fine[hand].std() / fine[60:260, 240:300].std() < 1.3
    assert np.abs(fine[hand]).max() < 50.0 < np.abs(fine[60:260, 85:98]).max()


def test_nothing_changes_far_away_and_where_no_cloth_is_known() -> None:
    held, hand = _held(_woven())
    painted = painted_over(held, ~hand, hand)
    assert np.array_equal(painted[:, 260:], held[:, 260:])
    assert np.array_equal(painted_over(held, np.zeros_like(hand), hand), held)


def test_chinks_between_cloth_and_hand_are_covered_and_ground_is_not() -> None:
    cloth, covered = np.zeros((2, 120, 120), dtype=bool)
    cloth[10:110, 10:56], covered[40:80, 60:100] = True, True
    whole = without_chinks(cloth, covered)
    assert whole[50:70, 56:60].all()
    assert not whole[:, 102:].any()
    assert not whole[:31, 57:].any()
