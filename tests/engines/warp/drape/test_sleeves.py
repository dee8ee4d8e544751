"""Sleeves lie on arms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.garment.curves import lengths_along
from engines.garment.upper_landmarks import UpperLandmarks, find_upper_landmarks
from engines.warp.body.model import LEFT, RIGHT, SIDES, BodyModel, measure_body
from engines.warp.drape.sleeves import ABOVE_WRIST, cuff_share, lay_sleeve, old_cuff
from engines.warp.drape.torso import MOST_TIP, TorsoLoft, fit_garment
from engines.warp.drape.upper import drape_upper
from engines.warp.ribbon import Ribbon
from tests.engines.drawings import CUFFS, draw_garment
from tests.engines.hanging_drawings import cut
from tests.engines.mannequin import draw_mannequin
from tests.engines.warp.drape.dressing import body_with, loft_of, marks_of

HEIGHT = 960


def bare_body() -> BodyModel:
    return measure_body(draw_mannequin(HEIGHT, 760, arms="out", sleeves="none").person_map)


def laid(kind: str, body: BodyModel) -> Ribbon:
    cloth = cut(draw_garment(kind).picture)
    marks = find_upper_landmarks(cloth)
    assert marks.sleeves is not None
    return lay_sleeve(marks, body, TorsoLoft(marks, body, fit_garment(marks, body)), RIGHT, marks.sleeves[1])[0]


def test_a_sleeve_is_sewn_in_on_the_shoulder_and_not_beyond_it() -> None:
    body = bare_body()
    marks = find_upper_landmarks(cut(draw_garment("t-shirt").picture))
    wide = replace(marks, shoulders=replace(marks.shoulders, tip=marks.shoulders.tip * np.array([1.6, 1.0])))
    fit = fit_garment(wide, body)
    assert all(fit.tip[side] == pytest.approx(MOST_TIP * body.tip_offset(side)) for side in SIDES)


def test_a_boxy_sleeve_keeps_nearly_the_length_it_is_cut_to() -> None:
    body, marks = bare_body(), find_upper_landmarks(cut(draw_garment("t-shirt").picture))
    assert marks.sleeves is not None
    whole = marks.sleeves[1]
    # Boxy sleeves are short, and end near a low armpit.
    upper, lower = (line[0] + share * (line - line[0]) for line, share in ((whole.upper, 0.8), (whole.lower, 0.4)))
    loft = TorsoLoft(marks, body, fit_garment(marks, body))
    outer = lay_sleeve(marks, body, loft, RIGHT, replace(whole, upper=upper, lower=lower))[0].target[1:-1, 1]
    drawn, natural = lengths_along(outer.astype(np.float64))[-1], lengths_along(upper)[-1] * loft.fit.scale
    assert 0.9 < drawn / natural < 1.17


def test_a_cuff_goes_round_the_wrist() -> None:
    body = bare_body()
    grid = laid("long sleeve", body)
    across = grid.across
    assert across is not None
    cuff = grid.target[-2][np.abs(across[-2]) <= 1.0]
    assert np.linalg.norm(cuff[-1] - cuff[0]) < 1.5 * 2 * 0.022 * HEIGHT


def test_nothing_sticks_out_below_a_short_sleeve_at_the_armpit() -> None:
    body = bare_body()
    target = laid("t-shirt", body).target
    along = body.arms[RIGHT].points(np.array([0.2, 0.5], np.float32))
    way = (along[1] - along[0]) / np.linalg.norm(along[1] - along[0])
    reach = (target - along[0]) @ way
    assert reach[:-2].max() < reach[-1].max() + 2


@pytest.mark.parametrize("kind", ["t-shirt", "long sleeve"])
@pytest.mark.parametrize("arms", ["down", "out"])
def test_no_row_of_a_sleeve_lies_folded_on_the_next(kind: str, arms: str) -> None:
    marks, body = marks_of(kind), body_with(arms)
    loft = loft_of(marks, body)
    assert marks.sleeves is not None
    for side, sleeve in zip(SIDES, marks.sleeves, strict=True):
        ribbon = lay_sleeve(marks, body, loft, side, sleeve)[0]
        turned, cut = (_signed_areas(grid[1:-1]) for grid in (ribbon.target, ribbon.source))
        scale = loft.fit.scale**2
        # Cells at the armpit are thin in the garment too; none is turned over on the body.
        assert (turned * np.sign(np.median(turned)) < -0.2 * scale * np.median(np.abs(cut))).mean() < 0.01


def _signed_areas(grid: np.ndarray) -> np.ndarray:
    down, up = grid[1:, 1:] - grid[:-1, :-1], grid[1:, :-1] - grid[:-1, 1:]
    return np.asarray(down[..., 0] * up[..., 1] - down[..., 1] * up[..., 0]) / 2


THREE_QUARTER = ((0.32, 0.70), (0.252, 0.72))


def drawn_marks(kind: str, monkeypatch: pytest.MonkeyPatch) -> UpperLandmarks:
    monkeypatch.setitem(CUFFS, "three quarter", THREE_QUARTER)
    return find_upper_landmarks(cut(draw_garment(kind).picture))


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


def gloved() -> BodyModel:
    """A person whose hands are under the cuffs."""
    person_map = draw_mannequin(sleeves="long").person_map
    skin = np.isin(person_map.labels, (Label.HANDS, Label.ARMS))
    return measure_body(replace(person_map, labels=np.where(skin, np.uint8(Label.UPPER), person_map.labels)))


def test_long_sleeve_goes_over_a_hidden_hand() -> None:
    body = gloved()
    cloth = cut(draw_garment("long sleeve").picture)
    drape = drape_upper(cloth, find_upper_landmarks(cloth), body)
    assert drape.checks["right_sleeve_end"] > 1.05
    x, y = np.rint(body.arms[RIGHT].points(np.array([1.05], np.float32))[0]).astype(int)
    assert drape.pieces[-1].alpha[y, x] > 0.9


def test_short_sleeve_stays_short() -> None:
    cloth = cut(draw_garment("t-shirt").picture)
    drape = drape_upper(cloth, find_upper_landmarks(cloth), gloved())
    assert drape.checks["right_sleeve_end"] < 0.62


def test_sleeve_leaves_the_picture_with_the_old_one() -> None:
    body = gloved()
    wrist_row = int(body.arms[RIGHT].points(np.ones(1, np.float32))[0, 1])
    cut = wrist_row + round(0.15 * body.shoulder_width)
    cropped = replace(body, shape=(cut, body.shape[1]), labels=body.labels[:cut], matte=body.matte[:cut])
    arm = cropped.arms[RIGHT]
    end = old_cuff(arm, cropped)
    assert arm.points(np.array([end], np.float32))[0, 1] > cut
