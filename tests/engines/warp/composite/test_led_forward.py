"""An arm that comes forward from beside the garment has no step in its inner edge."""

import numpy as np

from engines.warp.body.model import RIGHT, measure_body
from engines.warp.body.seen_arms import seen_arms
from engines.warp.composite.led_forward import OPENS, led_forward
from tests.engines.mannequin import draw_mannequin

SHAPE = (960, 760)


def test_the_edge_of_the_garment_leads_over_to_that_of_the_arm() -> None:
    body = measure_body(draw_mannequin(*SHAPE, arms="out", sleeves="short").person_map)
    arm, seen = body.arms[RIGHT], seen_arms(body)[RIGHT]
    # The garment is as wide as the centre line of the arm is far out.
    columns = np.arange(SHAPE[1])[None] + np.zeros((SHAPE[0], 1))
    line = np.interp(np.arange(SHAPE[0]), arm.line[:, 1], arm.line[:, 0])[:, None]
    cloth = (columns < line).astype(np.float32)
    led = led_forward(arm, seen, 0.5, cloth)
    below = np.flatnonzero(np.isfinite(seen.inner) & (arm.shares >= 0.5))
    assert abs(led.inner[below[0]]) < 2.0
    steepest = 2.0 * OPENS * arm.length * float(arm.shares[1] - arm.shares[0])
    changes = np.abs(np.diff(led.inner[below]) - np.diff(seen.inner[below]))
    assert changes.max() < steepest
    np.testing.assert_allclose(led.inner[below[-5:]], seen.inner[below[-5:]])


def test_beside_a_narrow_garment_the_arm_is_as_it_is_seen() -> None:
    body = measure_body(draw_mannequin(*SHAPE, arms="out", sleeves="short").person_map)
    seen = seen_arms(body)[RIGHT]
    assert led_forward(body.arms[RIGHT], seen, 0.5, np.zeros(SHAPE, np.float32)) is seen
