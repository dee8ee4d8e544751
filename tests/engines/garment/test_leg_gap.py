"""Ground that the cut-out left between two legs is taken away, cloth is not."""

import numpy as np

from engines.garment.leg_gap import without_ground_between_legs
from engines.garment.lower_landmarks import find_lower_landmarks
from engines.warp.pieces import Cloth
from tests.engines.hanging_drawings import AXIS, skirt, trousers

CROTCH = 330


def with_closed_gap(until: int, colour: float) -> Cloth:
    """Trousers whose gap is filled with a colour from the crotch down to a row."""
    cloth = trousers(crotch=CROTCH)
    rows, columns = np.indices(cloth.alpha.shape)
    gap = (cloth.alpha < 0.9) & (rows > CROTCH) & (rows < until) & (np.abs(columns - AXIS) < 40)
    painted = np.where(gap[..., None], np.float32(colour), cloth.colour).astype(np.float32)
    return Cloth(painted, np.where(gap, np.float32(1.0), cloth.alpha))


def test_forgotten_ground_is_opened_and_the_crotch_found() -> None:
    closed = with_closed_gap(until=470, colour=0.9)
    assert find_lower_landmarks(closed).crotch[1] > 460
    opened = without_ground_between_legs(closed)
    assert find_lower_landmarks(opened).crotch[1] < CROTCH + 45
    assert opened.alpha[450, int(AXIS)] < 0.05


def test_what_is_coloured_like_the_legs_is_cloth() -> None:
    cloth = with_closed_gap(until=470, colour=0.9)
    alike = Cloth(np.broadcast_to(cloth.colour[200, int(AXIS)], cloth.colour.shape).copy(), cloth.alpha)
    assert without_ground_between_legs(alike) is alike


def test_print_is_not_taken_for_ground() -> None:
    closed = with_closed_gap(until=470, colour=0.9)
    noise = np.random.default_rng(3).uniform(0.0, 1.0, closed.colour.shape).astype(np.float32)
    busy = Cloth(noise, closed.alpha)
    assert without_ground_between_legs(busy) is busy


def test_skirt_and_open_gap_are_left_alone() -> None:
    for cloth in (skirt(), trousers()):
        assert without_ground_between_legs(cloth) is cloth
