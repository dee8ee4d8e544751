"""The relief that is kept, and light on reliefs."""

import numpy as np
import pytest

from engines.warp.folds.excess import Sheet
from engines.warp.folds.reliefs import SKIRT, Relief, skirt_relief

RIDGE = 0.02


def ridge() -> Relief:
    """One straight ridge that runs down the middle of a sheet."""
    sheet = Sheet(1.0, 1.0, 0.01, 0.1, (), 0)
    x = np.linspace(-0.5, 0.5, 101, dtype=np.float32)[None].repeat(101, axis=0)
    height = RIDGE * np.exp(-((x / 0.05) ** 2))
    across = np.gradient(height, 0.01, axis=1)
    return Relief(sheet, np.dstack([across, np.zeros_like(x), height - height.mean()]).astype(np.float32))


def at(x: float, y: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    return np.full((1, 1), x, np.float32), np.full((1, 1), y, np.float32)


@pytest.mark.parametrize("side", [-1, 1])
def test_the_slope_towards_the_light_is_lit_and_the_other_one_in_shade(side: int) -> None:
    way = (float(side), 0.0)
    towards, away = (ridge().light(*at(sign * side * 0.035), way).item() for sign in (1, -1))
    assert towards > 0.05
    assert away < -0.05


def test_beyond_its_edge_there_are_no_folds() -> None:
    way = (0.6, -0.8)
    for x, y in ((-0.7, 0.5), (0.7, 0.5), (0.0, -0.3), (0.0, 1.4)):
        assert ridge().light(*at(x, y), way).item() == 0


def test_the_skirt_is_kept_and_folds_as_deep_as_worn_cloth() -> None:
    folds = skirt_relief()
    assert folds.form.shape == (*SKIRT.shape, 3)
    slope = np.hypot(folds.form[..., 0], folds.form[..., 1])
    assert 0.02 < slope.mean() < 0.3
    assert slope.max() < 1.5
    assert skirt_relief() is folds
