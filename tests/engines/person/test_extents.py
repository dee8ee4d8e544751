"""Where a sleeve ends, from votes of pixels along an arm."""

import numpy as np
import pytest

from engines.person.body import Limb
from engines.person.extents import limb_end

WHERE = np.ones((20, 96), bool)


def arm() -> Limb:
    position = np.tile(np.linspace(0, 3, 96, endpoint=False, dtype=np.float32), (20, 1))
    return Limb(np.zeros((20, 96), np.float32), position, 1.0)


def votes(end: float) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Skin past ``end``, cloth before, and some noise."""
    noise = np.random.default_rng(0).normal(0, 3, (20, 96))
    return (np.where(arm().position > end, 3.0, -3.0) + noise).astype(np.float32)


@pytest.mark.parametrize("end", [0.0, 0.5, 1.0, 1.5])
def test_sleeve_ends_where_skin_begins(end: float) -> None:
    assert limb_end(arm(), WHERE, votes(end), longest=2.0, shortest=0.0) == pytest.approx(end, abs=0.1)


def test_arm_all_in_cloth_gives_the_longest() -> None:
    assert limb_end(arm(), WHERE, votes(9.0), longest=2.0, shortest=0.0) == 2.0


def test_bare_leg_gives_the_shortest() -> None:
    assert limb_end(arm(), WHERE, votes(-1.0), longest=2.0, shortest=0.1) == 0.1


def test_unseen_arm_counts_as_covered() -> None:
    assert limb_end(arm(), ~WHERE, votes(0.5), longest=2.0, shortest=0.0) == 2.0
