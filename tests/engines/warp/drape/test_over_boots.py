"""Trousers hide the shafts of boots, and shoes do not widen them."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import RIGHT, SIDES, BodyModel, measure_body
from engines.warp.drape.over_boots import around_boot
from tests.engines.mannequin import draw_mannequin

SHARES = np.linspace(0.0, 1.05, 56)


def booted(half: float) -> BodyModel:
    """Boots up to the middle of the shin, of a half width in shoulder widths."""
    person = draw_mannequin(960, 760, arms="out").person_map
    body = measure_body(person)
    labels = person.labels.copy()
    rows, columns = np.indices(labels.shape)
    for side in SIDES:
        x, y = body.legs[side].points(np.array([0.72]))[0]
        shaft = (rows > y) & (np.abs(columns - x) < half * body.shoulder_width)
        labels[shaft] = Label.FEET
    matte = np.where(labels > 0, 255, 0).astype(np.uint8)
    return measure_body(replace(person, labels=labels, matte=matte))


@pytest.mark.parametrize("half", [0.15, 0.22])
def test_cloth_reaches_around_a_shaft(half: float) -> None:
    body = booted(half)
    outer, inner = around_boot(body, RIGHT, SHARES)
    shin = (SHARES > 0.78) & (SHARES < 1.0)
    for edge in (outer, inner):
        assert (edge[shin] >= 1.0 * half * body.shoulder_width - 2.0).all()
        assert edge[body.legs[RIGHT].bend > SHARES].max() == 0.0


def test_shoes_are_no_boots() -> None:
    body = measure_body(draw_mannequin(960, 760, arms="out").person_map)
    outer, inner = around_boot(body, RIGHT, SHARES)
    assert not outer.any()
    assert not inner.any()
