from dataclasses import replace

import numpy as np
import pytest

from engines.base import Landmark
from engines.warp.body.model import RIGHT, measure_body
from engines.warp.body.torso_width import torso_half_width
from tests.engines.mannequin import draw_mannequin

HEIGHTS = np.linspace(0.1, 1.2, 120)


def test_a_forearm_across_the_belly_leaves_no_scoop_in_the_waist() -> None:
    mannequin = draw_mannequin(960, 760, sleeves="long")
    free = torso_half_width(measure_body(mannequin.person_map), HEIGHTS, RIGHT)
    landmarks = mannequin.person_map.landmarks.copy()
    landmarks[Landmark.LEFT_WRIST, :2] = 390, 0.42 * 960
    body = measure_body(replace(mannequin.person_map, landmarks=landmarks))
    scooped = {side: widths.copy() for side, widths in body.widths.items()}
    scooped[RIGHT][35:50] *= 0.6
    crossing = torso_half_width(replace(body, widths=scooped), HEIGHTS, RIGHT)
    around = (HEIGHTS > 0.5) & (HEIGHTS < 0.85)
    assert crossing[around].min() > 0.85 * free[around].min()


def test_an_arm_beside_the_torso_still_ends_it() -> None:
    body = measure_body(draw_mannequin(960, 760, sleeves="long").person_map)
    drops = (body.arms[RIGHT].line - body.skeleton.shoulders) @ body.skeleton.down / body.torso_length
    centre_of_arm = body.arms[RIGHT].line[np.argmin(np.abs(drops - 0.6)), 0] - 380
    half = torso_half_width(body, np.array([0.6]), RIGHT)[0]
    assert half < centre_of_arm
    assert half == pytest.approx(0.10 * 960, rel=0.2)
