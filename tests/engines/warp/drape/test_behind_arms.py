"""A torso half hidden by an arm is as wide as the other half tells."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import LEFT, RIGHT, BodyModel, measure_body
from engines.warp.drape.behind_arms import LIKE_OTHER_HALF, half_behind_arm
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
