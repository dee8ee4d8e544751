"""Dresses and jumpsuits lie on the body."""

import numpy as np
import pytest

from engines.base import Landmark
from engines.garment_kinds import GarmentKind
from engines.warp.body.model import LEFT, NECK_HALF_WIDTH, NECK_RISE, RIGHT, SIDES, BodyModel, measure_body
from engines.warp.drape.full import drape_full
from engines.warp.drape.hang import drop_to, falling, hanging_rows
from tests.engines.hanging_drawings import dress
from tests.engines.mannequin import Mannequin, draw_mannequin


@pytest.fixture(scope="module")
def mannequin() -> Mannequin:
    return draw_mannequin(height=512, width=384, arms="out")


@pytest.fixture(scope="module")
def body(mannequin: Mannequin) -> BodyModel:
    return measure_body(mannequin.person_map)


def test_dress_covers_the_torso(body: BodyModel) -> None:
    alpha = drape_full(dress(), body).alpha
    for height in (0.35, 0.6, 0.9, 1.2):
        x, y = body.point(height).round().astype(int)
        assert alpha[y, x] > 0.95


def test_shoulders_lie_on_the_shoulders(body: BodyModel) -> None:
    alpha = drape_full(dress(sleeves=True), body).alpha
    for side in SIDES:
        inside = body.point(0.0, 0.8 * side * body.tip_offset(side))
        tip_rise = float((body.skeleton.shoulders - body.tips[side]) @ body.skeleton.down)
        ends = np.array([NECK_HALF_WIDTH * body.shoulder_width, body.tip_offset(side)])
        rise = np.interp(0.8 * body.tip_offset(side), ends, [NECK_RISE * body.shoulder_width, tip_rise])
        x, y = inside.round().astype(int)
        column = alpha[:, x]
        first = int(np.argmax(column > 0.5))
        assert first == pytest.approx(y - rise, abs=0.08 * body.shoulder_width)


def test_hem_of_a_midi_dress_is_between_knee_and_ankle(mannequin: Mannequin, body: BodyModel) -> None:
    alpha = drape_full(dress(), body).alpha
    last = int(np.flatnonzero(alpha.max(axis=1) > 0.5)[-1])
    assert mannequin.point(Landmark.LEFT_HIP)[1] < last < mannequin.point(Landmark.LEFT_ANKLE)[1]


def test_waist_is_laid_on_the_waist(body: BodyModel) -> None:
    drape = drape_full(dress(), body)
    torso = drape.pieces[-1].alpha
    widths = [(torso[int(body.point(height)[1])] > 0.5).sum() for height in np.linspace(0.4, 1.0, 25)]
    narrowest = np.linspace(0.4, 1.0, 25)[int(np.argmin(widths))]
    assert 0.5 < narrowest < 0.8


def test_sleeves_lie_on_the_arms(mannequin: Mannequin, body: BodyModel) -> None:
    drape = drape_full(dress(sleeves=True), body)
    sleeves = [piece for piece in drape.pieces if piece.name.endswith("sleeve")]
    assert {piece.name for piece in sleeves} == {"left_sleeve", "right_sleeve"}
    left = next(piece for piece in sleeves if piece.name == "left_sleeve")
    x, y = body.arms[LEFT].points(np.array([0.2], np.float32))[0].round().astype(int)
    assert left.alpha[y, x] > 0.9


def test_pieces_are_drawn_back_to_front(body: BodyModel) -> None:
    names = [piece.name for piece in drape_full(dress(sleeves=True), body).pieces]
    assert names[0] == "torso"


def test_jumpsuit_has_two_legs_under_its_torso(mannequin: Mannequin, body: BodyModel) -> None:
    drape = drape_full(dress(legs=True), body, GarmentKind.JUMPSUIT)
    assert [piece.name for piece in drape.pieces][-1] == "torso"
    assert {"left_leg", "right_leg"} < {piece.name for piece in drape.pieces}
    for landmark in (Landmark.LEFT_KNEE, Landmark.RIGHT_KNEE):
        x, y = mannequin.point(landmark).round().astype(int)
        assert drape.alpha[y, x] > 0.9


def test_no_gap_at_the_waist_of_a_jumpsuit(body: BodyModel) -> None:
    alpha = drape_full(dress(legs=True), body, GarmentKind.JUMPSUIT).alpha
    x = int(body.point(0.67)[0])
    rows = slice(int(body.point(0.4)[1]), int(body.point(1.1)[1]))
    assert alpha[rows, x - 10 : x + 10].min() > 0.95


@pytest.mark.parametrize("share", [0.95, 0.62, 0.4])
def test_legs_out_of_the_frame(mannequin: Mannequin, share: float) -> None:
    height = int(share * mannequin.photo.shape[0])
    person = mannequin.person_map
    landmarks = person.landmarks.copy()
    landmarks[landmarks[:, 1] > height, 3] = 0.1
    cut = type(person)(person.labels[:height], person.matte[:height], landmarks, person.score)
    for cloth, kind in ((dress(), None), (dress(sleeves=True), None), (dress(legs=True), GarmentKind.JUMPSUIT)):
        drape = drape_full(cloth, measure_body(cut), kind)
        assert np.isfinite(drape.alpha).all()
        assert drape.alpha[: height // 2].max() > 0.9


def test_sleeves_are_shaded_like_the_torso_at_their_seam_and_round_at_their_cuff(body: BodyModel) -> None:
    sleeve = next(piece for piece in drape_full(dress(sleeves=True), body).pieces if piece.name == "left_sleeve")
    rows = np.flatnonzero((sleeve.alpha > 0.9).any(axis=1))
    turned = [np.abs(sleeve.across[row][sleeve.alpha[row] > 0.9]).max() for row in (rows[2], rows[-4])]
    assert turned[0] < 0.3
    assert turned[1] > 0.8


def test_rows_go_straight_down_a_standing_person() -> None:
    body = measure_body(draw_mannequin().person_map)
    rows = hanging_rows(body, 0.8, np.linspace(0.0, 200.0, 30))
    np.testing.assert_allclose(rows.centres[:, 0], body.point(0.8)[0], atol=2)
    assert (np.diff(rows.centres[:, 1]) > 0).all()


def test_extent_covers_both_legs() -> None:
    body = measure_body(draw_mannequin().person_map)
    knee = drop_to(body, 0.8, "knee")
    rows = hanging_rows(body, 0.8, np.linspace(0.0, knee, 30))
    for side in (LEFT, RIGHT):
        leg = body.legs[side]
        edge = abs(float(leg.points(np.array([leg.bend]))[0, 0]) - rows.centres[-1, 0])
        assert rows.extents[side][-1] > edge


def test_flared_cloth_falls_from_its_widest_place() -> None:
    natural = np.array([50.0, 60.0, 70.0, 80.0])
    assert falling(np.array([50.0, 75.0, 66.0, 80.0]), natural).tolist() == [50.0, 75.0, 75.0, 80.0]
    tapered = np.array([70.0, 65.0, 60.0])
    assert falling(np.array([70.0, 65.0, 60.0]), tapered).tolist() == [70.0, 65.0, 60.0]
