"""Knees lie on knees, and hems where they belong."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.garment.lower_landmarks import find_lower_landmarks
from engines.warp.body.model import RIGHT, SIDES, measure_body
from engines.warp.drape.leg_length import KNEE, LONGEST, LOWEST_CROTCH, crotch_share, knees_on_knees, leg_end, old_hem
from engines.warp.drape.lower import drape_lower
from tests.engines.hanging_drawings import shorts, trousers
from tests.engines.mannequin import draw_mannequin

BODY = measure_body(draw_mannequin(640, 480).person_map)
WAYS = np.linspace(0.0, 1.0, 40)


@pytest.mark.parametrize("crotch", [260, 300, 350])
def test_the_garments_knee_is_drawn_at_the_knee(crotch: int) -> None:
    cloth = trousers(crotch=crotch)
    stripe = round(60 + KNEE * (830 - 60))
    cloth.colour[stripe - 6 : stripe + 7] = (1.0, 0.0, 0.0)
    drape = drape_lower(cloth, BODY)
    for side in SIDES:
        leg = BODY.legs[side]
        x, y = BODY.skeleton.knee[side].round().astype(int)
        piece = next(piece for piece in drape.pieces if piece.name == ("left_leg" if side < 0 else "right_leg"))
        red = np.flatnonzero(piece.colour[:, x, 0] > 0.7)
        assert float(red.mean()) == pytest.approx(y, abs=0.03 * leg.length)


@pytest.mark.parametrize("crotch", [260, 330, 400])
def test_the_way_down_the_leg_is_smooth(crotch: int) -> None:
    marks = find_lower_landmarks(trousers(crotch=crotch))
    shares = knees_on_knees(marks, BODY.legs[RIGHT], WAYS, 1.05)
    steps = np.diff(shares)
    assert shares[[0, -1]] == pytest.approx([0.0, 1.05])
    assert steps.min() > 0.5 * steps.mean()
    assert np.abs(np.diff(steps)).max() < 0.1 * steps.mean()


def test_shorts_have_no_knee() -> None:
    marks = find_lower_landmarks(shorts())
    assert knees_on_knees(marks, BODY.legs[RIGHT], WAYS, 0.3) == pytest.approx(0.3 * WAYS)


def test_long_trousers_hide_the_hem_of_the_old_ones() -> None:
    person = draw_mannequin(640, 480).person_map
    shoes = BODY.legs[RIGHT].points(np.array([1.09]))[0, 1]
    below = (np.arange(640)[:, None] < shoes) & (person.labels == Label.FEET)
    labels = np.where(below, np.uint8(Label.LOWER), person.labels)
    body = measure_body(replace(person, labels=labels))
    marks = find_lower_landmarks(trousers())
    usual, longer = (leg_end(marks, somebody, 0.8, 0.6) for somebody in (BODY, body))
    assert old_hem(body) > usual
    assert longer == pytest.approx(min(old_hem(body) + 0.02, LONGEST))


def test_longer_sizes_end_lower() -> None:
    for cloth in (trousers(), shorts()):
        marks = find_lower_landmarks(cloth)
        ends = [leg_end(marks, BODY, 0.8, 0.6, length) for length in (0.95, 1.0, 1.05)]
        assert ends == sorted(set(ends))


def test_a_long_rise_hangs_below_the_crotch_and_a_short_one_at_it() -> None:
    shares = []
    for crotch in (230, 330, 400):
        marks = find_lower_landmarks(trousers(crotch=crotch))
        shares.append(crotch_share(marks, BODY, 0.8, 0.6, leg_end(marks, BODY, 0.8, 0.6)))
    assert shares[0] == 0.0
    assert 0.0 < shares[1] <= shares[2]
    leg = float(np.mean([BODY.legs[side].length for side in SIDES]))
    assert shares[2] * leg <= LOWEST_CROTCH * BODY.shoulder_width + 1e-3


def test_the_legs_are_not_drawn_out_by_a_long_rise() -> None:
    cloth = trousers(crotch=320)
    rows = (320 + 20, 320 + 200)
    for row in rows:
        cloth.colour[row - 4 : row + 5] = (1.0, 0.0, 0.0)
    drape = drape_lower(cloth, BODY)
    piece = next(piece for piece in drape.pieces if piece.name == "right_leg")
    x = round(float(BODY.legs[RIGHT].points(np.array([0.3]))[0, 0]))
    red = np.flatnonzero(piece.colour[:, x, 0] > 0.7)
    first, last = (float(part.mean()) for part in np.split(red, [int(np.argmax(np.diff(red))) + 1]))
    whole = (BODY.crotch_height - 0.8) * BODY.torso_length + BODY.legs[RIGHT].length
    assert (last - first) / 180 == pytest.approx(whole / (830 - 60), rel=0.12)
