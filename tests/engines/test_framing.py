"""What networks are shown: centred to a fraction of a pixel, so that a mirrored picture is seen mirrored."""

import cv2
import numpy as np
import pytest

from engines.framing import centred, framed, reduced


@pytest.mark.parametrize("scale", [0.2, 0.65, 1.0, 1.7])
def test_a_mirrored_picture_is_framed_mirrored(scale: float) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (200, 160, 3)).astype(np.uint8)
    picture = np.asarray(cv2.GaussianBlur(noise, (0, 0), 3), np.uint8)
    size, middle = (64, 96), (71.3, 108.0)
    one = framed(picture, centred(scale, middle, size), size, 90)
    mirrored = np.ascontiguousarray(picture[:, ::-1])
    other = framed(mirrored, centred(scale, (160 - middle[0], middle[1]), size), size, 90)
    assert np.abs(one.astype(int) - other[:, ::-1]).max() <= 2


@pytest.mark.parametrize("scale", [0.2, 0.65, 1.7])
def test_a_smaller_copy_is_framed_alike(scale: float) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (240, 240, 3)).astype(np.uint8)
    picture = np.asarray(cv2.GaussianBlur(noise, (0, 0), 6), np.uint8)
    smaller = np.asarray(cv2.resize(picture, (180, 180), interpolation=cv2.INTER_AREA), np.uint8)
    one = framed(picture, centred(scale, (120, 120), (32, 32)), (32, 32))
    other = framed(smaller, centred(scale / 0.75, (90, 90), (32, 32)), (32, 32))
    assert np.abs(one.astype(int) - other).mean() < 1.5


def test_a_reduced_frame_shows_the_mean_of_its_pixels() -> None:
    matrix = centred(0.5, (40, 60), (32, 48))
    place = np.array([23.0, 31.0, 1.0])
    assert reduced(matrix, 2) @ place == pytest.approx((matrix @ place - 0.5) / 2)
