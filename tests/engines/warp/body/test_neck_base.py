"""Drawn people whose neck stands beside the middle of their shoulders."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.garment.cutout import cut_out
from engines.garment.upper_landmarks import find_upper_landmarks
from engines.warp.body.model import LEFT, RIGHT, BodyModel, measure_body
from engines.warp.drape.fit import fit_garment, neck_base
from engines.warp.drape.torso_loft import TorsoLoft
from tests.engines.drawings import draw_garment
from tests.engines.mannequin import draw_mannequin

WIDTH = 0.34
"""Of the neck, in shoulder widths."""


def body_with_neck(aside: float, hair: bool = False) -> BodyModel:
    """A person with a neck so many shoulder widths right of the middle, with hair over its right edge or without."""
    person_map = draw_mannequin(960, 760, sleeves="none").person_map
    body = measure_body(person_map)
    labels = person_map.labels.copy()
    labels[np.isin(labels, (Label.NECK, Label.HAIR, Label.FACE))] = Label.BACKGROUND
    height = body.heights * body.torso_length / body.shoulder_width
    rows = (height > -0.45) & (height < -0.15)
    labels[rows & (np.abs(body.laterals - aside) < WIDTH / 2)] = Label.NECK
    if hair:
        labels[rows & (body.laterals > aside + 0.05) & (body.laterals < aside + 0.3)] = Label.HAIR
    return measure_body(replace(person_map, labels=labels, matte=np.where(labels > 0, 255, 0).astype(np.uint8)))


@pytest.mark.parametrize("aside", [-0.15, 0.12])
def test_the_neck_of_somebody_who_is_turned_is_found_where_it_stands(aside: float) -> None:
    body = body_with_neck(aside)
    found = neck_base(body).middle / body.shoulder_width
    assert found * np.sign(aside) == pytest.approx(abs(aside) - 0.04, abs=0.02)


def test_a_neck_that_hair_hides_on_one_side_says_nothing() -> None:
    assert neck_base(body_with_neck(-0.15, hair=True)).middle == 0.0
    assert neck_base(body_with_neck(0.02)).middle == 0.0


def test_the_sides_of_a_neck_are_found_where_they_are_upright() -> None:
    body = body_with_neck(-0.03)
    sides = neck_base(body).sides
    assert sides[LEFT] / body.shoulder_width == pytest.approx(WIDTH / 2 + 0.03, abs=0.02)
    assert sides[RIGHT] / body.shoulder_width == pytest.approx(WIDTH / 2 - 0.03, abs=0.02)
    labels = body.labels.copy()
    height = body.heights * body.torso_length / body.shoulder_width
    labels[(height > -0.45) & (height < -0.15) & (body.laterals < 0) & (body.laterals > -0.65 - height)] = Label.NECK
    assert neck_base(body.relabelled(labels)).sides[LEFT] == 0.0


def test_a_neckband_begins_beside_the_neck_on_both_sides() -> None:
    marks = find_upper_landmarks(cut_out(draw_garment("t-shirt").picture))
    body = body_with_neck(-0.035)
    narrow = replace(marks.shoulders, neck_foot=marks.shoulders.neck_foot * (0.3, 1.0))
    fit = fit_garment(replace(marks, shoulders=narrow), body)
    assert fit.neck[LEFT] > neck_base(body).sides[LEFT] + 0.02 * body.shoulder_width
    standing = replace(narrow, neck_top=narrow.neck_top - (0.0, 20.0))
    assert fit_garment(replace(marks, shoulders=standing), body).neck[LEFT] < fit.neck[LEFT]


def test_a_collar_goes_round_the_neck_and_not_round_the_axis() -> None:
    marks = find_upper_landmarks(cut_out(draw_garment("t-shirt").picture))
    body = body_with_neck(-0.15)
    loft = TorsoLoft(marks, body, fit_garment(marks, body))
    foot = marks.shoulders.neck_foot
    points = np.array([[marks.axis + side * foot[0], foot[1]] for side in (LEFT, 0, RIGHT)])
    left, middle, right = (loft.place(points) - body.skeleton.shoulders) @ body.skeleton.right / body.shoulder_width
    assert middle == pytest.approx(neck_base(body).middle / body.shoulder_width, abs=0.01)
    assert right - middle == pytest.approx(middle - left, abs=0.01)
    assert right - left > WIDTH
