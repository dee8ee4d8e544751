"""Strips of skin beside the sleeve that an arm wears."""

from __future__ import annotations

from dataclasses import replace

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


@pytest.mark.parametrize("name", ["left_sleeve", "right_sleeve"])
def test_below_a_slanting_hem_the_arm_stays_to_its_outer_edge(name: str) -> None:
    rows, columns = np.indices((200, 200), np.float32)
    hem = 40.0 + 1.5 * (columns - 80.0)
    alpha = ((rows > 20) & (rows < hem) & (columns >= 80) & (columns < 120)).astype(np.float32)
    mesh = np.array([[[80.0, top], [120.0, top + slope]] for top, slope in ((20, 0), (30, 30), (40, 60), (44, 60))])
    bare = np.zeros((200, 200), np.float32)
    bare[30:180, 76:118] = 1.0
    if name.startswith("right"):
        alpha, bare, mesh = alpha[:, ::-1], bare[:, ::-1], mesh * (-1, 1) + (199, 0)
    piece = Piece(name, np.zeros((200, 200, 3), np.float32), alpha, np.zeros_like(alpha), mesh.astype(np.float32))
    strips = beside_sleeves(bare, Drape((piece,), {}), UNIT)
    assert beside_sleeves(bare, Drape((replace(piece, mesh=np.zeros((0, 0, 2), np.float32)),), {}), UNIT).any()
    assert not strips[45:].any()


def test_without_sleeves_nothing_goes() -> None:
    bare = np.ones((200, 200), np.float32)
    assert not beside_sleeves(bare, sleeve("torso"), UNIT).any()
