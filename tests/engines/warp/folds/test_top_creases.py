"""The creases of tops: long, sharp on one side, and no two alike."""

import numpy as np
import pytest

from engines.warp.folds.creases import Crease, Wandering, relief_of_creases
from engines.warp.folds.excess import Sheet
from engines.warp.folds.reliefs import Relief
from engines.warp.folds.top_creases import ELBOW, sleeve_reliefs, torso_relief

SHEET = Sheet(1.0, 1.0, 0.01, 0.0, (), 0)
LEVEL = Crease((-0.4, 0.5), (0.0, 0.5), (0.4, 0.5), 0.01, 0.04, 0.02, 0.5)


def slopes(folds: Relief) -> np.ndarray:
    return np.hypot(folds.form[..., 0], folds.form[..., 1])


def valley(folds: Relief) -> np.ndarray:
    """Row in which each column is deepest."""
    return folds.form[..., 2].argmin(axis=0)


@pytest.mark.parametrize("folds", [torso_relief(), *sleeve_reliefs("left"), *sleeve_reliefs("right")])
def test_tops_fold_as_deep_as_worn_cloth(folds: Relief) -> None:
    assert 0.02 < slopes(folds).mean() < 0.3
    assert slopes(folds).max() < 1.5


def test_the_neck_is_smooth_and_left_and_right_differ() -> None:
    folds = torso_relief()
    rows = round(0.2 / folds.sheet.spacing)
    assert slopes(folds)[:rows].max() < 0.3 * slopes(folds).max()
    form = folds.form[..., 2]
    assert np.corrcoef(form.ravel(), form[:, ::-1].ravel())[0, 1] < 0.6


def test_no_two_sleeves_are_alike_but_a_bent_one_goes_on_from_a_straight_one() -> None:
    (left, bent), (right, _) = ([folds.form[..., 2].ravel() for folds in sleeve_reliefs(s)] for s in ("left", "right"))
    assert abs(np.corrcoef(left, right)[0, 1]) < 0.5
    assert np.corrcoef(left, bent)[0, 1] > 0.4


@pytest.mark.parametrize("side", ["left", "right"])
def test_elbows_fold_more_when_they_are_bent(side: str) -> None:
    first, last = (round((ELBOW + off) / 0.006) for off in (-0.12, 0.12))
    straight, bent = (slopes(folds)[first:last].mean() for folds in sleeve_reliefs(side))
    assert bent > 1.1 * straight


def test_creases_wander_from_their_curves_alike_every_time_and_by_chance_otherwise() -> None:
    drawn = relief_of_creases(SHEET, ((1.0, (LEVEL,)),), 0.3)
    wandering = Wandering(1, ((0.02, 0.1),), 0.4, 0.1)
    first, again, other = (
        relief_of_creases(SHEET, ((1.0, (LEVEL,)),), 0.3, by)
        for by in (wandering, wandering, wandering._replace(seed=5))
    )
    middle = slice(25, 76)
    assert np.ptp(valley(drawn)[middle]) <= 1
    assert 2 <= np.ptp(valley(first)[middle]) <= 16
    assert np.array_equal(first.form, again.form)
    assert not np.array_equal(first.form, other.form)
