from dataclasses import replace

import numpy as np
import pytest

from engines.garment.cloth import Cloth
from engines.warp.body.model import measure_body
from engines.warp.drape.lower import drape_lower
from engines.warp.drape.waist_curve import round_the_waist
from engines.warp.ribbon import Ribbon
from tests.engines.hanging_drawings import skirt, trousers
from tests.engines.mannequin import draw_mannequin

BODY = measure_body(draw_mannequin(640, 480).person_map)
BENT = replace(BODY, waist=replace(BODY.waist, bend=(-0.4, 0.0)))


def test_rows_bend_at_the_waistband_and_are_straight_at_the_crotch() -> None:
    heights, offsets = np.meshgrid(np.linspace(0.8, 1.3, 6), np.linspace(-60.0, 60.0, 5), indexing="ij")
    straight = Ribbon(np.zeros((6, 5, 2), np.float32), BODY.point(heights, offsets))
    moved = (round_the_waist(straight, BENT, 0.8, 1.2).target - straight.target)[..., 1]
    assert moved[0, [0, 4]] == pytest.approx(-0.4 * (60 / BODY.shoulder_width) ** 2 * BODY.torso_length, rel=0.02)
    assert np.abs(moved[0, 2]) < 0.01
    assert (np.diff(np.abs(moved[:, 0])) <= 0).all()
    assert np.abs(moved[-2:]).max() < 0.01


@pytest.mark.parametrize("cloth", [trousers(), skirt()])
def test_an_open_waistband_is_higher_at_the_sides(cloth: Cloth) -> None:
    first = []
    for body in (BODY, BENT):
        alpha = drape_lower(cloth, body, under_tucked_top=True).alpha
        middle = round(float(body.point(0.9)[0]))
        columns = (middle, middle + round(0.25 * body.shoulder_width))
        first.append([int(np.argmax(alpha[:, column] > 0.5)) for column in columns])
    assert abs(first[0][1] - first[0][0]) <= 1
    assert first[1][1] < first[1][0] - 2


def test_rows_over_a_raised_thigh_are_as_high_as_the_waist_and_do_not_bend_along_it() -> None:
    waist = BODY.point(np.full(5, 0.8), np.linspace(-60.0, 60.0, 5))
    # From the groin upwards to where the waistband's height is reached far out.
    thigh = BODY.point(np.linspace(0.8, 1.1, 5), np.linspace(-90.0, -70.0, 5))
    laid = Ribbon(np.zeros((2, 5, 2), np.float32), np.stack([waist, thigh]))
    moved = {each: round_the_waist(laid, BENT, 0.8, 1.2, thigh=each).target - laid.target for each in (False, True)}
    np.testing.assert_array_equal(moved[True][0], moved[False][0])
    assert np.abs(moved[False][1]).max() > 5.0
    assert np.abs(moved[True][1]).max() < 0.01
