"""What a map of a wearer gets wrong at the edge of a garment, and what of the wearer tells how it is worn."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from engines.base import Landmark
from engines.garment.armpits import Frame
from engines.garment.bare_arms import arms_are_bare
from engines.garment.even_hem import evened_hem, with_believed_slant
from engines.garment.mislabelled import without_scraps
from engines.garment.regions import BoolMask
from engines.garment.turned import neck_aside
from engines.garment.worn_waist import lean_of_waist, legs_hang
from tests.engines.mannequin import draw_mannequin

CLOTH, GROUND, SKIN = (240, 240, 245), (120, 120, 125), (225, 180, 160)


def test_scrap_of_skin_at_the_edge_goes_and_a_print_stays() -> None:
    picture = np.full((300, 300, 3), GROUND, np.uint8)
    picture[60:260, 60:240], picture[20:60, 60:240] = CLOTH, SKIN
    picture[150:190, 70:90] = SKIN
    labelled = np.zeros((300, 300), dtype=bool)
    labelled[60:260, 60:240] = True
    scrap = np.zeros_like(labelled)
    scrap[36:60, 140:160] = True
    cleaned = without_scraps(picture, labelled | scrap, ~(labelled | scrap))
    assert cleaned[scrap].mean() < 0.3
    assert cleaned[labelled].mean() > 0.99


def test_cloth_like_what_is_beside_it_stays() -> None:
    picture = np.full((300, 300, 3), CLOTH, np.uint8)
    labelled = np.zeros((300, 300), dtype=bool)
    labelled[60:260, 60:240] = True
    assert np.array_equal(without_scraps(picture, labelled, ~labelled), labelled)


def test_ground_between_an_arm_and_the_cloth_is_no_cloth() -> None:
    picture = np.full((300, 330, 3), GROUND, np.uint8)
    picture[60:260, 60:240], picture[100:200, 255:285] = CLOTH, SKIN
    labelled = np.zeros((300, 330), dtype=bool)
    labelled[60:260, 60:240] = True
    between = np.zeros_like(labelled)
    between[100:200, 240:255] = True
    # Dim light between the two, so that the ground is not quite itself there.
    picture[between] = (128, 126, 122)
    arm = np.zeros_like(labelled)
    arm[100:200, 255:285] = True
    cleaned = without_scraps(picture, labelled | between, ~(labelled | between | arm))
    assert cleaned[between].mean() < 0.2
    assert cleaned[labelled].mean() > 0.99


def test_torn_hem_becomes_even() -> None:
    cloth = np.zeros((300, 300), dtype=bool)
    cloth[40:240, 60:240] = True
    torn = cloth.copy()
    torn[240:262, 100:120], torn[234:240, 150:170] = True, False
    evened = evened_hem(torn)
    assert np.abs(evened.sum(axis=0)[75:225] - 200).max() <= 2


def test_hem_with_points_stays_as_it_is() -> None:
    cloth = np.zeros((300, 300), np.uint8)
    corners = [(60, 40), (240, 40), *((240 - 20 * k, 240 if k % 2 else 190) for k in range(10))]
    cv2.fillPoly(cloth, [np.array(corners, np.int32)], 1)
    assert np.array_equal(evened_hem(cloth > 0), cloth > 0)


def test_nothing_has_no_hem() -> None:
    nothing = np.zeros((40, 40), dtype=bool)
    assert not evened_hem(nothing).any()
    assert not with_believed_slant(np.zeros((40, 40, 3), np.uint8), nothing).any()


def _slanting_top() -> BoolMask:
    """A top that ends at row 206 on the left and 232 on the right, between sleeves that end above."""
    cloth = np.zeros((300, 300), np.uint8)
    cv2.fillPoly(cloth, [np.array([(60, 40), (240, 40), (240, 232), (60, 206)], np.int32)], 1)
    cloth[40:60, 20:280], cloth[40:160, 20:44], cloth[40:160, 256:280] = 1, 1, 1
    return cloth > 0


def test_hem_that_seems_to_slant_where_nothing_shows_it_is_level() -> None:
    cloth = _slanting_top()
    picture = np.where(np.arange(300)[:, None, None] < 280, (20, 20, 22), GROUND).repeat(300, axis=1).astype(np.uint8)
    level = with_believed_slant(picture, cloth)
    assert np.ptp(level[:, 70:230].sum(axis=0)) == 0
    assert level[204, 60:240].all()
    assert np.array_equal(level[:204], cloth[:204])


def test_hem_that_is_seen_to_slant_stays() -> None:
    cloth = _slanting_top()
    picture = np.where(cloth[..., None], CLOTH, GROUND).astype(np.uint8)
    assert np.array_equal(with_believed_slant(picture, cloth), cloth)


@pytest.mark.parametrize(("sleeves", "bare"), [("none", True), ("short", False), ("long", False)])
def test_bare_arms_are_seen(sleeves: str, bare: bool) -> None:
    assert arms_are_bare(draw_mannequin(sleeves=sleeves).person_map) is bare


def test_arms_out_of_the_picture_are_not_bare() -> None:
    person_map = draw_mannequin(sleeves="none").person_map
    landmarks = person_map.landmarks.copy()
    landmarks[Landmark.LEFT_ELBOW, 0] = 10_000
    assert not arms_are_bare(replace(person_map, landmarks=landmarks))


@pytest.mark.parametrize("rise", [-0.15, 0.0, 0.1])
def test_slant_of_a_waist_is_read_off_its_edge(rise: float) -> None:
    rows, columns = np.indices((300, 300))
    skirt = (columns > 90) & (columns < 210) & (rows > 80 + rise * (columns - 150)) & (rows < 260)
    lean = lean_of_waist(skirt)
    assert lean.shoulder_rise == pytest.approx(rise, abs=0.02)
    level = lean.undone(skirt.astype(np.uint8), cv2.INTER_NEAREST) > 0
    assert np.ptp(level[:, 105:195].argmax(axis=0)) <= 3


def test_raised_thigh_does_not_hang() -> None:
    person_map = draw_mannequin().person_map
    assert legs_hang(person_map)
    landmarks = person_map.landmarks.copy()
    landmarks[Landmark.LEFT_KNEE, :2] = landmarks[Landmark.LEFT_HIP, :2] + (90, 30)
    assert not legs_hang(replace(person_map, landmarks=landmarks))


@pytest.mark.parametrize("aside", [0, 30])
def test_neck_beside_the_axis_is_measured(aside: int) -> None:
    mask = np.zeros((300, 300), np.uint8)
    mask[50:250, 50:250] = 1
    cv2.circle(mask, (150 + aside, 50), 40, 0, -1)
    assert neck_aside(mask > 0, 150.0, Frame(50, 200, 200.0)) == pytest.approx(aside / 200, abs=0.01)


def test_without_an_opening_no_neck_is_aside() -> None:
    mask = np.zeros((300, 300), dtype=bool)
    mask[50:250, 50:250] = True
    assert neck_aside(mask, 120.0, Frame(50, 200, 200.0)) == 0.0
