from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.channels import on_channels


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.uint8, np.bool_])
def test_every_channel_is_the_plane(kind: type[Any]) -> None:
    plane: NDArray[Any] = (np.random.default_rng(0).random((9, 14)) * 2).astype(kind)
    for count in (1, 3, 4):
        stacked = on_channels(plane[2:, 1:8], count)
        assert stacked.dtype == plane.dtype
        assert np.array_equal(stacked, np.repeat(plane[2:, 1:8, None], count, axis=2))


def test_nothing_has_channels_too() -> None:
    assert on_channels(np.zeros((0, 7), np.float32)).shape == (0, 7, 3)
