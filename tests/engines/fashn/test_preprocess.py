import numpy as np
import pytest
import torch

from engines.base import Picture
from engines.fashn.preprocess import GREY, Frame, as_picture, as_tensor, fitted, frame_for, on_grey, padded, padded_map

FRAME = (864, 576)


def noise(height: int, width: int) -> Picture:
    return np.random.default_rng(7).integers(0, 256, (height, width, 3), np.uint8)


def test_picture_is_reduced_to_fit_and_sizes_are_cut() -> None:
    assert fitted(np.zeros((1000, 751, 3), np.uint8), 864).shape == (864, 648, 3)
    assert fitted(np.zeros((751, 1000, 3), np.uint8), 864).shape == (648, 864, 3)
    assert fitted(np.zeros((4000, 3, 3), np.uint8), 864).shape == (864, 1, 3)


def test_picture_is_never_enlarged() -> None:
    for small in (noise(100, 60), noise(600, 400), noise(864, 864)):
        assert fitted(small, 864) is small


@pytest.mark.parametrize(
    ("size", "place"),
    [
        ((864, 648), Frame(0, 48, 576, 768)),  # 3000 by 4000 fits into 576 by 768
        ((864, 400), Frame(88, 0, 400, 864)),
        ((648, 864), Frame(0, 216, 576, 432)),
        ((101, 50), Frame(74, 0, 427, 864)),
        ((864, 573), Frame(1, 0, 573, 864)),  # three columns of padding: one before, two after
        ((10, 3000), Frame(0, 431, 576, 1)),
    ],
)
def test_place_in_the_frame(size: tuple[int, int], place: Frame) -> None:
    assert frame_for(*size, FRAME) == place


def test_padding_is_black_and_comes_off_again() -> None:
    picture = noise(864, 573)
    in_frame, place = padded(picture, FRAME)
    assert in_frame.shape == (*FRAME, 3)
    assert not in_frame[:, 0].any()
    assert not in_frame[:, -2:].any()
    assert np.array_equal(in_frame[:, 1:-2], picture)
    drawn = as_picture(as_tensor(in_frame), place)
    assert drawn.shape == picture.shape
    assert np.abs(drawn.astype(int) - picture).max() <= 1  # cut, not rounded


def test_small_picture_is_enlarged_smoothly_and_large_one_averaged() -> None:
    step = np.zeros((10, 10, 3), np.uint8)
    step[:, 5:] = 200
    assert padded(step, (40, 40))[0].max() > 200  # Lanczos overshoots at an edge
    lines = np.zeros((80, 80, 3), np.uint8)
    lines[::2] = 200
    assert np.unique(padded(lines, (40, 40))[0]).tolist() == [100]


def test_values_of_a_pose_map_are_never_mixed() -> None:
    drawn = np.zeros((50, 30), np.uint8)
    drawn[10:20, 5:9] = 84
    in_frame = padded_map(drawn, FRAME)
    assert in_frame.shape == FRAME
    assert np.unique(in_frame).tolist() == [0, 84]


def test_black_is_minus_one() -> None:
    tensor = as_tensor(np.array([[[0, 255, 51]]], np.uint8))
    assert tensor.shape == (3, 1, 1)
    assert torch.allclose(tensor.flatten(), torch.tensor([-1.0, 1.0, -0.6]))
    assert as_tensor(np.zeros((4, 5), np.uint8)).shape == (1, 4, 5)


def test_what_lies_beyond_the_colours_is_cut() -> None:
    drawn = torch.tensor([-3.0, 3.0, 0.0]).reshape(3, 1, 1)
    assert as_picture(drawn, Frame(0, 0, 1, 1)).tolist() == [[[0, 255, 127]]]


def test_padding_is_cropped_on_the_right_side() -> None:
    drawn = torch.full((3, 6, 8), -1.0)
    drawn[:, 1:5, 2:5] = 1.0
    picture = as_picture(drawn, Frame(2, 1, 3, 4))
    assert picture.shape == (4, 3, 3)
    assert picture.min() == 255


def test_ground_of_a_cut_out_garment_is_grey() -> None:
    picture = np.full((1, 3, 3), 255, np.uint8)
    picture[0, 0] = 10
    laid = on_grey(picture, np.array([[255, 128, 0]], np.uint8))
    assert laid[0, :, 0].tolist() == [10, 191, GREY]
