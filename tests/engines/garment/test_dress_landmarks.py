"""Armpits, waist and sleeves of a dress are found where they were drawn, flare or not."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import EngineError
from engines.garment.armpits import Armpits, Sleeves
from engines.garment.cloth import Cloth
from engines.garment.dress_landmarks import _sleeve_part, _SleeveColumns, find_dress_landmarks
from engines.garment_kinds import GarmentKind
from tests.engines.hanging_drawings import AXIS, cloth_of, dress


def test_sleeveless_dress() -> None:
    marks = find_dress_landmarks(dress())
    assert marks.upper.sleeves is None
    assert marks.upper.axis == pytest.approx(AXIS, abs=2)
    assert marks.crotch is None


def test_flare_is_no_sleeve() -> None:
    flared = cloth_of([(0, 110), (55, 70), (100, 95), (95, 300), (260, 840), (0, 840)])
    assert find_dress_landmarks(flared).upper.sleeves is None


def test_short_sleeves() -> None:
    marks = find_dress_landmarks(dress(sleeves=True))
    assert marks.upper.sleeves is not None
    assert marks.upper.armpits.offset == pytest.approx(112, abs=18)
    assert marks.upper.armpits.row == pytest.approx(195, abs=25)
    assert marks.upper.sleeve_parts[0].sum() > 3000


def test_sleeves_are_not_part_of_the_torso() -> None:
    marks = find_dress_landmarks(dress(sleeves=True))
    rows = slice(150, 180)
    assert not marks.upper.torso_part[rows, int(AXIS + 150) :].any()


def test_waist_is_the_narrowest_row() -> None:
    marks = find_dress_landmarks(dress())
    assert marks.waist == pytest.approx(340, abs=20)


def test_straight_dress_has_no_waist() -> None:
    straight = cloth_of([(0, 110), (55, 70), (110, 95), (112, 190), (112, 840), (0, 840)])
    assert find_dress_landmarks(straight).waist is None


def test_edges_reach_the_hem() -> None:
    marks = find_dress_landmarks(dress())
    assert marks.right[800] == pytest.approx(AXIS + 167.5, abs=5)
    assert marks.bottom == pytest.approx(840, abs=3)


def test_jumpsuit_has_a_crotch() -> None:
    marks = find_dress_landmarks(dress(legs=True), GarmentKind.JUMPSUIT)
    assert marks.crotch == pytest.approx((AXIS, 560), abs=16)


def test_stated_dress_keeps_its_slit() -> None:
    assert find_dress_landmarks(dress(legs=True), GarmentKind.DRESS).crotch is None


def test_lopsided_cutout_is_refused() -> None:
    alpha = np.zeros((900, 700), np.float32)
    alpha[50:850, 100:160] = 1.0
    alpha[700:850, 100:650] = 1.0
    with pytest.raises(EngineError) as refusal:
        find_dress_landmarks(Cloth(np.zeros((900, 700, 3), np.float32), alpha))
    assert refusal.value.code == "garment_not_recognised"


def test_open_neckline_shows_no_back() -> None:
    # A dark band hangs below the open neckline like the edge of a front piece.
    cloth = cloth_of([(0, 200), (55, 70), (110, 95), (112, 190), (90, 340), (170, 840), (0, 840)])
    cloth.colour[230:236, 300:400] = 0.0
    assert not find_dress_landmarks(cloth).upper.back.any()


def test_sleeve_is_whole_where_the_axis_lies_between_two_columns() -> None:
    mask = np.zeros((900, 700), bool)
    mask[100:400, 200:501] = True
    part = _sleeve_part(
        mask,
        _SleeveColumns(np.arange(100, 150), np.full(50, 390), (100.0, 250.0)),
        1,
        axis=350.5,
        tip=np.array([98.0, 100.0]),
        armpits=Armpits(Sleeves.OPEN, 98.0, 250.0),
    )
    assert part[390, 452:500].all()


def test_scraps_outside_a_sleeve_are_its_own() -> None:
    whole = dress(sleeves=True)
    clean = find_dress_landmarks(whole)
    alpha = whole.alpha.copy()
    alpha[214:234, int(AXIS) + 210 : int(AXIS) + 221] = 1.0
    found = find_dress_landmarks(replace(whole, alpha=alpha))
    assert found.upper.sleeve_parts[1][218:230, int(AXIS) + 218].all()
    assert not found.upper.torso_part[:, int(AXIS) + 200 :].any()
    assert np.abs(found.right[195:300] - clean.right[195:300]).max() < 4


def test_waist_of_a_straight_bodice_is_where_the_skirt_begins() -> None:
    gathered = cloth_of([(0, 110), (55, 70), (110, 95), (104, 190), (104, 380), (250, 840), (0, 840)])
    assert find_dress_landmarks(gathered).waist == pytest.approx(380, abs=30)


def test_dress_that_widens_evenly_has_no_waist() -> None:
    shift = cloth_of([(0, 110), (55, 70), (100, 95), (100, 190), (220, 840), (0, 840)])
    assert find_dress_landmarks(shift).waist is None
