"""How high the neckline of a drawn top comes to lie on a drawn person, and what stays where it was."""

from __future__ import annotations

import numpy as np

from engines.garment.cutout import cut_out
from engines.garment.upper_landmarks import find_upper_landmarks
from engines.warp.body.model import measure_body
from engines.warp.drape.fit import fit_garment
from engines.warp.drape.over_shoulder import raised
from engines.warp.drape.torso_loft import TorsoLoft
from tests.engines.drawings import draw_garment
from tests.engines.mannequin import draw_mannequin

UNIT = 200.0
LENGTHS = np.linspace(-0.5, 3.0, 400) * UNIT


def test_what_stands_above_the_foot_of_the_collar_is_not_raised_and_no_row_runs_into_the_next() -> None:
    up = raised(LENGTHS, UNIT)
    assert (up[LENGTHS <= 0] == 0).all()
    assert np.diff(LENGTHS - up).min() > 0.3 * np.diff(LENGTHS).min()


def test_a_crew_neck_is_shallower_on_a_person_than_on_a_table_and_the_hem_stays() -> None:
    deep, low = raised(np.array([0.19, 1.8]) * UNIT, UNIT) / UNIT
    assert 0.04 < deep < 0.08
    assert low < 0.015


def test_a_round_neckline_stays_round() -> None:
    down = np.array([0.05, 0.19]) * UNIT
    ends, bottom = (down - raised(down, UNIT)) / down
    assert bottom > 0.6
    assert abs(ends - bottom) < 0.06


def test_the_neckline_of_a_top_lies_higher_than_its_length_says() -> None:
    marks = find_upper_landmarks(cut_out(draw_garment("t-shirt").picture))
    body = measure_body(draw_mannequin(960, 760, sleeves="none").person_map)
    fit = fit_garment(marks, body)
    depth = 0.19 * body.shoulder_width
    rows = marks.shoulders.neck_foot[1] + np.array([0.0, depth]) / fit.scale_down
    foot, front = TorsoLoft(marks, body, fit).place(np.stack([np.full(2, marks.axis), rows], axis=1))
    drop = float((front - foot) @ body.skeleton.down)
    assert 0.5 * depth < drop < 0.85 * depth
