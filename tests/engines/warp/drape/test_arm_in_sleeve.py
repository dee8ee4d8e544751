"""The arm a sleeve goes around, and how the sleeve ends."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.garment.curves import lengths_along
from engines.garment.cutout import cut_out
from engines.garment.regions import dilated
from engines.garment.upper_landmarks import find_upper_landmarks
from engines.warp.body.limbs import ARM_USUAL
from engines.warp.body.model import RIGHT, SIDES, BodyModel, measure_body
from engines.warp.drape.arm_in_sleeve import arm_in_sleeve
from engines.warp.drape.fit import MOST_TIP, fit_garment
from engines.warp.drape.sleeve_ribbons import LaidSleeve, lay_sleeve
from engines.warp.drape.torso_loft import TorsoLoft
from tests.engines.drawings import draw_garment
from tests.engines.mannequin import draw_mannequin

HEIGHT = 960


def bare_body() -> BodyModel:
    return measure_body(draw_mannequin(HEIGHT, 760, arms="out", sleeves="none").person_map)


def laid(kind: str, body: BodyModel) -> LaidSleeve:
    cloth = cut_out(draw_garment(kind).picture)
    marks = find_upper_landmarks(cloth)
    assert marks.sleeves is not None
    return lay_sleeve(marks, body, TorsoLoft(marks, body, fit_garment(marks, body)), RIGHT, marks.sleeves[1])


def test_a_centre_line_beside_the_arm_does_not_move_the_sleeve() -> None:
    body = bare_body()
    true = body.arms[RIGHT]
    shifted = replace(true, line=true.line + true.outward * 12)
    arm = arm_in_sleeve(replace(body, arms={**body.arms, RIGHT: shifted}), RIGHT)
    forearm = (true.shares > true.bend + 0.12) & (true.shares < 0.94)
    assert arm.outer[forearm] == pytest.approx(0.022 * HEIGHT - 12, abs=3)
    assert arm.inner[forearm] == pytest.approx(0.022 * HEIGHT + 12, abs=3)


@pytest.mark.parametrize("side", SIDES)
def test_an_arm_in_a_wide_sleeve_is_no_thicker_than_arms_are(side: int) -> None:
    body = measure_body(draw_mannequin(HEIGHT, 760, sleeves="long").person_map)
    wide = replace(body.arms[side], outer=np.full_like(body.arms[side].outer, 31.0))
    arm = arm_in_sleeve(replace(body, arms={**body.arms, side: wide}), side)
    forearm = (wide.shares > wide.bend + 0.1) & (wide.shares < 0.9)
    usual = np.interp(wide.shares, [0.0, wide.bend, 1.0], ARM_USUAL) * body.shoulder_width
    assert (arm.outer[forearm] < 1.1 * usual[forearm]).all()


def test_a_shoulder_under_a_close_old_sleeve_is_as_wide_as_it_is_seen() -> None:
    body = measure_body(draw_mannequin(HEIGHT, 760, arms="out", sleeves="short").person_map)
    whole = body.arms[RIGHT]
    wider = (whole.outer + 0.03 * body.shoulder_width * (whole.shares < 0.25)).astype(np.float32)
    cloth = dilated(body.labels == Label.UPPER, round(0.04 * body.shoulder_width))
    seen = replace(
        body,
        matte=np.maximum(body.matte, cloth).astype(np.float32),
        labels=np.where(cloth & (body.labels == Label.BACKGROUND), np.uint8(Label.UPPER), body.labels),
        arms={**body.arms, RIGHT: replace(whole, outer=wider)},
    )
    shoulder = (whole.shares > 0.05) & (whole.shares < 0.15)
    gained = arm_in_sleeve(seen, RIGHT).outer - arm_in_sleeve(body, RIGHT).outer
    assert gained[shoulder].min() > 0.015 * body.shoulder_width


def test_a_sleeve_is_sewn_in_on_the_shoulder_and_not_beyond_it() -> None:
    body = bare_body()
    marks = find_upper_landmarks(cut_out(draw_garment("t-shirt").picture))
    wide = replace(marks, shoulders=replace(marks.shoulders, tip=marks.shoulders.tip * np.array([1.6, 1.0])))
    fit = fit_garment(wide, body)
    assert all(fit.tip[side] == pytest.approx(MOST_TIP * body.tip_offset(side)) for side in SIDES)


def test_the_end_of_a_long_sleeve_is_an_arc_and_the_hem_of_a_short_one_nearly_straight() -> None:
    sags = {}
    for kind in ("t-shirt", "long sleeve"):
        end = laid(kind, bare_body()).ribbon.target[-2]
        chord = end[-2] - end[1]
        aside = np.array([-chord[1], chord[0]]) / np.linalg.norm(chord)
        sags[kind] = abs((end[len(end) // 2] - end[1]) @ aside) / np.linalg.norm(chord)
    assert sags["long sleeve"] > 0.06
    assert sags["t-shirt"] < 0.045


def test_a_boxy_sleeve_keeps_nearly_the_length_it_is_cut_to() -> None:
    body, marks = bare_body(), find_upper_landmarks(cut_out(draw_garment("t-shirt").picture))
    assert marks.sleeves is not None
    whole = marks.sleeves[1]
    # Boxy sleeves are short, and end near a low armpit.
    upper, lower = (line[0] + share * (line - line[0]) for line, share in ((whole.upper, 0.8), (whole.lower, 0.4)))
    loft = TorsoLoft(marks, body, fit_garment(marks, body))
    outer = lay_sleeve(marks, body, loft, RIGHT, replace(whole, upper=upper, lower=lower)).ribbon.target[1:-1, 1]
    drawn, natural = lengths_along(outer.astype(np.float64))[-1], lengths_along(upper)[-1] * loft.fit.scale
    assert 0.9 < drawn / natural < 1.17


def test_a_cuff_goes_round_the_wrist() -> None:
    body = bare_body()
    grid = laid("long sleeve", body).ribbon
    across = grid.across
    assert across is not None
    cuff = grid.target[-2][np.abs(across[-2]) <= 1.0]
    assert np.linalg.norm(cuff[-1] - cuff[0]) < 1.5 * 2 * 0.022 * HEIGHT


def test_nothing_sticks_out_below_a_short_sleeve_at_the_armpit() -> None:
    body = bare_body()
    target = laid("t-shirt", body).ribbon.target
    along = body.arms[RIGHT].points(np.array([0.2, 0.5], np.float32))
    way = (along[1] - along[0]) / np.linalg.norm(along[1] - along[0])
    reach = (target - along[0]) @ way
    assert reach[:-2].max() < reach[-1].max() + 2
