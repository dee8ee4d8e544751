"""The upper end of trousers under a top that became shorter is that of the body, and has the form of a waistband."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.base import Label
from engines.warp.body.bare_parts import bare_half_width
from engines.warp.body.model import SIDES, BodyModel, measure_body
from engines.warp.plate.waistband import HIDDEN_TOP, OVER_BELLY, UpperEnd, upper_end
from tests.engines.mannequin import draw_mannequin


def _dressed(waist: float, shadow: float = 0.0) -> tuple[NDArray[np.float32], BodyModel, NDArray[np.bool_]]:
    """A photo of grey trousers below a waist, a body in them, and where they are; ``shadow`` is that of the hem."""
    body = measure_body(draw_mannequin(1024, 768).person_map)
    body = replace(body, waist=replace(body.waist, height=waist, bend=(0.0, 0.0), bare_midriff=False))
    seen = (body.heights > waist) & (np.abs(body.laterals) < 0.52)
    body.labels[seen] = Label.LOWER
    below = (body.heights - waist) * body.torso_length / body.shoulder_width
    light = 0.5 * (1.0 - shadow * np.exp(-((np.maximum(below, 0.0) / 0.06) ** 2)))
    return np.repeat(light[..., None], 3, axis=2).astype(np.float32), body, seen


def _end(waist: float, shadow: float = 0.0) -> tuple[UpperEnd, BodyModel]:
    _, body, seen = _dressed(waist, shadow)
    end = upper_end(body, seen)
    assert end is not None
    return end, body


def _whole(end: UpperEnd, values: NDArray[np.float32], body: BodyModel) -> NDArray[np.float32]:
    whole = np.zeros(body.shape, np.float32)
    whole[end.window] = values
    return whole


def _row(values: NDArray[np.float32], body: BodyModel, height: float) -> NDArray[np.float32]:
    return values[round(float(body.point(height)[1]))]


def test_a_hidden_waistband_is_as_wide_as_the_belly_and_at_the_hem_as_what_is_seen() -> None:
    end, body = _end(1.02)
    cover = _whole(end, end.cover, body)
    height = np.array([HIDDEN_TOP + 0.03], np.float32)
    belly = sum(float(bare_half_width(body, height, side)[0]) for side in SIDES)
    over = 2 * OVER_BELLY * body.shoulder_width
    assert 0.9 * belly < _row(cover, body, float(height[0])).sum() < 1.06 * belly + over
    assert _row(cover, body, 1.015).sum() == pytest.approx(1.04 * body.shoulder_width, rel=0.03)


def test_its_upper_edge_is_lowest_in_front() -> None:
    end, body = _end(1.02)
    cover = _whole(end, end.cover, body)
    rows = []
    for aside in (0.0, 0.35):
        x = round(float(body.point(HIDDEN_TOP, aside * body.shoulder_width)[0]))
        rows.append(int(np.flatnonzero(cover[:, x] > 0.5)[0]))
    assert rows[0] > rows[1] + 0.01 * body.shoulder_width


def test_a_waistband_that_is_seen_does_not_go_on() -> None:
    end, body = _end(0.83)
    assert _row(_whole(end, end.cover, body), body, 0.81).max() < 0.01
