"""Hanging cloth follows the axis to the hips, then gravity, and clears the legs."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import LEFT, RIGHT, measure_body
from engines.warp.drape.hang import drop_to, falling, hanging_half_width, hanging_rows
from tests.engines.mannequin import draw_mannequin


def test_rows_go_straight_down_a_standing_person() -> None:
    body = measure_body(draw_mannequin().person_map)
    rows = hanging_rows(body, 0.8, np.linspace(0.0, 200.0, 30))
    np.testing.assert_allclose(rows.centres[:, 0], body.point(0.8)[0], atol=2)
    assert (np.diff(rows.centres[:, 1]) > 0).all()


def test_extent_covers_both_legs() -> None:
    body = measure_body(draw_mannequin().person_map)
    knee = drop_to(body, 0.8, "knee")
    rows = hanging_rows(body, 0.8, np.linspace(0.0, knee, 30))
    for side in (LEFT, RIGHT):
        leg = body.legs[side]
        edge = abs(float(leg.points(np.array([leg.bend]))[0, 0]) - rows.centres[-1, 0])
        assert rows.extents[side][-1] > edge


def test_cloth_is_never_narrower_than_what_is_underneath() -> None:
    extent = np.array([50.0, 60.0, 70.0])
    assert (hanging_half_width(np.array([40.0, 50.0, 60.0]), extent, 60.0) >= extent).all()


def test_flat_width_is_gathered_beyond_the_hips() -> None:
    half = hanging_half_width(np.array([200.0]), np.array([50.0]), 60.0)
    assert half[0] == pytest.approx(60 + 0.85 * 140)


def test_legs_stay_within_cloth_that_is_narrower_than_the_old_trousers() -> None:
    half = hanging_half_width(np.array([40.0, 40.0]), np.array([90.0, 90.0]), 50.0, np.array([0.0, 70.0]))
    assert half[0] < 70 < half[1]


def test_bare_legs_count_as_far_as_they_are_seen() -> None:
    body = measure_body(draw_mannequin().person_map)
    labels = np.where(body.labels == Label.LOWER, np.uint8(Label.LEGS), body.labels)
    distances = np.linspace(0.0, drop_to(body, 0.8, "knee"), 30)
    bare = hanging_rows(replace(body, labels=labels), 0.8, distances)
    at = round(float(bare.centres[-1, 1]))
    last = np.flatnonzero(labels[at] == Label.LEGS)[-1]
    assert bare.legs[RIGHT][-1] >= last - bare.centres[-1, 0] - 2
    assert (hanging_rows(body, 0.8, distances).legs[RIGHT] <= bare.legs[RIGHT] + 1e-3).all()


def test_flared_cloth_falls_from_its_widest_place() -> None:
    natural = np.array([50.0, 60.0, 70.0, 80.0])
    assert falling(np.array([50.0, 75.0, 66.0, 80.0]), natural).tolist() == [50.0, 75.0, 75.0, 80.0]
    tapered = np.array([70.0, 65.0, 60.0])
    assert falling(np.array([70.0, 65.0, 60.0]), tapered).tolist() == [70.0, 65.0, 60.0]
