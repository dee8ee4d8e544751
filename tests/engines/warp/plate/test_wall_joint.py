"""The wall behind somebody goes on through the hole without a band around it."""

import numpy as np

from engines.warp.plate.wall_joint import LEARNT, MOST, met_at_rim

SHAPE = (200, 160)


def shaded_wall() -> np.ndarray:
    """A wall that becomes darker downwards and to the right."""
    rows, columns = np.indices(SHAPE, dtype=np.float32)
    return np.repeat((0.8 - 0.001 * rows - 0.0008 * columns)[..., None], 3, axis=2).astype(np.float32)


def two_legs() -> np.ndarray:
    hole = np.zeros(SHAPE, bool)
    hole[30:170, 50:74] = hole[30:170, 84:108] = True
    return hole


def test_a_flat_fill_takes_over_the_gradient_of_the_wall() -> None:
    wall, hole = shaded_wall(), two_legs()
    photo = np.where(hole[..., None], np.float32(0.1), wall)
    met = met_at_rim(np.full_like(wall, wall[~hole].mean()), photo, ~hole, hole)
    assert np.abs(met - wall)[hole].max() < 0.02
    rim = np.abs(met[30:170, 50] - photo[30:170, 49]).max()
    assert rim < 0.01


def test_a_shoe_beside_the_hole_is_not_carried_into_it() -> None:
    wall, hole = shaded_wall(), two_legs()
    photo = wall.copy()
    photo[165:195, 40:120] = wall[165:195, 40:120] - 2.0 * MOST
    met = met_at_rim(wall, photo, ~hole, hole)
    assert np.abs(met - wall)[hole].max() < 0.01


def test_away_from_the_hole_nothing_changes() -> None:
    wall, hole = shaded_wall(), two_legs()
    fill = wall - np.float32(0.05)
    met = met_at_rim(fill, wall, ~hole, hole)
    np.testing.assert_array_equal(met[:, : 50 - LEARNT], fill[:, : 50 - LEARNT])


def test_without_a_hole_the_fill_is_kept() -> None:
    wall = shaded_wall()
    assert met_at_rim(wall, wall, np.ones(SHAPE, bool), np.zeros(SHAPE, bool)) is wall
