"""The waist is where top and trousers meet, by label, by colour, or where waists are."""

import numpy as np
import pytest

from engines.base import Label, Mask
from engines.warp.body.waist import NATURAL_WAIST, Waist, find_waist

ROWS, COLUMNS = 320, 120
HEIGHTS = np.broadcast_to((np.arange(ROWS, dtype=np.float32) / 200.0)[:, None], (ROWS, COLUMNS)).copy()
LATERALS = np.broadcast_to((np.arange(COLUMNS, dtype=np.float32) / COLUMNS - 0.5)[None], (ROWS, COLUMNS)).copy()


def waist_of(labels: Mask, photo: np.ndarray | None = None) -> Waist:
    return find_waist(labels, HEIGHTS, LATERALS, np.ones(labels.shape, bool))


def dressed(split: float, upper: Label = Label.UPPER, lower: Label = Label.LOWER) -> Mask:
    return np.where(split > HEIGHTS, int(upper), int(lower)).astype(np.uint8)


@pytest.mark.parametrize("split", [0.65, 0.9, 1.1])
def test_waist_by_label(split: float) -> None:
    waist = waist_of(dressed(split))
    assert waist.height == pytest.approx(split, abs=0.02)
    assert waist.seen
    assert waist.tucked == (split < 0.93)


def test_slanting_waist_is_followed() -> None:
    labels = np.where(0.8 + 0.2 * LATERALS > HEIGHTS, int(Label.UPPER), int(Label.LOWER)).astype(np.uint8)
    left, right = waist_of(labels).line(np.array([-0.3, 0.3]))
    assert right - left == pytest.approx(0.12, abs=0.03)


def test_bare_midriff_moves_the_waistband_below_the_skin() -> None:
    labels = dressed(0.7)
    labels[(HEIGHTS > 0.6) & (HEIGHTS < 0.78)] = Label.TORSO_SKIN
    waist = waist_of(labels)
    assert waist.bare_midriff
    assert waist.height == pytest.approx(0.78, abs=0.03)


def test_plain_dress_has_its_waist_where_waists_are() -> None:
    photo = np.full((ROWS, COLUMNS, 3), 0.4, np.float32)
    waist = waist_of(dressed(0.7, Label.FULL, Label.FULL), photo)
    assert not waist.seen
    assert waist.height == NATURAL_WAIST
