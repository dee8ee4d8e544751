"""Where on the arm the cuffs of long, three-quarter and short sleeves lie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines.garment.cutout import cut_out
from engines.garment.upper_landmarks import UpperLandmarks, find_upper_landmarks
from engines.warp.body.model import LEFT, SIDES, BodyModel, measure_body
from engines.warp.drape.fit import fit_garment
from engines.warp.drape.sleeve_ribbons import ABOVE_WRIST, cuff_share
from tests.engines.drawings import CUFFS, draw_garment
from tests.engines.mannequin import draw_mannequin

THREE_QUARTER = ((0.325, 0.74), (0.255, 0.76))


def drawn_marks(kind: str, monkeypatch: pytest.MonkeyPatch) -> UpperLandmarks:
    monkeypatch.setitem(CUFFS, "three quarter", THREE_QUARTER)
    return find_upper_landmarks(cut_out(draw_garment(kind).picture))


def ends(marks: UpperLandmarks, body: BodyModel, *, looser: float = 1.0) -> list[float]:
    assert marks.sleeves is not None
    scale = fit_garment(marks, body).scale * looser
    return [cuff_share(marks, marks.sleeves, body, side, start=0.06, scale=scale) for side in SIDES]


def foreshortened(body: BodyModel, side: int, by: float) -> BodyModel:
    """The body with one forearm towards the camera."""
    arm = body.arms[side]
    forearm = arm.length * (1 - arm.bend) * by
    length = arm.length * arm.bend + forearm
    return replace(body, arms=body.arms | {side: replace(arm, length=length, bend=arm.length * arm.bend / length)})


@pytest.mark.parametrize("looser", [1.0, 1.15])
def test_three_quarter_sleeves_show_the_forearm_however_loose_the_old_clothes_are(
    looser: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = measure_body(draw_mannequin(sleeves="none").person_map)
    assert all(
        0.62 < end <= ABOVE_WRIST + 0.02 for end in ends(drawn_marks("three quarter", monkeypatch), body, looser=looser)
    )
    assert all(end > 1.0 for end in ends(drawn_marks("long sleeve", monkeypatch), body, looser=looser))


def test_an_arm_that_is_drawn_shorter_has_the_same_sleeve(monkeypatch: pytest.MonkeyPatch) -> None:
    body = foreshortened(measure_body(draw_mannequin(sleeves="none").person_map), LEFT, 0.5)
    shorter, whole = ends(drawn_marks("three quarter", monkeypatch), body)
    # Half way down the forearm on both.
    on_forearm = [
        (end - body.arms[side].bend) / (1 - body.arms[side].bend)
        for side, end in zip(SIDES, (shorter, whole), strict=True)
    ]
    assert on_forearm[0] == pytest.approx(on_forearm[1], abs=0.03)
    assert all(end > 1.0 for end in ends(drawn_marks("long sleeve", monkeypatch), body))


def test_both_sleeves_of_a_garment_are_equally_long(monkeypatch: pytest.MonkeyPatch) -> None:
    marks = drawn_marks("t-shirt", monkeypatch)
    assert marks.sleeves is not None
    shorter = replace(
        marks.sleeves[0], lower=marks.sleeves[0].lower - (0.0, 8.0), upper=marks.sleeves[0].upper - (0.0, 8.0)
    )
    body = measure_body(draw_mannequin(sleeves="none").person_map)
    left, right = ends(replace(marks, sleeves=(shorter, marks.sleeves[1])), body)
    assert left == pytest.approx(right, abs=0.02)
    assert np.all(np.array([left, right]) < 0.6)
