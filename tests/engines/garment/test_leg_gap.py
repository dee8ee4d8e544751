"""Ground that the cut-out left between two legs is taken away, cloth is not."""

import numpy as np

from engines.garment.cloth import Cloth
from engines.garment.leg_gap import with_soft_crease, without_ground_between_legs
from engines.garment.lower_landmarks import find_lower_landmarks
from engines.garment.notch import find_notch
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
    notch = find_notch(closed.alpha > 0.5, 60, 830, AXIS, 268.0)
    assert notch is not None
    assert notch[1] > 460
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


def with_crease(depth: float, noise: float = 0.0) -> Cloth:
    """Pale trousers with a dark crease that runs up from the crotch, and a pocket's dark edge beside it."""
    cloth = trousers(crotch=CROTCH)
    weave = np.random.default_rng(1).normal(0.0, noise, (*cloth.alpha.shape, 1))
    colour = np.broadcast_to(0.85 + weave, cloth.colour.shape).astype(np.float32).copy()
    colour[230:345, int(AXIS) - 3 : int(AXIS) + 3] -= depth
    colour[100:104, int(AXIS) + 40 : int(AXIS) + 90] -= depth
    return Cloth(np.clip(colour, 0, 1), cloth.alpha)


def test_a_dark_crease_above_the_crotch_becomes_a_shallow_one() -> None:
    cloth = with_crease(0.4)
    worn = with_soft_crease(cloth, find_lower_landmarks(cloth))
    crease = worn.colour[240:325, int(AXIS)]
    assert 0.70 < crease.min() <= crease.max() < 0.84
    far = np.abs(np.arange(cloth.alpha.shape[1]) - AXIS) > 15
    assert (worn.colour[:, far] == cloth.colour[:, far]).all()


def test_a_coarse_weave_keeps_its_crease() -> None:
    cloth = with_crease(0.4, noise=0.08)
    assert with_soft_crease(cloth, find_lower_landmarks(cloth)) is cloth
