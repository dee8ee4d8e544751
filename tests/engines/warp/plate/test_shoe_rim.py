"""The opening of a shoe lies before its ankle, or to both sides of it."""

import numpy as np
import pytest

from engines.base import Label
from engines.warp.plate.shoe_rim import (
    CUT,
    HEEL_HEIGHT,
    INSTEP,
    MOST_HIDDEN,
    MOST_INSTEP,
    heel_of_shoe,
    rim_of_shoe,
    turn_of_shoe,
)

UNIT, ROW = 200.0, 60
ANKLE = (80, 120, ROW - 9)


def shoe(left: int, right: int) -> np.ndarray:
    labels = np.full((140, 200), Label.BACKGROUND, np.uint8)
    labels[ROW:110, left:right] = Label.FEET
    return labels


@pytest.mark.parametrize(("left", "right", "turned"), [(70, 130, 0.0), (20, 125, -1.0), (75, 180, 1.0)])
def test_the_tip_of_a_shoe_tells_how_it_is_turned(left: int, right: int, turned: float) -> None:
    assert turn_of_shoe(shoe(left, right), 100.0, 20.0, ROW, UNIT) == pytest.approx(turned, abs=0.05)


def test_the_other_shoe_says_nothing() -> None:
    labels = shoe(70, 130)
    labels[ROW + 5 : 110, 150:200] = Label.FEET
    assert turn_of_shoe(labels, 100.0, 20.0, ROW, UNIT) == pytest.approx(0.0, abs=0.05)


def test_shoes_whose_labels_touch_are_two() -> None:
    labels = shoe(20, 125)
    labels[ROW + 5 : 110, 134:199] = Label.FEET
    labels[80:88, 125:134] = Label.FEET
    assert turn_of_shoe(labels, 100.0, 20.0, ROW, UNIT) == pytest.approx(-1.0, abs=0.05)


def photo_of(labels: np.ndarray) -> np.ndarray:
    """Dark shoes on a light floor."""
    return np.where(labels[..., None] == Label.FEET, 0.1, 0.95).astype(np.float32).repeat(3, axis=2)


def turned_shoe(turn: float) -> np.ndarray:
    labels = shoe(60, 140)
    labels[ROW:, 80:120] = Label.FEET
    labels[95:, 60:140] = np.where(np.arange(60, 140) * turn > 100 * turn, Label.FEET, Label.BACKGROUND)
    return labels


@pytest.mark.parametrize("turn", [-1.0, 1.0])
def test_the_ground_is_looked_for_below_the_heel(turn: float) -> None:
    labels = turned_shoe(turn)
    ground, _ = heel_of_shoe(photo_of(labels), labels, (60, 139), turn, row=ROW, unit=UNIT)
    assert ground == pytest.approx(95.0, abs=2.0)


@pytest.mark.parametrize("turn", [-1.0, 1.0])
def test_a_shadow_that_is_called_shoe_is_no_ground(turn: float) -> None:
    labels = turned_shoe(turn)
    photo = photo_of(labels)
    shadow = (np.indices(labels.shape)[0] >= 95) & (labels == Label.BACKGROUND)
    shadow[115:] = False
    photo[shadow], labels[shadow] = 0.8, Label.FEET
    ground, _ = heel_of_shoe(photo, labels, (60, 139), turn, row=ROW, unit=UNIT)
    assert ground == pytest.approx(95.0, abs=2.0)


@pytest.mark.parametrize("turn", [-1.0, 1.0])
def test_nothing_stands_out_behind_the_sole(turn: float) -> None:
    labels = shoe(60, 140)
    photo = photo_of(labels)
    beside = slice(57, 60) if turn > 0.0 else slice(140, 143)
    labels[ROW:80, beside] = Label.FEET
    _, between = heel_of_shoe(photo, labels, (57, 142), turn, row=ROW, unit=UNIT)
    assert between == ((60, 142) if turn > 0.0 else (57, 139))


def test_the_instep_rises_to_its_tongue() -> None:
    for tip in (70, 55):
        line, _ = rims(-1.0, (tip, 130))
        assert line[86] == pytest.approx(ROW - min(INSTEP * (86 - tip), MOST_INSTEP * UNIT), abs=3.0)
        steps = np.diff(line[tip + 2 : 82])
        assert steps.max() < 0.0


def test_a_heel_is_as_high_over_the_ground_as_heels_are() -> None:
    for hidden in (20.0, 30.0):
        line, _ = rims(-1.0, (70, 140), ROW + HEEL_HEIGHT * UNIT - min(hidden, MOST_HIDDEN * UNIT))
        expected = ROW - min(hidden, MOST_HIDDEN * UNIT)
        assert line[125:140].min() == pytest.approx(expected, abs=3.0)
        assert line[100] > expected + 5.0


def rim(turn: float) -> np.ndarray:
    return rims(turn)[0]


def rims(
    turn: float, between: tuple[int, int] = (70, 130), ground: float = ROW + 50.0
) -> tuple[np.ndarray, np.ndarray]:
    line, level, far = rim_of_shoe(np.full(200, float(ROW), np.float32), between, ANKLE, turn, ground=ground, unit=UNIT)
    assert np.abs(level[85:115] - ROW - CUT).max() < 0.01
    return line, far


def test_from_the_front_the_tongue_is_highest_in_the_middle() -> None:
    line = rim(0.0)
    assert line[100] == pytest.approx(ANKLE[2], abs=0.5)
    assert min(line[82], line[118]) > line[100] + 2.0


def test_from_the_side_the_opening_dips_below_the_ankle() -> None:
    line = rim(-1.0)
    # The tongue stands up at the left, and the heel a little at the right.
    assert line[100] > line[86] + 2.0
    assert line[86] < line[124] - 0.5 < line[100] - 1.0
    assert np.abs(np.diff(line[81:120])).max() < 1.0


def test_it_ends_where_the_cut_does() -> None:
    assert rim(0.5)[70] == pytest.approx(ROW + CUT / 2, abs=1.5)


def test_from_the_side_nothing_stands_out_beyond_the_ends_of_the_cut() -> None:
    for end in (70, 130):
        assert rim(-1.0)[end] > ROW - 1.0


def test_the_inside_is_seen_between_ankle_and_heel_alone() -> None:
    line, far = rims(-1.0, (70, 150))
    inside = line - far
    assert inside[126:140].max() > 0.3
    assert inside[:80].max() == inside[152:].max() == 0.0


def test_from_the_front_no_inside_is_seen() -> None:
    line, far = rims(0.0)
    np.testing.assert_array_equal(line, far)
