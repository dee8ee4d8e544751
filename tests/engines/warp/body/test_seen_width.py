from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import LEFT, RIGHT, measure_body
from engines.warp.body.torso_width import seen_half_width, torso_half_width
from tests.engines.mannequin import draw_mannequin

HEIGHTS = np.linspace(0.0, 1.2, 200)


def test_torso_reaches_to_a_bare_arm_behind_it() -> None:
    mannequin = draw_mannequin(960, 760, sleeves="none")
    labels = mannequin.person_map.labels.copy()
    offsets = np.arange(760)[None] - 380
    rows = (np.arange(960)[:, None] > 290) & (np.arange(960)[:, None] < 440)
    # The arm right in the picture runs behind a top that is wider than the torso.
    labels[rows & (offsets > 0) & (offsets < 0.16 * 960)] = Label.ARMS
    labels[rows & (offsets > 0) & (offsets < 108)] = Label.UPPER
    body = measure_body(replace(mannequin.person_map, labels=labels))
    inside = (HEIGHTS > 0.5) & (HEIGHTS < 0.7)
    assert (torso_half_width(body, HEIGHTS, RIGHT)[inside] < 102).all()
    assert seen_half_width(body, HEIGHTS, RIGHT)[inside] == pytest.approx(108, abs=3)


def test_nothing_changes_beside_a_sleeve() -> None:
    body = measure_body(draw_mannequin(960, 760, sleeves="long").person_map)
    for side in (LEFT, RIGHT):
        assert np.array_equal(seen_half_width(body, HEIGHTS, side), torso_half_width(body, HEIGHTS, side))
