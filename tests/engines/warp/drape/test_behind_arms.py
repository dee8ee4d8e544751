"""A torso half hidden by an arm is as wide as the other half tells."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import LEFT, RIGHT, BodyModel, measure_body
from engines.warp.drape import behind_arms as module
from engines.warp.drape.behind_arms import LIKE_OTHER_HALF, behind_arms, half_behind_arm
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin

HEIGHTS = np.linspace(0.7, 1.1, 9)


@pytest.fixture(scope="module")
def narrowed() -> BodyModel:
    """A body whose right half was measured too narrow."""
    body = measure_body(draw_mannequin(height=512, width=384).person_map)
    return replace(body, widths={LEFT: body.widths[LEFT], RIGHT: 0.6 * body.widths[LEFT]})


def test_hidden_half_follows_the_other(narrowed: BodyModel) -> None:
    on_right = np.arange(narrowed.shape[1]) > narrowed.point(0.9)[0]
    labels = np.where(on_right[None], np.uint8(Label.ARMS), narrowed.labels)
    hidden = half_behind_arm(replace(narrowed, labels=labels), HEIGHTS, RIGHT)
    assert hidden == pytest.approx(LIKE_OTHER_HALF * narrowed.half_width(HEIGHTS, LEFT), rel=0.01)


def test_half_in_view_is_as_measured(narrowed: BodyModel) -> None:
    clear = np.where(np.isin(narrowed.labels, (Label.ARMS, Label.HANDS)), np.uint8(0), narrowed.labels)
    seen = half_behind_arm(replace(narrowed, labels=clear), HEIGHTS, RIGHT)
    assert seen == pytest.approx(narrowed.half_width(HEIGHTS, RIGHT))


def test_cloth_shows_beside_an_arm_and_not_the_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    body = measure_body(draw_mannequin(height=512, width=384, sleeves="none").person_map)
    monkeypatch.setattr(module, "passes_in_front", lambda _body, _side: True)
    whole = np.ones(body.shape, np.float32)
    torso = Piece("torso", np.ones((*body.shape, 3), np.float32), whole, np.zeros_like(whole))
    opened = behind_arms((torso,), body)[0].alpha
    forearm = body.arms[RIGHT].points(np.array([0.7]))[0].round().astype(int)
    assert opened[forearm[1], forearm[0]] < 0.1
    wall = cv2.erode((body.matte < 0.5).astype(np.uint8), np.ones((9, 9), np.uint8)) > 0
    assert opened[wall].min() > 0.99
