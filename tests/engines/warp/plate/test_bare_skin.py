"""Between an arm and a bare waist there is either a gap that is seen as one, or none."""

import numpy as np

from engines.base import Label
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.plate.bare_skin import CREASE, WAIST_CREASE, gaps
from tests.engines.mannequin import draw_mannequin


def naked(half_gap: np.ndarray, body: BodyModel) -> np.ndarray:
    """Skin everywhere but in a gap beside the waist, of half widths in shoulder widths by the height."""
    return np.asarray(np.abs(body.laterals - 0.35) > np.interp(body.heights, np.linspace(0.55, 0.95, 9), half_gap))


def body_without_labels() -> BodyModel:
    body = measure_body(draw_mannequin().person_map)
    body.labels[:] = Label.UPPER
    return body


def test_a_narrow_gap_beside_the_waist_is_skin() -> None:
    body = body_without_labels()
    narrow = 0.5 * (CREASE + WAIST_CREASE)
    cover = naked(np.array([-1, narrow, narrow, narrow, narrow, narrow, narrow, narrow, -1]), body)
    assert (~cover).sum() > 100
    assert gaps(cover, body, np.zeros(body.shape, np.float32)).all()


def test_a_wide_gap_runs_on_to_a_point() -> None:
    body = body_without_labels()
    cover = naked(0.08 * np.array([-0.1, 0.2, 0.4, 0.7, 1.0, 0.7, 0.4, 0.2, -0.1]), body)
    open_ = ~gaps(cover, body, np.zeros(body.shape, np.float32))
    widths = open_.sum(axis=1)
    widths = widths[widths > 0]
    assert widths.max() > 0.13 * body.shoulder_width
    assert max(widths[0], widths[-1]) < 0.045 * body.shoulder_width
    # Under a hem nothing is left of it.
    cloth = np.ones(body.shape, np.float32)
    assert (~gaps(cover, body, cloth)).sum() < open_.sum()
