"""Strips of skin beside the sleeve that an arm wears."""

from __future__ import annotations

import numpy as np
import pytest

from engines.warp.pieces import Drape, Piece
from engines.warp.skin.beside_sleeves import beside_sleeves

UNIT = 200.0


def sleeve(name: str) -> Drape:
    """A sleeve over columns 80 to 120 and rows 20 to 100."""
    alpha = np.zeros((200, 200), np.float32)
    alpha[20:100, 80:120] = 1.0
    across = np.zeros_like(alpha)
    return Drape((Piece(name, np.zeros((*alpha.shape, 3), np.float32), alpha, across),), {})


@pytest.mark.parametrize(("name", "outer", "inner"), [("left_sleeve", 76, 122), ("right_sleeve", 122, 76)])
def test_a_strip_on_the_outside_goes_and_one_on_the_inside_stays(name: str, outer: int, inner: int) -> None:
    bare = np.zeros((200, 200), np.float32)
    bare[30:90, 75:126] = 1.0
    strips = beside_sleeves(bare, sleeve(name), UNIT)
    assert strips[40:80, outer].all()
    assert not strips[:, inner].any()


def test_the_arm_below_a_short_sleeve_stays() -> None:
    bare = np.zeros((200, 200), np.float32)
    bare[30:180, 75:118] = 1.0
    strips = beside_sleeves(bare, sleeve("left_sleeve"), UNIT)
    assert strips[40:80, 76].all()
    assert not strips[100:].any()


def test_the_corner_of_an_arm_at_its_hem_stays() -> None:
    bare = np.zeros((200, 200), np.float32)
    bare[98:180, 75:118] = 1.0
    assert not beside_sleeves(bare, sleeve("left_sleeve"), UNIT).any()


def test_without_sleeves_nothing_goes() -> None:
    bare = np.ones((200, 200), np.float32)
    assert not beside_sleeves(bare, sleeve("torso"), UNIT).any()
