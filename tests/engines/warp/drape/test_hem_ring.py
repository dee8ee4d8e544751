"""A hem is a ring around the legs, and no lower than the garment's own picture has it already."""

import numpy as np
import pytest

from engines.warp.drape.hem_ring import RING, with_hem_ring
from engines.warp.ribbon import Ribbon

DOWN = np.array([0.0, 1.0], np.float32)


def straight() -> Ribbon:
    grid = np.stack(np.meshgrid(np.linspace(0, 100, 11), np.linspace(0, 200, 9)), axis=-1).astype(np.float32)
    return Ribbon(grid, grid.copy(), np.linspace(-1, 1, 11, dtype=np.float32))


@pytest.mark.parametrize(("own", "bow"), [(0.0, RING * 50), (RING * 50, 0.0)])
def test_the_middle_of_a_hem_is_lower_than_its_ends(own: float, bow: float) -> None:
    bent = with_hem_ring(straight(), np.linspace(0, 1, 9), 50.0, own, DOWN).target
    assert bent[-1, 5, 1] - bent[-1, 0, 1] == pytest.approx(bow, abs=1e-3)
    np.testing.assert_allclose(bent[0], straight().target[0])
