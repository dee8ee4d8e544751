"""A streak of light along a plain sleeve goes; weave, folds across, stripes and letters stay."""

import numpy as np

from engines.garment.cloth import Cloth
from engines.garment.sleeve_streaks import without_streaks
from engines.garment.sleeves import Sleeve

HEIGHT, WIDTH = 520, 260
LEFT, RIGHT, TOP, BOTTOM = 90, 170, 40, 480
STREAK = 150
"""Column of the streak."""


def sleeve_of(bottom: int = BOTTOM) -> tuple[Sleeve, np.ndarray]:
    """A straight sleeve that hangs down, and its part of the canvas."""
    down = np.linspace(TOP, bottom, 25)
    edges = [np.stack([np.full(25, float(x)), down], axis=1) for x in (RIGHT, LEFT)]
    part = np.zeros((2, HEIGHT, WIDTH), bool)
    part[1, TOP:bottom, LEFT:RIGHT] = True
    return Sleeve(edges[0], edges[1], 1), part


def dressed(light: np.ndarray, bottom: int = BOTTOM) -> tuple[Cloth, Cloth]:
    """Brown cloth in a light, and the same without streaks."""
    sleeve, part = sleeve_of(bottom)
    colour = (np.array([0.62, 0.5, 0.36]) * light[..., None]).astype(np.float32)
    cloth = Cloth(np.broadcast_to(colour, (HEIGHT, WIDTH, 3)).copy(), part.any(axis=0).astype(np.float32))
    return cloth, without_streaks(cloth, (sleeve, sleeve), part)


def streaked() -> np.ndarray:
    """``(HEIGHT, WIDTH)`` a light that is the same everywhere but for a streak, whose other side lies in shade."""
    columns = np.arange(WIDTH)
    across = 1.0 + 0.12 * np.exp(-(((columns - STREAK) / 3.0) ** 2)) - 0.12 * (columns > STREAK + 4)
    return np.broadcast_to(across, (HEIGHT, WIDTH)).copy()


def test_a_streak_of_light_along_the_sleeve_is_evened_out() -> None:
    before, after = dressed(streaked())
    inner = np.s_[120:400, LEFT + 8 : RIGHT - 8, 1]
    steepest = [np.abs(np.diff(cloth.colour[inner], axis=1)).max() for cloth in (before, after)]
    assert steepest[1] < 0.6 * steepest[0]
    assert np.array_equal(before.alpha, after.alpha)
    assert np.abs(after.colour - before.colour)[:, : LEFT - 30].max() == 0


def test_weave_and_folds_across_the_sleeve_stay() -> None:
    weave = 0.03 * np.random.default_rng(0).standard_normal((HEIGHT, WIDTH))
    fold = -0.1 * np.exp(-(((np.arange(HEIGHT)[:, None] - 250) / 8.0) ** 2))
    before, after = dressed(1.0 + weave + fold)
    inner = np.s_[120:400, LEFT + 8 : RIGHT - 8]
    assert np.abs(after.colour - before.colour)[inner].max() < 0.025


def test_stripes_along_the_sleeve_and_letters_on_it_stay() -> None:
    stripes = np.where((np.arange(WIDTH) // 10) % 2, 0.4, 1.2) * np.ones((HEIGHT, 1))
    before, after = dressed(stripes)
    assert after is before
    letters = np.ones((HEIGHT, WIDTH))
    sleeve, part = sleeve_of()
    colour = np.broadcast_to(np.array([0.3, 0.1, 0.5], np.float32), (HEIGHT, WIDTH, 3)).copy()
    colour[100:400:3, 120:134] = (0.75, 0.5, 0.9)
    cloth = Cloth(colour, letters.astype(np.float32) * part.any(axis=0))
    assert without_streaks(cloth, (sleeve, sleeve), part) is cloth


def test_short_sleeves_stay() -> None:
    before, after = dressed(streaked(), bottom=TOP + 100)
    assert after is before
