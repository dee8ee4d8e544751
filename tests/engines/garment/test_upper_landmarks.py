import numpy as np
import pytest

from engines.base import EngineError
from engines.garment.armpits import Armpits, Frame, Sleeves, _gap_corner
from engines.garment.canvas import LONG_SIDE, MARGIN
from engines.garment.cloth import Cloth
from engines.garment.cutout import cut_out
from engines.garment.upper_landmarks import UpperLandmarks, _past_touching_sleeve, find_upper_landmarks
from tests.engines.drawings import DrawnGarment, draw_garment
from tests.engines.hanging_drawings import cloth_of


def measure(drawn: DrawnGarment) -> UpperLandmarks:
    return find_upper_landmarks(cut_out(drawn.picture))


def expected(drawn: DrawnGarment, name: str) -> np.ndarray:
    """A drawn landmark as (offset from the axis, row) on the canvas."""
    return drawn.points[name] * (LONG_SIDE / max(drawn.mask.shape)) + (0, MARGIN)


def distance(drawn: DrawnGarment, name: str, found: np.ndarray) -> float:
    """Share of the garment's height by which a landmark is off."""
    return float(np.linalg.norm(found - expected(drawn, name)) / (0.8 * LONG_SIDE))


@pytest.mark.parametrize("kind", ["t-shirt", "long sleeve", "tank top"])
def test_axis_is_the_middle(kind: str) -> None:
    drawn = draw_garment(kind)
    marks = measure(drawn)
    assert abs(marks.axis - MARGIN - drawn.axis * LONG_SIDE / max(drawn.mask.shape)) < 6
    assert marks.symmetry > 0.95


@pytest.mark.parametrize("kind", ["t-shirt", "long sleeve", "cap sleeve"])
def test_sleeves_and_armpits_are_found(kind: str) -> None:
    drawn = draw_garment(kind)
    marks = measure(drawn)
    assert marks.armpits.sleeves is Sleeves.OPEN
    assert distance(drawn, "armpit", np.array([marks.armpits.offset, marks.armpits.row])) < 0.08
    assert distance(drawn, "tip", marks.shoulders.tip) < 0.05
    assert marks.sleeves is not None
    for side, sleeve in zip((-1, 1), marks.sleeves, strict=True):
        cuff = (sleeve.upper[-1] + sleeve.lower[-1]) / 2
        assert distance(drawn, "cuff", np.array([side * (cuff[0] - marks.axis), cuff[1]])) < 0.05


@pytest.mark.parametrize("kind", ["t-shirt", "long sleeve", "tank top"])
def test_neck_and_hem_are_found(kind: str) -> None:
    drawn = draw_garment(kind)
    marks = measure(drawn)
    assert distance(drawn, "neck", marks.shoulders.neck_foot) < 0.05
    assert abs(marks.hem - expected(drawn, "hem")[1]) < 0.03 * LONG_SIDE


def test_tank_top_has_no_sleeves() -> None:
    marks = measure(draw_garment("tank top"))
    assert marks.armpits.sleeves is Sleeves.NONE
    assert marks.sleeves is None


@pytest.mark.parametrize(("bend", "level"), [(0.24, True), (0.19, False)])
def test_shoulder_goes_on_beyond_a_narrow_torso(bend: float, level: bool) -> None:
    body = [(0, 120), (76, 90), (171, 115), (900 * bend, 115 + 0.3 * (900 * bend - 171))]
    sleeve = [(900 * bend + 90, 420), (900 * bend + 70, 760), (900 * bend, 760), (171, 330), (171, 810), (0, 815)]
    shoulders = find_upper_landmarks(cloth_of([*body, *sleeve])).shoulders
    assert shoulders.corner == pytest.approx(900 * bend if level else shoulders.tip[0], abs=0.015 * 900)


def test_short_sleeve_hanging_beside_the_torso_ends_at_its_cuff() -> None:
    body = [(0, 150), (80, 110), (130, 115), (160, 135), (225, 290), (205, 370), (145, 370), (130, 330), (140, 830)]
    marks = find_upper_landmarks(cloth_of([*body, (0, 835)]))
    assert marks.sleeves is not None
    for sleeve in marks.sleeves:
        assert abs(sleeve.upper[-1, 0] - marks.axis) == pytest.approx(210, abs=20)
        assert sleeve.upper[-1, 1] > 330


def test_missing_sleeve_is_taken_from_the_other_side() -> None:
    drawn = draw_garment("t-shirt")
    cut = int(drawn.axis + 0.196 * drawn.mask.shape[0])
    picture = drawn.picture.copy()
    picture[:, cut:] = 255
    marks = find_upper_landmarks(cut_out(picture))
    assert marks.sleeves is not None
    assert [sleeve.side for sleeve in marks.sleeves] == [-1, -1]


def test_inside_of_the_back_is_found_behind_the_front_neckline() -> None:
    drawn = draw_garment("t-shirt", colour=(60, 140, 90), folds=0.0)
    height, width = drawn.mask.shape
    x = np.arange(width) - drawn.axis
    neckline = 0.10 * height + 0.09 * height * np.sqrt(np.maximum(1 - (x / (0.085 * height)) ** 2, 0))
    inside = (np.arange(height)[:, None] < neckline[None]) & (np.abs(x) < 0.085 * height)[None] & (drawn.mask > 0)
    picture = drawn.picture.copy()
    picture[inside] = (25, 60, 40)
    marks = find_upper_landmarks(cut_out(picture))
    drawn_area = inside.sum() * (LONG_SIDE / height) ** 2
    assert marks.back.sum() > 0.6 * drawn_area
    assert marks.back.sum() < 1.4 * drawn_area


def test_lopsided_shape_is_no_garment() -> None:
    alpha = np.zeros((600, 600), np.float32)
    alpha[40:560, 40:120] = 1
    alpha[480:560, 40:560] = 1
    with pytest.raises(EngineError) as error:
        find_upper_landmarks(Cloth(np.zeros((600, 600, 3), np.float32), alpha))
    assert error.value.code == "garment_not_recognised"


def test_step_in_a_cuff_is_no_armpit() -> None:
    half = np.zeros((900, 400), bool)
    half[100:800, :180] = True
    # A slanting cuff whose back shows below its front from half way on.
    for offset in range(180, 290):
        half[120 + (offset - 180) // 2 : 440 - round(1.75 * (offset - 180)) + (16 if offset < 232 else 0), offset] = (
            True
        )
    frame = Frame(100, 700, 360.0)
    corner = _gap_corner(half, frame, 2 * int(half.sum()))
    assert corner is not None
    assert abs(corner[0] - 180) < 6
    assert abs(corner[1] - 456) < 15


def test_shoulder_reaches_to_where_the_sleeve_is_set_in() -> None:
    torso = [(0, 100), (120, 100), (210, 125), (160, 330), (160, 800), (0, 800)]
    sleeve = [(120, 100), (210, 125), (250, 190), (290, 700), (210, 700), (160, 330)]
    marks = find_upper_landmarks(cloth_of(torso, sleeve))
    assert marks.armpits.offset < 170
    assert 195 < marks.shoulders.tip[0] < 225
    assert marks.torso_part[140, int(marks.axis) + 190]
    assert not marks.torso_part[300, int(marks.axis) + 190]


def test_torso_beside_a_resting_sleeve_ends_before_its_shadow() -> None:
    torso = [(0, 120), (70, 95), (120, 150), (160, 330)]
    sleeve = [(215, 420), (235, 800), (170, 800), (165, 815), (0, 820)]
    marks = find_upper_landmarks(cloth_of([*torso, *sleeve]))
    assert marks.armpits.sleeves is Sleeves.RESTING
    low = int(marks.armpits.row + 0.25 * marks.frame.height)
    assert (marks.half_widths[:, low] < marks.armpits.offset - 0.04 * marks.frame.width).all()
    shown = np.flatnonzero(marks.torso_part[low]) - marks.axis
    assert np.abs(shown).max() < marks.armpits.offset - 0.04 * marks.frame.width
    # What is cut off there belongs to neither sleeve.
    assert np.abs(np.flatnonzero(marks.sleeve_parts[:, low].any(axis=0)) - marks.axis).min() > marks.armpits.offset


def test_in_a_slit_sleeve_and_torso_meet_at_its_upper_end() -> None:
    half = np.zeros((900, 360), bool)
    half[100:800, :150] = True
    half[100:800, 165:280] = True
    half[100:330, :280] = True
    # A waist drawn in would attract the corner.
    half[500:560, 120:150] = False
    half[330:400, 150:157] = True
    corner = _gap_corner(half, Frame(100, 700, 300.0), int(half.sum()))
    assert corner is not None
    assert corner[1] == pytest.approx(330, abs=4)


def test_torso_edge_does_not_follow_a_sleeve_that_touches_it() -> None:
    armpits, hem = Armpits(Sleeves.OPEN, 100.0, 50.0), 350
    edge = np.full(400, 96.0)
    edge[50:150] = 180.0  # over the sleeve
    margin = 4 + 30 * np.clip((np.arange(400) - 50) / 300, 0, 1)
    straight = _past_touching_sleeve(edge, armpits, margin, hem)
    assert straight[51:].max() <= 100.0
    assert np.abs(np.diff(straight[51:hem])).max() < 0.5
    # A garment that flares from the armpit on is no sleeve.
    flaring = 100.0 + np.clip(np.arange(400) - 50, 0, 300) * 0.05
    assert np.array_equal(_past_touching_sleeve(flaring, armpits, margin, hem), flaring)
