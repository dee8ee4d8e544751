from __future__ import annotations

import numpy as np

from engines.warp.body.sampling import nearest_pixels, values_around, values_at

PICTURE = np.arange(12, dtype=np.uint8).reshape(3, 4)


def test_a_point_reads_the_pixel_whose_centre_is_nearest() -> None:
    values, framed = values_at(PICTURE, np.array([[0.4, 0.6], [2.6, 1.4]]))

    assert values.tolist() == [4, 7]
    assert framed.all()


def test_points_outside_read_the_nearest_border_and_are_told() -> None:
    values, framed = values_at(PICTURE, np.array([[-2.0, 0.0], [9.0, 9.0], [3.4, 2.4]], np.float32))

    assert values.tolist() == [0, 11, 11]
    assert framed.tolist() == [False, False, True]


def test_pixels_keep_the_form_of_the_points() -> None:
    pixels = nearest_pixels(np.zeros((5, 2, 2)), PICTURE.shape)

    assert pixels.rows.shape == pixels.columns.shape == pixels.framed.shape == (5, 2)


def test_a_disc_holds_what_is_nearer_than_its_radius() -> None:
    assert sorted(values_around(PICTURE, np.array([1.0, 1.0]), 1.1).tolist()) == [1, 4, 5, 6, 9]


def test_a_disc_ends_at_the_border_of_the_picture() -> None:
    assert sorted(values_around(PICTURE, np.array([0.0, 0.0]), 1.1).tolist()) == [0, 1, 4]
    assert len(values_around(PICTURE, np.array([-9.0, -9.0]), 2.0)) == 0
