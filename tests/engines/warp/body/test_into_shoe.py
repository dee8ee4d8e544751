"""A bare leg ends in its shoe."""

from dataclasses import replace

import numpy as np

from engines.base import Label
from engines.warp.body.into_shoe import down_to_hem, into_shoe
from engines.warp.body.leg_form import formed
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
    # Nor does it wear anything that it could stand out of.
    labels[(labels == Label.FEET) | (labels == Label.LOWER)] = Label.BACKGROUND
    usual = usual_leg(leg, body.shoulder_width)
    led, edges, _ = into_shoe(labels, replace(leg), (usual, usual), body.shoulder_width)
    np.testing.assert_array_equal(led.line, leg.line)
    np.testing.assert_allclose(edges[0], formed(labels, leg, (usual, usual), body.shoulder_width)[0])


def test_the_share_at_which_the_shoe_begins_is_told() -> None:
    body, leg, labels, _ = leg_over_shoe(aside=0, half=18)
    usual = usual_leg(leg, body.shoulder_width)
    _, _, shoe = into_shoe(labels, leg, (usual, usual), body.shoulder_width)
    assert abs(shoe - (1.0 + 4.0 / leg.length)) < 0.03
    labels[labels == Label.FEET] = Label.BACKGROUND
    assert into_shoe(labels, leg, (usual, usual), body.shoulder_width)[2] == np.inf


def test_an_ankle_fills_the_opening_it_goes_into_beside_a_tongue() -> None:
    body, leg, labels, middle = leg_over_shoe(aside=0, half=14)
    row = int(leg.points(1.0).round()[1]) + 4
    labels[row - 60 : row, middle - 14 : middle + 14] = Label.LOWER
    # A narrow tongue stands up at the left end of the opening.
    labels[row - 8 : row, middle - 14 : middle - 2] = Label.FEET
    thin = np.full(len(leg.shares), 11.0, np.float32)
    led, edges, _ = into_shoe(labels, leg, (thin, thin), body.shoulder_width)
    left, right = ends(led, edges, row)
    assert abs(left - (middle - 14)) < 3
    assert abs(right - (middle + 14)) < 3


def test_a_wide_hem_over_the_shoe_does_not_widen_the_ankle_to_it() -> None:
    body, leg, labels, middle = leg_over_shoe(aside=0, half=30)
    row = int(leg.points(1.0).round()[1]) + 4
    labels[row - 60 : row, middle - 30 : middle + 30] = Label.LOWER
    usual = usual_leg(leg, body.shoulder_width)
    led, edges, _ = into_shoe(labels, leg, (usual, usual), body.shoulder_width)
    left, right = ends(led, edges, row)
    assert right - left < 0.22 * body.shoulder_width


def test_a_heel_that_stands_up_behind_the_ankle_is_beside_it() -> None:
    body, leg, labels, middle = leg_over_shoe(aside=0, half=18)
    row = int(leg.points(1.0).round()[1]) + 4
    labels[row - 60 : row, middle - 18 : middle + 18] = Label.LOWER
    labels[row - 12 : row, middle + 12 : middle + 18] = Label.FEET
    usual = usual_leg(leg, body.shoulder_width)
    led, edges, _ = into_shoe(labels, leg, (usual, usual), body.shoulder_width)
    assert ends(led, edges, row)[1] < middle + 12 + 2


def test_a_leg_goes_down_to_a_hem_far_below_its_ankle_and_into_the_shoe_there() -> None:
    body, leg, labels, middle = leg_over_shoe(aside=0, half=18)
    ankle, hem = (float(leg.points(share)[1]) for share in (1.0, 1.1))
    hem = ankle + 2.5 * (hem - ankle)
    rows = np.arange(len(labels))
    labels[(rows > ankle) & (rows < hem), middle - 25 : middle + 25] = Label.LOWER
    labels[(rows >= hem) & (rows < hem + 30), middle - 25 : middle + 25] = Label.FEET

    further = down_to_hem(labels, leg)
    usual = usual_leg(further, body.shoulder_width)
    _, _, shoe = into_shoe(labels, further, (usual, usual), body.shoulder_width)

    assert further.line[-1, 1] > hem
    assert abs(float(further.points(shoe)[1]) - hem) < 6


def test_a_leg_whose_trousers_end_at_the_ankle_is_the_very_leg() -> None:
    _, leg, labels, _ = leg_over_shoe(aside=0, half=18)
    labels[labels == Label.LOWER] = Label.LEGS

    assert down_to_hem(labels, leg) is leg
