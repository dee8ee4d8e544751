"""Trousers over shoes: drawn, with the ankle inside the trouser leg."""

import numpy as np
import pytest

from engines.person.colour_models import LEAST_SKIN, cells_of, histogram
from engines.person.hems import over_feet
from engines.person.naming import LOWER, OTHER, SKIN
from tests.engines.person.drawn_body import HEIGHT, WIDTH, drawn_body

NAVY, WHITE, WALL = (14.0, 2.0, -8.0), (88.0, 0.0, 0.0), (97.0, 0.0, 0.0)
HEM, GROUND = 446, 468
LEGS = ((112, 140), (160, 188))

NO_SKIN = np.full((HEIGHT, WIDTH), LEAST_SKIN, np.float32)
Region = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]


def below_ankle(
    shoe: tuple[float, float, float],
    sole: tuple[float, float, float],
    *,
    seen: bool = True,
    shoe_narrower: int = 0,
    bare_above: int = 0,
) -> Region:
    """What is found of trousers that reach to `HEM`; shoes that are not ``seen`` are taken for the wall.

    On either side shoes are so many pixels narrower than the trousers; down to a row there are bare legs instead.
    """
    lab = np.empty((HEIGHT, WIDTH, 3), np.float32)
    owners = np.zeros((HEIGHT, WIDTH), np.uint8)
    lab[:] = WALL
    for left, right in LEGS:
        lab[250:HEM, left:right], owners[250:HEM, left:right] = NAVY, LOWER
        owners[250:bare_above, left:right] = SKIN
        foot = slice(left + shoe_narrower, right - shoe_narrower)
        lab[HEM:GROUND, foot], owners[HEM:GROUND, foot] = shoe, OTHER if seen else 0
        lab[GROUND - 4 : GROUND, foot] = sole
    cells = cells_of(lab)
    seed = np.zeros((HEIGHT, WIDTH), bool)
    seed[260:400, 112:140] = True
    return over_feet(owners, cells, histogram(cells, seed), NO_SKIN, drawn_body())


def test_trousers_end_at_their_hem_and_not_at_the_ankle() -> None:
    found = below_ankle(WHITE, WHITE)

    rows = [np.flatnonzero(found[:, (left + right) // 2]) for left, right in LEGS]
    assert [int(own[-1]) for own in rows] == pytest.approx([HEM - 1, HEM - 1], abs=2)
    assert found[GROUND - 10 :].sum() == 0


def test_dark_sole_below_a_white_shoe_is_not_trousers() -> None:
    assert below_ankle(WHITE, NAVY)[HEM + 3 :].sum() == 0


def test_shoes_in_the_colour_of_the_trousers_stay_shoes() -> None:
    assert not below_ankle(NAVY, NAVY).any()


def test_hem_over_shoes_that_cannot_be_seen_is_no_shoe() -> None:
    found = below_ankle(WALL, WALL, seen=False)

    rows = [np.flatnonzero(found[:, (left + right) // 2]) for left, right in LEGS]
    assert [int(own[-1]) for own in rows] == pytest.approx([HEM - 1, HEM - 1], abs=2)


@pytest.mark.parametrize("narrower", [-10, 8])
def test_hem_over_shoes_in_its_own_colour_is_where_the_outline_turns(narrower: int) -> None:
    found = below_ankle(NAVY, WHITE, shoe_narrower=narrower)

    rows = [np.flatnonzero(found[:, (left + right) // 2]) for left, right in LEGS]
    assert [int(own[-1]) for own in rows] == pytest.approx([HEM - 1, HEM - 1], abs=5)
    assert found[GROUND - 10 :].sum() == 0


def test_scraps_at_a_bare_ankle_are_no_trousers() -> None:
    assert not below_ankle(WHITE, WHITE, bare_above=426).any()


def test_feet_outside_the_photo_have_no_hem() -> None:
    owners = np.zeros((HEIGHT, WIDTH), np.uint8)
    cells = np.zeros((HEIGHT, WIDTH), np.intp)

    assert not over_feet(owners, cells, np.zeros(20 * 32 * 32, np.float32), NO_SKIN, drawn_body()).any()
