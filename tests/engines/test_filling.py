"""Holes are filled from their surroundings, without edges and without invention."""

import numpy as np
import pytest

from engines.filling import fill_from, push_pull
from engines.warp.painting import GRAIN_LIMIT, grain_where_smooth


def test_constant_surroundings_fill_a_hole_exactly() -> None:
    colour = np.full((64, 80, 3), 0.4, np.float32)
    weight = np.ones((64, 80), np.float32)
    weight[20:40, 30:50] = 0.0
    colour[weight == 0] = 9.0
    np.testing.assert_allclose(push_pull(colour, weight), 0.4, atol=1e-4)


def test_hole_between_two_colours_stays_between_them() -> None:
    photo = np.zeros((80, 120, 3), np.float32)
    photo[:, 60:] = 1.0
    known = np.ones((80, 120), bool)
    known[:, 40:80] = False
    filled = fill_from(photo, known)[40, :, 0]
    assert filled[40:80].min() >= 0.0
    assert filled[40:80].max() <= 1.0
    assert filled[44] < 0.4
    assert filled[76] > 0.6


def test_nothing_known_is_grey() -> None:
    filled = push_pull(np.zeros((16, 16, 3), np.float32), np.zeros((16, 16), np.float32))
    np.testing.assert_allclose(filled, 0.5, atol=1e-3)


def test_grain_is_not_told_from_weave_and_print() -> None:
    rng = np.random.default_rng(3)
    noise = rng.normal(0.0, 0.003, (120, 120, 1))
    noise[:, 40:] = rng.normal(0.0, 0.05, (120, 80, 1))
    photo = np.repeat(0.5 + noise.astype(np.float32), 3, axis=2)
    everywhere = np.ones((120, 120), bool)
    assert grain_where_smooth(0.5 + 100 * (photo - 0.5), everywhere) == GRAIN_LIMIT
    assert grain_where_smooth(photo, everywhere) == pytest.approx(0.003, rel=0.4)
    assert grain_where_smooth(photo, np.zeros((120, 120), bool)) == 0


def test_hole_in_a_gradient_is_filled_without_a_step() -> None:
    ramp = np.linspace(0.2, 0.8, 200, dtype=np.float32)
    photo = np.repeat(np.repeat(ramp[None, :, None], 160, axis=0), 3, axis=2)
    known = np.ones((160, 200), bool)
    known[30:130, 60:140] = False
    filled = fill_from(np.where(known[..., None], photo, np.float32(0.0)), known)
    assert np.abs(filled - photo).max() < 0.05
    assert np.abs(np.diff(filled[80, 50:150, 0])).max() < 0.012
