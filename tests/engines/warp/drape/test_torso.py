"""A torso of cloth lies on that of the body."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.garment.upper_landmarks import UpperLandmarks, find_upper_landmarks
from engines.warp.body.model import LEFT, PROFILE_HEIGHTS, RIGHT, SIDES, BodyModel, measure_body
from engines.warp.drape.torso import TorsoLoft, fit_garment, neck_base, shoulder_rise
from tests.engines.drawings import draw_garment
from tests.engines.hanging_drawings import cut
from tests.engines.mannequin import draw_mannequin
from tests.engines.warp.drape.dressing import body_with, loft_of, marks_of


@pytest.mark.parametrize("band", [0.0, 16.0])
def test_a_stripe_bends_over_the_shoulder_without_a_kink(band: float) -> None:
    marks, body = marks_of("t-shirt"), body_with()
    foot = marks.shoulders.neck_foot
    top = marks.shoulders.top.copy()
    # A neckband that stands up from the shoulder.
    top[: int(foot[0]) + 12] -= band
    raised = replace(marks.shoulders, top=top, neck_foot=foot - (0.0, band))
    loft = loft_of(replace(marks, shoulders=raised), body)
    offsets = np.arange(-marks.shoulders.tip[0], marks.shoulders.tip[0], 4.0)
    stripe = np.stack([marks.axis + offsets, np.full(len(offsets), marks.shoulders.tip[1] + 30)], axis=1)
    slopes = np.diff(loft.place(stripe)[:, 1]) / 4.0
    assert np.abs(np.diff(slopes)).max() < 0.08


def strapped() -> UpperLandmarks:
    marks = marks_of("tank top")
    return replace(marks, shoulders=replace(marks.shoulders, neck_foot=marks.shoulders.tip - (4.0, 0.0)))


def test_straps_keep_to_the_shoulder() -> None:
    body, marks = body_with(), strapped()
    tip = marks.shoulders.tip * (1.6, 1.0)
    wide = replace(marks, shoulders=replace(marks.shoulders, tip=tip, neck_foot=tip - (4.0, 0.0)))
    fit = fit_garment(wide, body)
    for side in SIDES:
        assert fit.tip[side] < 0.9 * body.tip_offset(side)


@pytest.mark.parametrize("kind", ["t-shirt", "long sleeve"])
def test_a_hem_does_not_flare_after_a_raised_thigh(kind: str) -> None:
    body = body_with(arms="out")
    unit = body.shoulder_width
    thigh = np.where(PROFILE_HEIGHTS > 0.75, 0.66 * unit, body.widths[LEFT]).astype(np.float32)
    seated = replace(body, widths=body.widths | {LEFT: thigh})
    marks = marks_of(kind)
    loft, standing = loft_of(marks, seated), loft_of(marks, body)
    rows = np.linspace(marks.armpits.row, marks.hem, 40)
    edge = np.stack([marks.axis - np.interp(rows, np.arange(len(marks.half_widths[0])), marks.half_widths[0]), rows], 1)
    placed, before = (-(each.place(edge)[:, 0] - body.skeleton.shoulders[0]) for each in (loft, standing))
    assert placed[-1] < before[-1] + 0.12 * unit
    assert np.diff(placed).max() < 0.55 * np.diff(loft.place(edge)[:, 1]).mean()


def test_slim_garments_stay_closer_to_the_body_than_boxy_ones() -> None:
    marks, body = marks_of("t-shirt"), body_with()
    slim = replace(marks, hem=marks.shoulders.neck_foot[1] + marks.chest / 0.45)
    boxy = replace(marks, hem=marks.shoulders.neck_foot[1] + marks.chest / 0.62)
    wide = marks.half_widths * 1.25
    ratios = []
    for each in (slim, boxy):
        loft = loft_of(replace(each, half_widths=wide), body)
        row = loft.fit.origin + (0.7 * body.torso_length - loft.fit.origin_drop) / loft.fit.scale_down
        left = np.array([marks.axis - np.interp(row, np.arange(len(wide[0])), wide[0]), row])
        ratios.append((body.skeleton.shoulders[0] - loft.place(left)[0]) / body.half_width(0.7, LEFT))
    assert ratios[0] < ratios[1] - 0.06


def test_a_hem_goes_round_the_body_and_its_corners_are_round() -> None:
    marks, body = marks_of("t-shirt"), body_with()
    loft = loft_of(marks, body)
    row = float(marks.hem)
    left, right = (float(np.interp(row, np.arange(marks.half_widths.shape[1]), half)) for half in marks.half_widths)
    across = np.array([-left, -0.8 * left, 0.0, 0.8 * right, right])
    laid = loft.place(np.stack([marks.axis + across, np.full(5, row)], axis=1))
    bone = body.skeleton
    down = ((laid - bone.shoulders) @ bone.down) / body.shoulder_width
    bow = down[2] - down[[0, 4]]
    assert (bow > 0.03).all()
    # On an ellipse the greater part of it lies in the last fifth before the ends.
    assert (down[[1, 3]] - down[[0, 4]] > 0.55 * bow).all()


WIDTH = 0.34


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
    found = neck_base(body)[0] / body.shoulder_width
    assert found * np.sign(aside) == pytest.approx(abs(aside) - 0.04, abs=0.02)


def test_a_neck_that_hair_hides_on_one_side_says_nothing() -> None:
    assert neck_base(body_with_neck(-0.15, hair=True))[0] == 0.0
    assert neck_base(body_with_neck(0.02))[0] == 0.0


def test_a_neckband_begins_beside_the_neck_on_both_sides() -> None:
    marks = find_upper_landmarks(cut(draw_garment("t-shirt").picture))
    body = body_with_neck(-0.035)
    narrow = replace(marks.shoulders, neck_foot=marks.shoulders.neck_foot * (0.3, 1.0))
    fit = fit_garment(replace(marks, shoulders=narrow), body)
    assert fit.neck[LEFT] > neck_base(body)[1][LEFT] + 0.02 * body.shoulder_width
    standing = replace(narrow, neck_top=narrow.neck_top - (0.0, 20.0))
    assert fit_garment(replace(marks, shoulders=standing), body).neck[LEFT] < fit.neck[LEFT]


def test_a_collar_goes_round_the_neck_and_not_round_the_axis() -> None:
    marks = find_upper_landmarks(cut(draw_garment("t-shirt").picture))
    body = body_with_neck(-0.15)
    loft = TorsoLoft(marks, body, fit_garment(marks, body))
    foot = marks.shoulders.neck_foot
    points = np.array([[marks.axis + side * foot[0], foot[1]] for side in (LEFT, 0, RIGHT)])
    left, middle, right = (loft.place(points) - body.skeleton.shoulders) @ body.skeleton.right / body.shoulder_width
    assert middle == pytest.approx(neck_base(body)[0] / body.shoulder_width, abs=0.01)
    assert right - middle == pytest.approx(middle - left, abs=0.01)
    assert right - left > WIDTH


@pytest.mark.parametrize("sleeves", ["short", "long"])
def test_under_an_old_sleeve_the_shoulder_rounds_off_less_where_a_new_one_goes_on(sleeves: str) -> None:
    body = measure_body(draw_mannequin(960, 760, sleeves=sleeves).person_map)
    for side in SIDES:
        offsets = np.linspace(0.75, 0.98, 12) * body.tip_offset(side)
        columns = np.rint(body.point(0.0, side * offsets)[:, 0]).astype(int)
        silhouette = body.skeleton.shoulders[1] - (body.matte[:, columns] > 0.5).argmax(axis=0)
        below, bare = (
            (silhouette - shoulder_rise(body, offsets, side, under_sleeve=sleeved)) / body.shoulder_width
            for sleeved in (True, False)
        )
        assert np.abs(below[0]) < 0.012  # on the shoulder cloth lies where the old one does
        assert 0.02 < below[-1] < 0.035
        assert bare[-1] > below[-1] + 0.01
