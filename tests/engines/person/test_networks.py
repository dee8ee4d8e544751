"""Squares cut out of photos and drawn back."""

import numpy as np
import pytest

from engines.person.networks import Square, sigmoid


@pytest.mark.parametrize("angle", [0.0, 0.5, -2.0])
def test_points_come_back_to_the_photo(angle: float) -> None:
    square = Square(70.0, 40.0, 50.0, angle)
    points = np.array([[70.0, 40.0], [80.0, 30.0]], np.float32)
    matrix = square.matrix_to(256)

    drawn = (points @ matrix[:, :2].T + matrix[:, 2]).astype(np.float32)

    assert drawn[0] == pytest.approx((128, 128))
    assert square.to_photo(drawn, 256) == pytest.approx(points, abs=1e-3)


def test_square_beyond_the_frame_is_black_there() -> None:
    photo = np.full((40, 40, 3), 200, np.uint8)

    drawn = Square(0.0, 0.0, 40.0).cut(photo, 64)

    assert (drawn[:28, :28] == 0).all()
    assert (drawn[36:, 36:] == 200).all()


def test_large_square_is_averaged_not_sampled() -> None:
    chequered = (np.indices((512, 512)).sum(axis=0) % 2 * 255).astype(np.uint8)

    drawn = Square(256.0, 256.0, 512.0).cut(np.dstack([chequered] * 3), 64)

    assert np.abs(drawn[4:-4, 4:-4].astype(int) - 127).max() <= 8


def test_cut_and_paste_return_the_map() -> None:
    ramp = np.tile(np.linspace(0, 255, 64).astype(np.uint8), (64, 1))
    square = Square(32.0, 32.0, 40.0)

    pasted = square.paste(square.cut(np.dstack([ramp] * 3), 80)[..., 0].astype(np.float32), 64, 64)

    assert np.abs(pasted[16:48, 16:48] - ramp[16:48, 16:48]).max() < 3
    assert (pasted[:8] == 0).all()


def test_sigmoid_does_not_overflow() -> None:
    assert sigmoid(np.array([-1e9, 0.0, 1e9], np.float32)) == pytest.approx([0, 0.5, 1])
