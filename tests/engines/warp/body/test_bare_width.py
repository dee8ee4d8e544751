"""A bare torso is no wider than torsos are, lies where it is seen, and fills the waistband it comes out of."""

from dataclasses import replace

import numpy as np

from engines.base import Label
from engines.warp.body.model import LEFT, BodyModel, measure_body
from engines.warp.body.torso_width import MOST_ASIDE, bare_half_width, bare_torso_limit
from tests.engines.mannequin import draw_mannequin

HEIGHTS = np.array([0.55, 0.65], np.float32)


def seen(left: float, right: float) -> BodyModel:
    """A body whose torso is seen that wide to either side of its axis, in shoulder widths."""
    body = measure_body(draw_mannequin(1024, 768).person_map)
    unit = body.shoulder_width
    widths = {side: np.full_like(body.widths[side], unit * width) for side, width in ((LEFT, left), (-LEFT, right))}
    body = replace(body, widths=widths)
    body.labels[body.labels == Label.LOWER] = Label.UPPER
    return body


def test_a_loose_top_says_nothing_about_the_torso() -> None:
    body = seen(0.6, 0.6)
    np.testing.assert_allclose(bare_half_width(body, HEIGHTS, LEFT), bare_torso_limit(HEIGHTS) * body.shoulder_width)


def test_a_torso_that_leans_lies_aside_of_its_axis() -> None:
    body = seen(0.28, 0.6)
    unit = body.shoulder_width
    wider = bare_half_width(body, HEIGHTS, -LEFT) / unit - bare_torso_limit(HEIGHTS)
    assert (wider > 0.5 * MOST_ASIDE).all()
    assert (wider <= MOST_ASIDE + 1e-4).all()
    np.testing.assert_allclose(bare_half_width(body, HEIGHTS, LEFT) / unit, 0.97 * 0.28, rtol=1e-4)
