"""Legs are cut along smooth lines: no lint beside them, no fray below, no loops above."""

import numpy as np
import pytest

from engines.garment.cloth import Cloth
from engines.garment.lower_landmarks import LEFT, RIGHT, find_lower_landmarks
from engines.garment.trimmed_legs import trimmed_legs
from tests.engines.hanging_drawings import AXIS, cloth_of, trousers


def edge_of(alpha: np.ndarray, rows: slice) -> np.ndarray:
    """x of the right outer edge per row, to a fraction of a pixel."""
    return np.asarray(alpha[rows, int(AXIS) + 80 :].sum(axis=1))


def test_a_wavy_edge_becomes_a_smooth_one() -> None:
    straight = trousers()
    alpha = straight.alpha.copy()
    for row in range(100, 800):
        alpha[row] = np.roll(straight.alpha[row], round(1.2 * np.sin(row / 1.5)))
    cloth = Cloth(straight.colour, alpha)
    cut, _ = trimmed_legs(cloth, find_lower_landmarks(cloth))
    below = slice(400, 780)
    before, after = (np.abs(np.diff(edge_of(each, below), n=2)).mean() for each in (alpha, cut.alpha))
    assert after < 0.25 * before


def test_frayed_hems_end_on_whole_cloth() -> None:
    cloth = trousers(hem=830)
    fray = np.random.default_rng(2).uniform(size=cloth.alpha.shape[1]) < 0.5
    alpha = cloth.alpha.copy()
    alpha[826:, fray] = 0.0
    cut, marks = trimmed_legs(cloth, find_lower_landmarks(Cloth(cloth.colour, alpha)))
    for side in (LEFT, RIGHT):
        assert max(marks.hems[side].ends) < 827.5
    assert cut.alpha[829:].max() < 0.05
    assert cut.alpha[820, int(AXIS) + 80] > 0.95


def test_the_curve_of_a_hem_is_measured() -> None:
    arc = [(120.0 - 75.0 * share, 800.0 + 15.0 * 4.0 * share * (1.0 - share)) for share in np.linspace(0.0, 1.0, 24)]
    curved = cloth_of([(0.0, 60.0), (110.0, 60.0), (135.0, 330.0), *arc, (0.0, 330.0)])
    marks = find_lower_landmarks(curved)
    for side in (LEFT, RIGHT):
        middle, *ends = marks.hems[side].lower_at(np.array([0.5, 0.06, 0.94]))
        assert middle - np.mean(ends) == pytest.approx(12.0, abs=4.0)
        assert float(np.mean(marks.hems[side].ends)) == pytest.approx(810.0, abs=4.0)
    assert max(np.ptp(hem.course) for hem in find_lower_landmarks(trousers()).hems.values()) < 4.0


def test_the_waves_of_a_hem_stay_whole() -> None:
    """What hangs in its waves is not cut off along the bow through them."""
    waves = [(120.0 - 75.0 * share, 800.0 + 5.0 * np.sin(4 * np.pi * share)) for share in np.linspace(0.0, 1.0, 40)]
    wavy = cloth_of([(0.0, 60.0), (110.0, 60.0), (135.0, 330.0), *waves, (0.0, 330.0)])
    cut, _ = trimmed_legs(wavy, find_lower_landmarks(wavy))
    lost = (wavy.alpha - cut.alpha)[780:, int(AXIS) + 52 : int(AXIS) + 112].sum(axis=0)
    assert lost.max() < 5.0


def test_lint_on_the_waistband_is_cut_off() -> None:
    cloth = trousers(waist=60)
    alpha = cloth.alpha.copy()
    alpha[54:62, int(AXIS) + 30 : int(AXIS) + 36] = 1.0
    cut, _ = trimmed_legs(Cloth(cloth.colour, alpha), find_lower_landmarks(cloth))
    assert cut.alpha[:59].max() < 0.05
    assert cut.alpha[66, int(AXIS) - 90 : int(AXIS) + 90].min() > 0.95
