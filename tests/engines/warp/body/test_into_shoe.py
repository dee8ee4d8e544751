"""A bare leg ends in its shoe."""

from dataclasses import replace

import numpy as np

from engines.base import Label
from engines.warp.body.into_shoe import into_shoe
from engines.warp.body.limbs import Limb, usual_leg
from engines.warp.body.model import RIGHT, BodyModel, measure_body
from tests.engines.mannequin import draw_mannequin


def leg_over_shoe(aside: int, half: int) -> tuple[BodyModel, Limb, np.ndarray, int]:
    """A body, its right leg, labels with one shoe whose opening lies beside the ankle, and its middle column."""
    body = measure_body(draw_mannequin().person_map)
    leg = body.legs[RIGHT]
    labels = body.labels.copy()
    labels[labels == Label.FEET] = Label.BACKGROUND
    x, y = leg.points(1.0).round().astype(int)
    labels[y + 4 : y + 40, x + aside - half : x + aside + half] = Label.FEET
    return body, leg, labels, int(x) + aside


def ends(leg: Limb, edges: tuple[np.ndarray, np.ndarray], row: float) -> tuple[float, float]:
    at = int(np.argmin(np.abs(leg.line[:, 1] - row)))
    sides = sorted(float(leg.line[at, 0] + leg.outward[at, 0] * reach) for reach in (edges[0][at], -edges[1][at]))
    return sides[0], sides[1]


def test_a_leg_is_led_into_a_shoe_beside_its_line() -> None:
    body, leg, labels, middle = leg_over_shoe(aside=14, half=18)
    usual = usual_leg(leg, body.shoulder_width)
    led, edges, _ = into_shoe(labels, leg, (usual, usual), body.shoulder_width)
    left, right = ends(led, edges, float(leg.points(1.0)[1]) + 4)
    assert left > middle - 18 - 2
    assert right < middle + 18 + 2


def test_a_leg_is_narrowed_to_a_narrow_opening_without_a_corner() -> None:
    body, leg, labels, _ = leg_over_shoe(aside=0, half=11)
    wide = np.full(len(leg.shares), 0.16 * body.shoulder_width, np.float32)
    led, edges, _ = into_shoe(labels, leg, (wide, wide), body.shoulder_width)
    left, right = ends(led, edges, float(leg.points(1.0)[1]) + 4)
    assert right - left < 0.7 * 2 * wide[0]
    assert np.abs(np.diff(edges[0], n=2)).max() < 0.6


def test_the_knee_stays_where_it_is() -> None:
    body, leg, labels, _ = leg_over_shoe(aside=14, half=18)
    usual = usual_leg(leg, body.shoulder_width)
    led, _, _ = into_shoe(labels, leg, (usual, usual), body.shoulder_width)
    knee = leg.shares < leg.bend - 0.1
    np.testing.assert_array_equal(led.line[knee], leg.line[knee])


def test_without_a_shoe_a_leg_stays_as_it_is() -> None:
    body, leg, labels, _ = leg_over_shoe(aside=14, half=18)
    labels[labels == Label.FEET] = Label.BACKGROUND
    usual = usual_leg(leg, body.shoulder_width)
    led, edges, _ = into_shoe(labels, replace(leg), (usual, usual), body.shoulder_width)
    np.testing.assert_array_equal(led.line, leg.line)
    np.testing.assert_array_equal(edges[0], usual)


def test_the_share_at_which_the_shoe_begins_is_told() -> None:
    body, leg, labels, _ = leg_over_shoe(aside=0, half=18)
    usual = usual_leg(leg, body.shoulder_width)
    _, _, shoe = into_shoe(labels, leg, (usual, usual), body.shoulder_width)
    assert abs(shoe - (1.0 + 4.0 / leg.length)) < 0.03
    labels[labels == Label.FEET] = Label.BACKGROUND
    assert into_shoe(labels, leg, (usual, usual), body.shoulder_width)[2] == np.inf
