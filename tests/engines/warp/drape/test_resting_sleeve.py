"""Of a sleeve that lies against the torso in its photo, the strip in the shade between both is not laid."""

from dataclasses import replace

import numpy as np
import pytest

from engines.garment.cutout import cut_out
from engines.garment.upper_landmarks import UpperLandmarks, find_upper_landmarks
from engines.warp.drape.resting_sleeve import BEYOND, FAR_INSIDE, SHADED, from_cut, resting, without_shade
from engines.warp.ribbon import Ribbon
from tests.engines.drawings import draw_garment

ROWS = 30


def marks_with(torso: tuple[slice, slice]) -> UpperLandmarks:
    marks = find_upper_landmarks(cut_out(draw_garment("long sleeve").picture))
    part = np.zeros_like(marks.torso_part)
    part[torso] = True
    return replace(marks, torso_part=part)


def edges(marks: UpperLandmarks, off: float) -> tuple[np.ndarray, np.ndarray]:
    """A sleeve 60 wide that hangs beside a torso whose edge is at x = 300."""
    y = np.linspace(100, 500, ROWS)
    inner = np.stack([np.full(ROWS, 300 - off * marks.chest), y], axis=1).astype(np.float32)
    return inner - np.array([60, 0], np.float32), inner


def test_a_sleeve_rests_where_the_torso_is_beside_it_but_not_at_its_armpit() -> None:
    marks = marks_with((slice(0, 400), slice(300, 500)))
    rests = resting(marks, *edges(marks, 0.02))
    y = edges(marks, 0.02)[1][:, 1]
    assert rests[0] == 0
    assert rests[(y > 100 + 0.26 * marks.chest) & (y < 330)] == pytest.approx(1, abs=0.02)
    assert rests[y > 470].max() < 0.02


def test_a_sleeve_with_a_gap_beside_it_does_not_rest() -> None:
    marks = marks_with((slice(0, 400), slice(300, 500)))
    assert resting(marks, *edges(marks, 0.10)).max() == 0


def test_the_shaded_strip_is_left_out_where_it_rests() -> None:
    marks = marks_with((slice(0, 400), slice(300, 500)))
    outer, inner = edges(marks, 0.02)
    rests = np.linspace(0, 1, ROWS, dtype=np.float32)
    moved = inner[:, 0] - without_shade(outer, inner, rests)[:, 0]
    assert moved == pytest.approx(SHADED * 60 * rests, abs=1e-3)


def test_the_cut_is_beyond_the_inner_edge_and_only_where_it_rests() -> None:
    across = np.tile(np.linspace(-1.16, 1.16, 5, dtype=np.float32), (2, 1))
    target = np.zeros((2, 5, 2), np.float32)
    target[..., 0] = 25 * across
    depth = from_cut(Ribbon(target, target, across), np.array([1.0, 0.0], np.float32))
    assert depth[0] == pytest.approx(25 * (1 + 2 * BEYOND - across[0]), abs=1e-3)
    assert depth[1] == pytest.approx(25 * (1 + 2 * BEYOND - across[0]) + FAR_INSIDE, abs=1e-3)
