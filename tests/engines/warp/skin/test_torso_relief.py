"""A bare torso has a form where the photo shows none."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import measure_body
from engines.warp.skin.torso_relief import NAVEL, NAVEL_HEIGHT, belly_relief, chest_relief
from tests.engines.mannequin import draw_mannequin


def test_no_form_is_invented_where_the_chest_is_seen() -> None:
    body = measure_body(draw_mannequin().person_map)
    hidden = chest_relief(body)
    assert hidden.max() > 1.01
    chest = (np.abs(body.laterals) < 0.3) & (np.abs(body.heights) < 0.3)
    body.labels[chest] = Label.TORSO_SKIN
    np.testing.assert_allclose(chest_relief(body)[chest], 1.0, atol=1e-2)


def test_below_a_seen_chest_the_hidden_one_has_its_form() -> None:
    body = measure_body(draw_mannequin().person_map)
    body.labels[(np.abs(body.laterals) < 0.35) & (body.heights > -0.3) & (body.heights < 0.1)] = Label.TORSO_SKIN
    below = (np.abs(body.laterals) < 0.3) & (body.heights > 0.25) & (body.heights < 0.4)
    relief = chest_relief(body)[below]
    assert relief.max() - relief.min() > 0.03


def test_a_navel_is_invented_on_a_hidden_belly_alone() -> None:
    body = measure_body(draw_mannequin().person_map)
    assert belly_relief(body).min() < 0.8
    body.labels[(np.abs(body.laterals) < 0.3) & (body.heights > 0.6) & (body.heights < 0.9)] = Label.TORSO_SKIN
    np.testing.assert_array_equal(belly_relief(body), 1.0)


def test_the_middle_of_a_belly_is_darker_than_its_sides_and_lighter_than_the_furrows_beside_them() -> None:
    body = measure_body(draw_mannequin().person_map)
    relief = belly_relief(body)
    row = int(body.point(0.66)[1])

    def at(aside: float) -> float:
        return float(relief[row, int(body.point(0.66, aside * body.shoulder_width)[0])])

    assert at(0.12) > at(0.0) + 0.03
    assert at(0.12) > at(0.25) + 0.03


def test_collarbones_lie_above_the_middle_between_the_shoulder_joints() -> None:
    body = measure_body(draw_mannequin().person_map)
    relief, unit = chest_relief(body), body.shoulder_width
    along = np.linspace(-0.25, 0.15, 81)
    points = body.point(along * unit / body.torso_length, 0.15 * unit).round().astype(int)
    assert along[int(np.argmax(relief[points[:, 1], points[:, 0]]))] == pytest.approx(-0.12, abs=0.03)


def test_a_navel_that_the_waistband_covers_is_not_drawn_beside_it() -> None:
    body = measure_body(draw_mannequin().person_map)
    x, y = body.point(NAVEL).round().astype(int)
    below, on = (replace(body, waist=replace(body.waist, height=NAVEL + far, bend=(0.0, 0.0))) for far in (0.1, 0.0))
    around = np.s_[y - 1 : y + 2, x - 1 : x + 2]
    assert belly_relief(below)[around].mean() < belly_relief(on)[around].mean() - 0.1


def test_a_navel_is_darkest_under_its_upper_rim_and_light_at_the_lower_one() -> None:
    body = measure_body(draw_mannequin().person_map)
    relief, unit = belly_relief(body), body.shoulder_width

    def at(down: float) -> float:
        x, y = body.point(NAVEL + down * unit / body.torso_length).round().astype(int)
        return float(relief[y, x])

    assert at(-0.5 * NAVEL_HEIGHT) < at(0.5 * NAVEL_HEIGHT) < at(1.5 * NAVEL_HEIGHT)
