"""Trousers and skirts come out within the top over them."""

from dataclasses import replace

import numpy as np

from engines.warp.body.model import RIGHT, BodyModel, measure_body
from engines.warp.drape.under_top import HEM_SEEN, room_under_top, skirt_under_top
from tests.engines.mannequin import draw_mannequin


def body_with_loose_top() -> BodyModel:
    body = measure_body(draw_mannequin().person_map)
    return replace(body, waist=replace(body.waist, height=0.95 + HEM_SEEN, tucked=False, seen=True))


def test_a_skirt_is_no_wider_than_the_top_at_its_hem_and_itself_further_down() -> None:
    body = body_with_loose_top()
    heights = np.linspace(0.8, 1.8, 41)
    wide = np.full(len(heights), 2.0 * room_under_top(body, RIGHT))
    half = skirt_under_top(body, RIGHT, body.point(heights), wide)
    covered = heights <= body.waist.height
    assert half[covered].max() < 1.06 * room_under_top(body, RIGHT)
    np.testing.assert_allclose(half[heights > 1.5], wide[heights > 1.5])
    assert (np.diff(half) >= -1e-6).all()


def test_a_skirt_over_a_tucked_top_is_left_alone() -> None:
    body = body_with_loose_top()
    body = replace(body, waist=replace(body.waist, tucked=True))
    wide = np.full(9, 200.0)
    np.testing.assert_array_equal(skirt_under_top(body, RIGHT, body.point(np.linspace(0.8, 1.6, 9)), wide), wide)


def test_a_top_beside_the_axis_bounds_the_skirt_on_its_own_side() -> None:
    body = body_with_loose_top()
    heights, wide = np.linspace(0.8, 0.95, 9), np.full(9, 200.0)
    aside = body.point(heights, np.full(9, 10.0))
    there = skirt_under_top(body, RIGHT, body.point(heights), wide) - skirt_under_top(body, RIGHT, aside, wide)
    np.testing.assert_allclose(there, 10.0, atol=0.1)
