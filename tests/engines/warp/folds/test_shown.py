"""How cloth shows the light on its folds."""

from dataclasses import replace

import numpy as np
import pytest

from engines.warp.folds.shown import DEEPER_IN_WEAVE, VALLEYS_SHOWN, shown_on
from engines.warp.pieces import Piece


def cloth(lightness: float) -> Piece:
    colour, cover = np.full((40, 40, 3), lightness, np.float32), np.ones((40, 40), np.float32)
    return Piece("left_leg", colour, cover, np.zeros_like(cover), np.zeros((2, 2, 2), np.float32))


def test_black_cloth_shows_folds_as_highlights_and_white_cloth_as_shade() -> None:
    valley, flank = np.full((40, 40), -0.05, np.float32), np.full((40, 40), 0.05, np.float32)
    black, white = (shown_on(cloth(lightness), valley, None, 100.0) for lightness in (0.05, 1.0))
    assert black == pytest.approx(1 - 0.05 * DEEPER_IN_WEAVE[0])
    assert white == pytest.approx(1 - 0.05 * DEEPER_IN_WEAVE[0] * VALLEYS_SHOWN[-1])
    assert shown_on(cloth(0.05), flank, None, 100.0).mean() > 1.08
    assert shown_on(cloth(0.95), flank, None, 100.0).mean() < 1.03


def test_a_white_print_in_black_cloth_does_not_shine() -> None:
    piece = cloth(0.05)
    piece.colour[16:24, 16:24] = 0.9
    factor = shown_on(piece, np.full((40, 40), 0.05, np.float32), None, 100.0)
    assert factor[20, 20] < 1.05
    assert factor[2, 2] > 1.08


def test_folds_are_shown_deeper_in_coarse_weave_than_in_smooth_cloth() -> None:
    valley = np.full((40, 40), -0.05, np.float32)
    woven = cloth(0.5)
    woven.colour[:] *= np.random.default_rng(0).normal(1, 0.06, (40, 40, 1)).astype(np.float32)
    smooth = shown_on(cloth(0.5), valley, None, 100.0).min()
    assert 0.94 < smooth < 0.96
    assert shown_on(woven, valley, None, 100.0).min() < smooth - 0.015


def test_denim_creases_deeper_on_legs_than_elsewhere_and_smooth_cloth_does_not() -> None:
    valley = np.full((40, 40), -0.05, np.float32)
    woven = cloth(0.5)
    woven.colour[:] *= np.random.default_rng(0).normal(1, 0.06, (40, 40, 1)).astype(np.float32)
    for leg, deeper in ((woven, 1.3), (cloth(0.5), 0.99)):
        torso = replace(leg, name="torso")
        on_leg, on_torso = (1 - shown_on(piece, valley, None, 100.0).min() for piece in (leg, torso))
        assert deeper * on_torso < on_leg < 1.7 * on_torso


def test_folds_of_other_cloth_are_carried_over_as_deep_as_they_are_and_deeper_on_cloth_that_shines() -> None:
    seen = np.linspace(-0.1, 0.08, 1600, dtype=np.float32).reshape(40, 40)
    middle, dark = (shown_on(cloth(lightness), np.zeros_like(seen), seen, 100.0) for lightness in (0.45, 0.05))
    assert np.abs(middle - 1 - seen).max() < 0.02
    assert 1.3 * seen.min() > dark.min() - 1 > 2 * seen.min()
    assert 1.3 * seen.max() < dark.max() - 1 < 2.2 * seen.max()


def test_white_cloth_shows_folds_of_other_cloth_less() -> None:
    seen = np.linspace(-0.1, 0.08, 1600, dtype=np.float32).reshape(40, 40)
    factor = shown_on(cloth(0.95), np.zeros_like(seen), seen, 100.0)
    assert 0.94 < factor.min() < 0.96
    assert factor.max() < 1.02
