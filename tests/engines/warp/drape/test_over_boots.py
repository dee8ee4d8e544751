"""Trousers hide the shafts of boots, and shoes do not widen them."""

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import RIGHT, measure_body
from engines.warp.drape.over_boots import around_boot
from tests.engines.booted import draw_booted
from tests.engines.mannequin import draw_mannequin

SHARES = np.linspace(0.0, 1.05, 56)


@pytest.mark.parametrize("half", [0.15, 0.22])
def test_cloth_reaches_around_a_shaft_on_a_bare_leg(half: float) -> None:
    _, body = draw_booted(half, cloth=Label.LEGS)
    outer, inner = around_boot(body, RIGHT, SHARES)
    shin = (SHARES > 0.78) & (SHARES < 1.0)
    for edge in (outer, inner):
        assert (edge[shin] >= 1.0 * half * body.shoulder_width - 2.0).all()
        assert edge[body.legs[RIGHT].bend > SHARES].max() == 0.0


def test_cloth_that_goes_into_a_shaft_does_not() -> None:
    _, body = draw_booted(0.2)
    assert not np.any(around_boot(body, RIGHT, SHARES))


def test_shoes_are_no_boots() -> None:
    body = measure_body(draw_mannequin(960, 760, arms="out").person_map)
    outer, inner = around_boot(body, RIGHT, SHARES)
    assert not outer.any()
    assert not inner.any()
