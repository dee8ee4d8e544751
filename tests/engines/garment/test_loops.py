"""Ground is seen beside hanging sleeves whose cuffs touch the skirt; pale print there is cloth."""

import numpy as np

from engines.garment.ground import Ground, to_lab
from engines.garment.loops import seen_through

GROUND = (238, 238, 234)
LEFT, RIGHT = slice(266, 278), slice(522, 534)
ROWS = slice(380, 420)


def openings_in(*places: tuple[slice, slice], colour: tuple[int, int, int] = GROUND) -> np.ndarray:
    """What is found in a blue block, from row 200 to 850 and from column 220 to 580, with painted places."""
    picture = np.full((1000, 800, 3), GROUND, np.uint8)
    picture[200:850, 220:580] = (70, 140, 220)
    for place in places:
        picture[place] = colour
    mask = np.zeros(picture.shape[:2], bool)
    mask[200:850, 220:580] = True
    lab = to_lab(picture)
    ground = Ground(np.broadcast_to(lab[0, 0], lab.shape), noise=0.5, explained=1.0)
    return seen_through(lab, ground, mask)


def test_a_pair_of_places_of_the_ground_s_colour_is_open() -> None:
    found = openings_in((ROWS, LEFT), (ROWS, RIGHT))
    assert found[ROWS, LEFT].all()
    assert found[ROWS, RIGHT].all()
    assert found.sum() < 1.8 * 2 * 40 * 12


def test_one_place_alone_or_two_that_mirror_nothing_are_cloth() -> None:
    assert not openings_in((ROWS, LEFT)).any()
    assert not openings_in((ROWS, LEFT), (slice(270, 310), RIGHT)).any()


def test_white_flowers_are_cloth() -> None:
    assert not openings_in((ROWS, LEFT), (ROWS, RIGHT), colour=(250, 250, 252)).any()
    below = slice(600, 640)
    assert not openings_in((below, LEFT), (below, RIGHT)).any()


def test_pale_print_all_over_is_cloth() -> None:
    columns = [slice(at, at + 12) for at in range(240, 560, 30)]
    assert not openings_in(*((ROWS, place) for place in columns)).any()
