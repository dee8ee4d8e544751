"""Trousers land on the legs, skirts hang from the waist, whatever the frame shows."""

import numpy as np
import pytest

from engines.base import Label, Landmark
from engines.garment_kinds import GarmentKind
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.drape.lower import drape_lower
from engines.warp.pieces import Drape
from tests.engines.hanging_drawings import cloth_of, shorts, skirt, trousers
from tests.engines.mannequin import Mannequin, draw_mannequin


@pytest.fixture(scope="module")
def mannequin() -> Mannequin:
    return draw_mannequin(height=512, width=384)


@pytest.fixture(scope="module")
def body(mannequin: Mannequin) -> BodyModel:
    return measure_body(mannequin.person_map)


def cover_at(drape: Drape, mannequin: Mannequin, landmark: Landmark) -> float:
    x, y = mannequin.point(landmark).round().astype(int)
    return float(drape.alpha[y, x])


def test_trousers_cover_knees_and_ankles(mannequin: Mannequin, body: BodyModel) -> None:
    drape = drape_lower(trousers(), body)
    for landmark in (Landmark.LEFT_KNEE, Landmark.RIGHT_KNEE):
        assert cover_at(drape, mannequin, landmark) > 0.95
    x, y = mannequin.point(Landmark.LEFT_ANKLE).round().astype(int)
    assert drape.alpha[y - 12, x] > 0.95
    assert drape.alpha[y + 20, x] < 0.05


def test_trousers_cover_the_legs_below_the_top(body: BodyModel) -> None:
    alpha = drape_lower(trousers(), body).alpha
    legs = (body.leg_distance < 0.75) & (body.heights < 2.2) & (body.heights > 1.2)
    assert (alpha[legs] > 0.5).mean() > 0.99


def test_slim_trousers_do_not_take_over_the_width_of_baggy_ones(mannequin: Mannequin, body: BodyModel) -> None:
    labels = mannequin.person_map.labels
    slim = cloth_of([(0, 60), (110, 60), (130, 250), (80, 830), (40, 830), (0, 250)])
    alpha = drape_lower(slim, body).alpha
    below_crotch = body.heights > 1.3
    assert (alpha[below_crotch] > 0.5).sum() < (labels[below_crotch] == Label.LOWER).sum()


def test_each_leg_is_a_piece_of_its_own(body: BodyModel) -> None:
    names = {piece.name for piece in drape_lower(trousers(), body).pieces}
    assert names == {"left_leg", "right_leg"}


def test_no_crack_between_the_halves(mannequin: Mannequin, body: BodyModel) -> None:
    alpha = drape_lower(trousers(), body, under_tucked_top=True).alpha
    x = int(body.point(1.0)[0])
    rows = slice(int(body.point(0.95)[1]), int(body.point(1.12)[1]))
    assert alpha[rows, x - 3 : x + 4].min() > 0.95


def test_shorts_end_above_the_knee(mannequin: Mannequin, body: BodyModel) -> None:
    drape = drape_lower(shorts(), body)
    assert drape.checks["legs"] == 1.0
    x, y = mannequin.point(Landmark.LEFT_KNEE).round().astype(int)
    assert drape.alpha[y + 15, x] < 0.05
    assert drape.alpha[int(body.point(1.2)[1]), x] > 0.9


def test_shorts_have_two_level_hems_and_a_gap_between(mannequin: Mannequin, body: BodyModel) -> None:
    slanted = cloth_of([(0, 200), (180, 200), (230, 560), (40, 620), (0, 500)])
    drape = drape_lower(slanted, body, GarmentKind.SHORTS)
    # A lap hides what is behind it; each leg is judged by itself.
    for piece, side in zip(sorted(drape.pieces, key=lambda piece: piece.name), (-1, 1), strict=True):
        leg = body.legs[side]
        end, thigh = drape.checks["leg_end"], leg.points(np.array([0.5 * drape.checks["leg_end"]]))[0]
        assert piece.alpha[round(float(thigh[1])), round(float(thigh[0]))] > 0.95
        shares = np.array([end, end])
        offsets = 0.6 * np.array([leg.outer_at(shares)[0], -leg.inner_at(shares)[1]])
        points = leg.points(shares) + leg.outwards(shares) * offsets[:, None]
        last = [np.flatnonzero(piece.alpha[:, round(float(x))] > 0.5).max() for x, _ in points]
        assert abs(last[0] - last[1]) < 0.04 * body.shoulder_width
    middle = round(float(body.point(1.0)[0]))
    below = round(float(body.legs[1].points(np.array([0.95 * drape.checks["leg_end"]]))[0, 1]))
    assert drape.alpha[below, middle - 1 : middle + 2].min() < 0.5


def test_shorts_are_as_long_as_round_cloth_is(body: BodyModel) -> None:
    drape = drape_lower(shorts(), body, under_tucked_top=True)
    flat = (620 - 500) * drape.checks["scale"] / body.legs[1].length
    assert 1.2 * flat < drape.checks["leg_end"] < 0.8


def test_skirt_hangs_from_the_waist(body: BodyModel) -> None:
    drape = drape_lower(skirt(hem=400), body, under_tucked_top=True)
    assert [piece.name for piece in drape.pieces] == ["skirt"]
    x, y = body.point(1.0).round().astype(int)
    assert drape.alpha[y, x] > 0.95
    assert drape.alpha[int(body.point(0.6)[1]), x] < 0.05
    between_legs = int(body.point(1.35)[1])
    assert drape.alpha[between_legs, x] > 0.95


def test_skirt_ends_above_the_floor(mannequin: Mannequin, body: BodyModel) -> None:
    drape = drape_lower(skirt(hem=850), body)
    assert drape.alpha[int(mannequin.point(Landmark.LEFT_ANKLE)[1]) + 8 :].max() < 0.05


def test_untucked_top_stays_in_front(mannequin: Mannequin, body: BodyModel) -> None:
    drape = drape_lower(trousers(), body)
    sure = (mannequin.person_map.labels == Label.UPPER) & (np.abs(body.laterals) < 0.3) & (body.heights < 0.95)
    assert drape.alpha[sure].max() < 0.05


def test_tucked_waistband_is_shown(body: BodyModel) -> None:
    drape = drape_lower(trousers(), body, under_tucked_top=True)
    x, y = body.point(0.88).round().astype(int)
    assert drape.alpha[y, x] > 0.9


def test_shading_runs_across_the_whole_hips_and_then_each_leg(mannequin: Mannequin, body: BodyModel) -> None:
    right = next(piece for piece in drape_lower(trousers(), body).pieces if piece.name == "right_leg")
    x, y = body.point(1.05).round().astype(int)
    assert right.across[y, x + 4] == pytest.approx(0.05, abs=0.12)
    knee_x, knee_y = mannequin.point(Landmark.LEFT_KNEE).round().astype(int)
    assert abs(right.across[knee_y, knee_x]) < 0.35


@pytest.mark.parametrize("share", [0.95, 0.62, 0.45])
def test_legs_out_of_the_frame(mannequin: Mannequin, share: float) -> None:
    height = int(share * mannequin.photo.shape[0])
    person = mannequin.person_map
    landmarks = person.landmarks.copy()
    landmarks[landmarks[:, 1] > height, 3] = 0.1
    cut = type(person)(person.labels[:height], person.matte[:height], landmarks, person.score)
    for cloth in (trousers(), skirt(), shorts()):
        drape = drape_lower(cloth, measure_body(cut))
        assert np.isfinite(drape.alpha).all()
        assert drape.alpha.shape == cut.labels.shape


def test_a_hem_turns_up_round_the_leg_at_its_ends(mannequin: Mannequin, body: BodyModel) -> None:
    (piece,) = (piece for piece in drape_lower(trousers(), body).pieces if piece.name == "right_leg")
    rows, columns = np.nonzero(piece.alpha > 0.5)
    below = rows > mannequin.point(Landmark.RIGHT_KNEE)[1]
    ends = np.array([rows[below & (columns == column)].max() for column in np.unique(columns[below])])
    corner, middle = ends[-2], np.median(ends)
    assert middle - corner > 0.04 * len(ends)
    # Most of the turn is within the last part of its width.
    assert middle - ends[-len(ends) // 5] < 0.5 * (middle - corner)
