"""A bare leg stays within the trousers that hid it."""

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.in_cloth import SLACK, within_cloth
from engines.warp.body.limbs import Limb
from engines.warp.body.model import RIGHT, BodyModel, measure_body
from tests.engines.mannequin import draw_mannequin


def trousers(outer: float, inner: float, label: Label = Label.LOWER) -> tuple[BodyModel, Limb, np.ndarray]:
    """A body, its right leg, and labels of a straight trouser leg, so far to either side of it in shoulder widths."""
    body = measure_body(draw_mannequin(height=900, width=700).person_map)
    leg, unit = body.legs[RIGHT], body.shoulder_width
    labels = np.full(body.shape, Label.BACKGROUND, np.uint8)
    for (x, y), way in zip(leg.line, leg.outward, strict=True):
        ends = sorted((x + way[0] * outer * unit, x - way[0] * inner * unit))
        labels[int(y) - 12 : int(y) + 13, int(ends[0]) : int(ends[1]) + 1] = label
    return body, leg, labels


def test_an_edge_is_led_back_into_the_cloth() -> None:
    body, leg, labels = trousers(0.14, 0.3)
    wide = np.full(len(leg.shares), 0.18 * body.shoulder_width, np.float32)
    outer, _ = within_cloth(labels, leg, (wide, wide), body.shoulder_width)
    middle = (leg.shares > 0.1) & (leg.shares < 0.9)
    assert outer[middle].max() < (0.14 + 2 * SLACK) * body.shoulder_width + 1.0
    assert outer[middle].min() > 0.11 * body.shoulder_width


def test_below_a_hand_the_cloth_is_not_held_to_where_the_hand_begins() -> None:
    body, leg, labels = trousers(0.14, 0.3)
    wide = np.full(len(leg.shares), 0.18 * body.shoulder_width, np.float32)
    x, y = leg.points(np.array([0.3]))[0].round().astype(int)
    beside = slice(x + 1, x + round(0.4 * body.shoulder_width))
    labels[y - 60 : y + 60, beside] = np.where(
        np.arange(beside.start, beside.stop) - x > 0.13 * body.shoulder_width, Label.HANDS, Label.LOWER
    )
    outer, _ = within_cloth(labels, leg, (wide, wide), body.shoulder_width)
    assert np.interp(0.3, leg.shares, outer) == pytest.approx(wide[0], abs=0.5)
    assert np.interp(0.8, leg.shares, outer) < 0.16 * body.shoulder_width


def test_a_calf_keeps_some_of_its_width_where_there_is_room() -> None:
    body, leg, labels = trousers(0.14, 0.3)
    wide = np.full(len(leg.shares), 0.18 * body.shoulder_width, np.float32)
    _, inner = within_cloth(labels, leg, (wide, wide), body.shoulder_width)
    calf, thigh = (leg.shares > leg.bend + 0.15) & (leg.shares < 0.9), leg.shares < leg.bend
    assert inner[calf].min() > wide[0] + 0.5
    np.testing.assert_allclose(inner[thigh], wide[thigh], atol=1e-3)


def test_a_leg_with_room_stays_as_it_is() -> None:
    body, leg, labels = trousers(0.3, 0.3)
    slim = np.full(len(leg.shares), 0.15 * body.shoulder_width, np.float32)
    for edge in within_cloth(labels, leg, (slim, slim), body.shoulder_width):
        np.testing.assert_array_equal(edge, slim)


def test_beside_seen_skin_the_clothes_say_nothing() -> None:
    body, leg, labels = trousers(0.14, 0.14)
    below = np.arange(len(labels)) > leg.points(np.array([leg.bend - 0.1]))[0, 1]
    labels[below] = np.where(labels[below] == Label.LOWER, np.uint8(Label.LEGS), labels[below])
    wide = np.full(len(leg.shares), 0.18 * body.shoulder_width, np.float32)
    outer, _ = within_cloth(labels, leg, (wide, wide), body.shoulder_width)
    near = leg.shares > leg.bend - 0.2
    np.testing.assert_allclose(outer[near], wide[near], atol=0.5)
