"""Trousers are tucked into boots where cloth ends at a shaft, not where it hangs around one or a leg is bare."""

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.boots import cover_of_boot, going_into, rim_of_boot
from engines.warp.body.model import RIGHT, SIDES, measure_body
from tests.engines.booted import RIM, draw_booted
from tests.engines.mannequin import draw_mannequin


@pytest.mark.parametrize("side", SIDES)
def test_the_rim_lies_where_the_shaft_begins(side: int) -> None:
    _, body = draw_booted(0.2)
    assert rim_of_boot(body, side) == pytest.approx(RIM, abs=0.01)


def test_cloth_that_is_wider_hangs_around_the_shaft() -> None:
    _, body = draw_booted(0.1)
    assert rim_of_boot(body, RIGHT) is None


def test_above_a_bare_leg_nothing_is_tucked_in() -> None:
    _, body = draw_booted(0.2, cloth=Label.LEGS)
    assert rim_of_boot(body, RIGHT) is None


def test_shoes_are_no_boots() -> None:
    assert rim_of_boot(measure_body(draw_mannequin(960, 760, arms="out").person_map), RIGHT) is None


def test_the_cover_is_that_of_the_boot_on_its_leg() -> None:
    _, body = draw_booted(0.2)
    cover = cover_of_boot(body, RIGHT, RIM)
    boot = body.labels == Label.FEET
    middle = body.shape[1] // 2
    own = np.indices(boot.shape)[1] > middle if cover[:, middle:].any() else np.indices(boot.shape)[1] < middle
    assert cover[boot & own].mean() > 0.9
    assert cover[~boot].max() < 0.5
    assert not cover[~own].any()


def test_a_leg_is_dark_where_it_goes_into_a_boot() -> None:
    boot = np.zeros((80, 60), np.float32)
    boot[50:, 20:40] = 1.0
    factor = going_into(boot, 150.0)
    assert factor[49, 30] < 0.75
    assert factor[20, 30] == 1.0
    assert np.all(np.diff(factor[30:50, 30]) <= 0)
