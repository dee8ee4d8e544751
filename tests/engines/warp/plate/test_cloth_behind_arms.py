"""Old cloth that is seen again on the far side of an arm."""

import numpy as np

from engines.base import Label
from engines.warp.plate.cloth_behind_arms import cloth_behind_arms

UNIT = 200.0
SCRAP = np.s_[110:130, 101:112]


def drawn(wall: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """A white top, an arm before it, and the wall on the arm's other side."""
    photo, labels = np.full((240, 260, 3), wall, np.float32), np.full((240, 260), Label.BACKGROUND, np.uint8)
    photo[20:200, :60], labels[20:200, :60] = (0.94, 0.93, 0.91), Label.UPPER
    photo[20:220, 60:101], labels[20:220, 60:101] = (0.78, 0.56, 0.44), Label.ARMS
    return photo, labels


def found_in(photo: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return cloth_behind_arms(photo, labels, labels == Label.UPPER, UNIT)


def test_a_shaded_piece_of_a_white_top_is_found_and_no_wall() -> None:
    photo, labels = drawn((0.2, 0.17, 0.14))
    photo[SCRAP] = (0.47, 0.465, 0.455)
    found = found_in(photo, labels)
    assert found[SCRAP].all()
    found[108:132, 99:114] = False
    assert not found.any()


def test_a_wall_in_the_colour_of_the_top_is_none() -> None:
    photo, labels = drawn((0.47, 0.465, 0.455))
    assert not found_in(photo, labels).any()


def test_what_stands_away_from_the_arm_is_none() -> None:
    photo, labels = drawn((0.2, 0.17, 0.14))
    photo[110:130, 112:123] = (0.47, 0.465, 0.455)
    assert not found_in(photo, labels).any()


def test_what_has_another_colour_is_none() -> None:
    photo, labels = drawn((0.2, 0.17, 0.14))
    photo[SCRAP] = (0.55, 0.45, 0.35)
    assert not found_in(photo, labels).any()


def test_a_crumb_of_the_same_name_is_found_in_the_light_of_the_top_and_hair_is_not() -> None:
    photo, labels = drawn((0.2, 0.17, 0.14))
    old = labels == Label.UPPER
    labels[SCRAP] = Label.UPPER
    photo[SCRAP] = (0.95, 0.94, 0.92)
    assert cloth_behind_arms(photo, labels, old, UNIT)[SCRAP].all()
    photo[SCRAP] = (0.35, 0.22, 0.12)
    assert not cloth_behind_arms(photo, labels, old, UNIT).any()
