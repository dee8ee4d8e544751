"""Invented skin is as uneven as the skin that is seen."""

import numpy as np
import pytest

from engines.warp.skin.texture import CARRIED, LEAST_SEEN, MOST, USUAL, coloured_texture, skin_texture, texture_of


def noisy(strength: float) -> tuple[np.ndarray, np.ndarray]:
    noise = np.random.default_rng(5).normal(0.0, strength, (120, 120, 1)).astype(np.float32)
    return np.repeat(np.float32(0.5) * (1 + noise), 3, axis=2), np.ones((120, 120), bool)


def test_finest_unevenness_is_measured_and_bounded() -> None:
    assert texture_of(*noisy(0.010))[0] == pytest.approx(CARRIED[0] * 0.010, rel=0.3)
    assert all(found <= most for found, most in zip(texture_of(*noisy(0.30)), MOST, strict=True))
    assert texture_of(*noisy(0.30))[:2] == MOST[:2]


def test_smooth_skin_stays_smoother_than_rough_skin() -> None:
    smooth, rough = (skin_texture(*noisy(strength), (200, 200)) for strength in (0.0, 0.02))
    assert np.diff(smooth, axis=1).std() < 0.5 * np.diff(rough, axis=1).std()
    assert smooth.mean() == pytest.approx(1.0, abs=0.01)


def test_too_little_skin_has_the_usual_texture() -> None:
    photo, skin = noisy(0.02)
    skin[:] = False
    skin.flat[: LEAST_SEEN - 1] = True
    assert texture_of(photo, skin) == USUAL


def test_texture_is_the_same_every_time() -> None:
    np.testing.assert_array_equal(*(skin_texture(*noisy(0.01), (60, 80)) for _ in range(2)))


def test_what_is_darker_is_redder() -> None:
    darker, even = coloured_texture(np.array([[0.9, 1.0]], np.float32))[0]
    assert darker[0] > darker[1] > darker[2]
    np.testing.assert_array_equal(even, 1.0)
