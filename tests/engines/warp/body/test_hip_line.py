"""What lies on the hips does not take a bite out of them."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label, PersonMap
from engines.warp.body.hip_line import half_width_as_seen, hip_half_width, thigh_half_width
from engines.warp.body.model import LEFT, RIGHT, SIDES, BodyModel, measure_body
from tests.engines.mannequin import draw_mannequin

HEIGHTS = np.linspace(0.75, 1.2, 30, dtype=np.float32)
THIGH = slice(0, 30)


@pytest.fixture(scope="module")
def person() -> PersonMap:
    return draw_mannequin(960, 760, arms="out").person_map


@pytest.fixture(scope="module")
def body(person: PersonMap) -> BodyModel:
    return measure_body(person)


def covered(
    person: PersonMap, body: BodyModel, offsets: tuple[float, float], heights: tuple[float, float]
) -> BodyModel:
    """The same person with a hand painted on the right hip, over these offsets in shoulder widths."""
    hand = (body.laterals > offsets[0]) & (body.laterals < offsets[1])
    hand &= (body.heights > heights[0]) & (body.heights < heights[1]) & (person.labels != Label.BACKGROUND)
    labels = np.where(hand, np.uint8(Label.HANDS), person.labels)
    return measure_body(replace(person, labels=labels))


def test_bare_hips_are_where_the_torso_ends(body: BodyModel) -> None:
    for side in SIDES:
        half = hip_half_width(body, HEIGHTS, side)
        assert half == pytest.approx(body.half_width(HEIGHTS, side), abs=0.02 * body.shoulder_width)


@pytest.mark.parametrize("offsets", [(0.32, 0.40), (0.32, 0.80)])
def test_a_hand_on_the_hip_leaves_its_line_alone(
    person: PersonMap, body: BodyModel, offsets: tuple[float, float]
) -> None:
    with_hand = covered(person, body, offsets, (0.88, 1.0))
    wanted = body.half_width(HEIGHTS, RIGHT)
    bitten = with_hand.half_width(HEIGHTS, RIGHT)
    assert (wanted - bitten).max() > 0.08 * body.shoulder_width
    half = hip_half_width(with_hand, HEIGHTS, RIGHT)
    assert half == pytest.approx(wanted, abs=0.05 * body.shoulder_width)
    assert hip_half_width(with_hand, HEIGHTS, LEFT) == pytest.approx(hip_half_width(body, HEIGHTS, LEFT))


def test_a_hand_on_the_thigh_leaves_its_edge_alone(person: PersonMap, body: BodyModel) -> None:
    leg = body.legs[RIGHT]
    centre = float((leg.points(np.array([0.15]))[0] - body.skeleton.shoulders) @ body.skeleton.right)
    begin = centre / body.shoulder_width + 0.12
    with_hand = covered(person, body, (begin, 1.0), (1.25, 1.35))
    assert (leg.outer - with_hand.legs[RIGHT].outer)[THIGH].max() > 0.04 * body.shoulder_width
    edge = thigh_half_width(with_hand, RIGHT)
    assert edge[THIGH] == pytest.approx(leg.outer[THIGH], abs=0.035 * body.shoulder_width)


def test_what_is_seen_is_held_to_nothing(body: BodyModel) -> None:
    assert half_width_as_seen(body, 0.8, RIGHT) == pytest.approx(float(body.half_width(0.8, RIGHT)), abs=3)


def test_hips_that_show_only_below_an_arm_are_no_measure_of_the_waist(person: PersonMap, body: BodyModel) -> None:
    edge = np.where(body.heights < 0.85, 0.30, 0.42)
    arm = (body.laterals > edge) & (body.laterals < 0.7) & (body.heights > 0.4) & (body.heights < 0.95)
    labels = np.where(arm, np.uint8(Label.ARMS), person.labels)
    beside = measure_body(replace(person, labels=labels, matte=np.where(arm, np.uint8(255), person.matte)))
    waist = hip_half_width(beside, np.array([0.65, 0.7], np.float32), RIGHT)
    assert waist == pytest.approx(0.31 * body.shoulder_width, abs=0.03 * body.shoulder_width)
