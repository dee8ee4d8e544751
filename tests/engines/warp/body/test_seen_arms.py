"""What the photo shows of arms and hands."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.bare_parts import WRIST_END, bare_arm, hand_hidden, seen_arms
from engines.warp.body.model import LEFT, RIGHT, SIDES, BodyModel, measure_body
from tests.engines.mannequin import draw_mannequin

HEIGHT = 960


FOREARM = 0.022 * HEIGHT


def bare_body(arms: str = "out") -> BodyModel:
    return measure_body(draw_mannequin(HEIGHT, 760, arms=arms, sleeves="none").person_map)


def on_forearm(body: BodyModel, side: int) -> np.ndarray:
    arm = body.arms[side]
    return np.asarray((arm.shares > arm.bend + 0.12) & (arm.shares < 0.94))


@pytest.mark.parametrize("side", SIDES)
def test_the_edges_of_a_bare_arm_are_found(side: int) -> None:
    body = bare_body()
    seen = seen_arms(body)[side]
    place = on_forearm(body, side)
    assert seen.outer[place] == pytest.approx(FOREARM, abs=2)
    assert seen.inner[place] == pytest.approx(FOREARM, abs=3)


def test_nothing_is_seen_of_an_arm_in_a_long_sleeve() -> None:
    body = measure_body(draw_mannequin(sleeves="long").person_map)
    upper = body.arms[LEFT].shares < 0.8
    assert np.isnan(seen_arms(body)[LEFT].outer[upper]).all()


def gloved() -> BodyModel:
    """A person whose hands are under the cuffs."""
    person_map = draw_mannequin(sleeves="long").person_map
    skin = np.isin(person_map.labels, (Label.HANDS, Label.ARMS))
    return measure_body(replace(person_map, labels=np.where(skin, np.uint8(Label.UPPER), person_map.labels)))


def test_gloved_hand_is_hidden() -> None:
    assert hand_hidden(gloved(), RIGHT)


def test_bare_hand_is_not_hidden() -> None:
    assert not hand_hidden(measure_body(draw_mannequin(sleeves="long").person_map), RIGHT)


def test_no_skin_beyond_a_hidden_wrist() -> None:
    body = gloved()
    assert bare_arm(body, RIGHT, 0.4).share.max() <= WRIST_END + 1e-3
