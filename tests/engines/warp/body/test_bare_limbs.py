"""Invented limbs go on from what is seen of them."""

import numpy as np
import pytest

from engines.base import Label, Landmark
from engines.warp.body.bare_limbs import bare_edges
from engines.warp.body.bare_parts import bare_leg, clothed_until
from engines.warp.body.limbs import usual_leg
from engines.warp.body.model import LEFT, RIGHT, measure_body
from engines.warp.drape.behind_arms import passes_in_front
from engines.warp.plate.skin_light import light_tilt
from tests.engines.mannequin import draw_mannequin


def test_seen_leg_keeps_its_own_outline() -> None:
    mannequin = draw_mannequin()
    labels = mannequin.person_map.labels
    knee = int(mannequin.point(Landmark.LEFT_KNEE)[1])
    below = np.indices(labels.shape)[0] > knee
    labels[below & (labels == Label.LOWER)] = Label.LEGS
    body = measure_body(mannequin.person_map)
    leg = body.legs[RIGHT]
    outer, inner = bare_edges(labels, (Label.LEGS,), leg, usual_leg(leg, body.shoulder_width))
    shin = int(np.searchsorted(leg.shares, 0.75))
    # The mannequin's shins are capsules with a radius of 0.042 of its height.
    assert outer[shin] + inner[shin] == pytest.approx(2 * 0.042 * labels.shape[0], rel=0.12)


def test_hidden_leg_has_the_usual_taper() -> None:
    body = measure_body(draw_mannequin().person_map)
    leg = body.legs[LEFT]
    outer, inner = bare_edges(body.labels, (Label.LEGS,), leg, usual_leg(leg, body.shoulder_width))
    widths = outer + inner
    assert widths[5] > widths[len(widths) // 2] > widths[-8]


def test_limb_is_clothed_down_to_its_hem() -> None:
    body = measure_body(draw_mannequin().person_map)
    leg = body.legs[LEFT]
    cloth = np.zeros(body.shape, np.float32)
    cloth[: int(leg.points(np.array([0.4]))[0, 1])] = 1.0
    assert clothed_until(leg, cloth) == pytest.approx(0.4, abs=0.03)


def test_cloth_further_down_is_not_the_limbs_own() -> None:
    body = measure_body(draw_mannequin().person_map)
    leg = body.legs[LEFT]
    cloth = np.zeros(body.shape, np.float32)
    cloth[int(leg.points(np.array([0.7]))[0, 1]) :] = 1.0
    assert clothed_until(leg, cloth) == -1.0


def test_leg_beyond_its_end_is_empty() -> None:
    body = measure_body(draw_mannequin().person_map)
    assert not bare_leg(body, LEFT, 1.2).on.any()


def test_light_from_the_right_is_noticed() -> None:
    mannequin = draw_mannequin(sleeves="none", arms="out")
    body = measure_body(mannequin.person_map)
    photo = mannequin.photo.astype(np.float32) / 255.0
    assert light_tilt(photo, body) == pytest.approx(0.0, abs=0.02)
    lit = photo.copy()
    for side in (LEFT, RIGHT):
        arm = body.arms[side]
        middle = np.interp(np.arange(body.shape[0]), arm.line[:, 1], arm.line[:, 0])
        near = np.abs(np.arange(body.shape[1])[None] - middle[:, None]) < 40
        to_right = (np.arange(body.shape[1])[None] - middle[:, None]) / 20.0
        lit[near] *= (1.0 + 0.05 * to_right[near])[:, None]
    assert light_tilt(lit, body) > 0.03


def test_hanging_arms_are_not_in_front() -> None:
    body = measure_body(draw_mannequin(arms="out").person_map)
    assert not passes_in_front(body, LEFT)
    assert not passes_in_front(body, RIGHT)


def test_forearm_across_the_belly_is_in_front() -> None:
    mannequin = draw_mannequin(arms="out", sleeves="long")
    person = mannequin.person_map
    centre = person.labels.shape[1] / 2
    height = person.labels.shape[0]
    person.landmarks[Landmark.LEFT_WRIST, :2] = (centre + 10, 0.40 * height)
    row, column = int(0.40 * height), int(centre + 10)
    person.labels[row - 14 : row + 14, column - 20 : column + 14] = Label.HANDS
    body = measure_body(person)
    assert passes_in_front(body, RIGHT)
    assert not passes_in_front(body, LEFT)
