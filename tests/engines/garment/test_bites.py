"""Bites in the sides are filled, the garment's own shape is kept."""

import numpy as np
import pytest

from engines.garment.bites import whole_sleeve, with_whole_sides, without_bites
from tests.engines.hanging_drawings import AXIS, skirt, trousers


def test_bite_is_filled_up_to_the_slanted_edge() -> None:
    whole = skirt()
    rows, columns = np.indices(whole.alpha.shape)
    edge = AXIS + 100 + 100 * (rows - 60) / 740
    bitten = type(whole)(whole.colour, whole.alpha * ~((np.abs(rows - 400) < 14) & (columns > edge - 18)))
    mended = with_whole_sides(bitten).alpha
    assert mended[400, int(edge[400, 0]) - 6] > 0.95
    assert np.abs(mended - whole.alpha).sum() < 0.2 * np.abs(bitten.alpha - whole.alpha).sum()


def test_whole_garments_stay_as_they_are() -> None:
    for cloth in (skirt(), trousers()):
        assert np.abs(with_whole_sides(cloth).alpha - cloth.alpha).mean() < 1e-3


def test_long_dent_is_shape() -> None:
    rows = np.arange(500.0)
    waist = 100.0 - 20.0 * np.exp(-(((rows - 250) / 80.0) ** 2))
    assert without_bites(waist, 1, 0, 499) == pytest.approx(waist, abs=1.5)


def test_the_rounded_corner_of_a_hem_stays_round() -> None:
    rows = np.arange(400.0)
    corner = 100.0 - np.maximum(rows - 380, 0) ** 2 / 20
    for outward in (-1, 1):
        edge = outward * corner
        assert without_bites(edge, outward, 0, 399) == pytest.approx(edge, abs=2.5)


def test_edge_nobody_saw_is_left_alone() -> None:
    unseen = np.full(300, np.nan)
    assert np.isnan(without_bites(unseen, 1, 10, 290)).all()


def test_sleeve_is_filled_within_its_outline() -> None:
    part = np.zeros((200, 100), bool)
    part[20:160, 20:80] = True
    bitten = part.copy()
    bitten[80:94, 70:80] = False
    assert whole_sleeve(bitten, 600.0)[86, 75]
    assert (whole_sleeve(bitten, 600.0) & ~part).sum() == 0


def test_the_staircase_of_a_slanted_edge_is_no_bite() -> None:
    whole = skirt()
    rows, columns = np.indices(whole.alpha.shape)
    edge = AXIS + 100 + 100 * (rows - 60) / 740 + 0.8 * np.sin(rows / 2.0)
    stepped = type(whole)(whole.colour, np.where(columns < AXIS, whole.alpha, np.clip(edge - columns, 0, 1)))
    stepped.alpha[:60] = stepped.alpha[800:] = 0.0
    middle = slice(200, 600)
    np.testing.assert_array_equal(with_whole_sides(stepped).alpha[middle], stepped.alpha[middle])
