"""The inside of the back below a top's front goes; stripes, borders and plain hems stay."""

import numpy as np
import pytest

from engines.garment.cloth import Cloth
from engines.garment.hem_inside import without_hem_inside

HEIGHT, WIDTH = 520, 460
FIRST, LAST, LOWEST = 80, 380, 440
"""Columns of a torso and the lowest row of its hem."""

COLUMNS = np.arange(WIDTH)
ACROSS = np.clip((COLUMNS - (FIRST + LAST) / 2) / ((LAST - FIRST) / 2), -1, 1)
PALE, DULL = 0.8, 0.35


def top(*, bow: float, front: np.ndarray, below: float) -> Cloth:
    """A torso whose lower edge hangs down by ``bow`` in its middle, another grey below the rows ``front``."""
    bottom = LOWEST - bow * ACROSS**2
    rows = np.arange(HEIGHT)[:, None]
    on = (rows > 60) & (rows <= bottom) & (COLUMNS >= FIRST) & (COLUMNS <= LAST)
    grey = np.where(rows > front, below, PALE)
    grey = grey + 0.02 * np.random.default_rng(0).standard_normal(grey.shape)
    return Cloth(np.repeat(grey[..., None], 3, axis=2).astype(np.float32), on.astype(np.float32))


def test_a_crescent_of_the_inside_goes_and_the_front_stays() -> None:
    front = LOWEST - 18 - 32 * ACROSS**2
    cloth = top(bow=46, front=front, below=DULL)
    left = without_hem_inside(cloth).alpha
    rows, inner = np.arange(HEIGHT)[:, None], np.abs(ACROSS) < 0.8
    beyond = (rows > front + 3) & (cloth.alpha > 0) & inner
    assert left[beyond].max() < 0.1
    assert left[(rows < front - 4) & (cloth.alpha > 0) & inner].min() > 0.95
    assert np.array_equal(left[:300], cloth.alpha[:300])


@pytest.mark.parametrize("side", [-1, 1])
def test_no_scrap_of_the_inside_is_left_where_the_front_ends_higher(side: int) -> None:
    steep = 18 * np.clip((side * ACROSS - 0.86) / 0.14, 0, 1)
    front = LOWEST - 18 - 32 * ACROSS**2 - steep
    left = without_hem_inside(top(bow=46, front=front, below=DULL)).alpha
    rows, at_end = np.arange(HEIGHT)[:, None], (side * ACROSS > 0.86) & (side * ACROSS < 0.97)
    inside = (rows > front + 4) & (rows < LOWEST - 46 * ACROSS**2) & at_end
    assert inside.sum() > 60
    assert (left[inside] > 0.5).mean() < 0.03
    assert left[(rows < front - 9) & (rows > 300) & at_end].min() > 0.95


@pytest.mark.parametrize("bow", [0, 46])
def test_a_border_as_wide_at_the_sides_as_in_its_middle_stays(bow: float) -> None:
    cloth = top(bow=bow, front=LOWEST - 18 - bow * ACROSS**2, below=DULL)
    assert without_hem_inside(cloth) is cloth


def test_what_is_no_darker_than_the_front_is_no_inside() -> None:
    cloth = top(bow=46, front=LOWEST - 18 - 32 * ACROSS**2, below=1.0)
    assert without_hem_inside(cloth) is cloth


def test_a_plain_bowed_hem_stays() -> None:
    cloth = top(bow=46, front=np.full(WIDTH, HEIGHT), below=DULL)
    assert without_hem_inside(cloth) is cloth


def test_nothing_is_looked_for_on_an_empty_canvas() -> None:
    empty = Cloth(np.zeros((60, 60, 3), np.float32), np.zeros((60, 60), np.float32))
    assert without_hem_inside(empty) is empty
