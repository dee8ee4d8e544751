"""Reading pictures at points."""

from __future__ import annotations

import numpy as np

from engines.warp.body.silhouette import values_at

PICTURE = np.arange(12, dtype=np.uint8).reshape(3, 4)


def test_a_point_reads_the_pixel_whose_centre_is_nearest() -> None:
    values, framed = values_at(PICTURE, np.array([[0.4, 0.6], [2.6, 1.4]]))

    assert values.tolist() == [4, 7]
    assert framed.all()


def test_points_outside_read_the_nearest_border_and_are_told() -> None:
    values, framed = values_at(PICTURE, np.array([[-2.0, 0.0], [9.0, 9.0], [3.4, 2.4]], np.float32))

    assert values.tolist() == [0, 11, 11]
    assert framed.tolist() == [False, False, True]
