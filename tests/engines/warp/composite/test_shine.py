"""Dark cloth shows the light on it more plainly than light cloth, and throws some of it back."""

import numpy as np
import pytest

from engines.warp.composite.shine import SHEEN, deepened, sheen
from engines.warp.pieces import Piece

UNIT = 80.0


def _cloth(brightness: float) -> Piece:
    alpha = np.zeros((160, 200), np.float32)
    alpha[20:140, 20:180] = 1.0
    colour = np.float32(brightness) * np.repeat(alpha[..., None], 3, axis=2)
    return Piece("torso", colour, alpha, np.zeros_like(alpha))


def _light() -> np.ndarray:
    return np.broadcast_to(np.linspace(1.2, 0.8, 200, dtype=np.float32), (160, 200)).copy()


def test_light_on_dark_cloth_differs_more_about_the_same_middle() -> None:
    shown = deepened(_light(), _cloth(0.04), UNIT)[80, 30:170]
    assert shown[0] / shown[-1] > 1.5 * _light()[80, 30] / _light()[80, 169]
    assert np.median(shown) == pytest.approx(1.0, abs=0.02)


def test_light_cloth_stays_as_it_is_lit() -> None:
    assert np.array_equal(deepened(_light(), _cloth(0.7), UNIT), _light())
    assert sheen(_light(), _cloth(0.7), UNIT) is None


def test_dark_cloth_throws_light_back_where_it_is_lit_alone() -> None:
    thrown = sheen(1.2 * _light(), _cloth(0.02), UNIT)
    assert thrown is not None
    assert thrown.max() <= SHEEN
    assert thrown[60, 5] > 3 * thrown[60, -5]


def test_no_cloth_is_no_error() -> None:
    nothing = Piece("torso", *(np.zeros(shape, np.float32) for shape in ((40, 40, 3), (40, 40), (40, 40))))
    assert np.array_equal(deepened(np.ones((40, 40), np.float32), nothing, UNIT), np.ones((40, 40)))
    assert sheen(np.ones((40, 40), np.float32), nothing, UNIT) is None
