import numpy as np
import pytest

from engines.fashn.poses.estimator import HEIGHT, WIDTH, Crop, crop_around, cut, points_in


def responses(x: int, y: int, across: float, down: float) -> tuple[np.ndarray, np.ndarray]:
    columns, rows = np.zeros((1, 133, 2 * WIDTH), np.float32), np.zeros((1, 133, 2 * HEIGHT), np.float32)
    columns[0, :, x], rows[0, :, y] = across, down
    return columns, rows


@pytest.mark.parametrize(
    ("box", "crop"),
    [
        ((100, 100, 100 + 30, 100 + 200), Crop(115, 200, 187.5)),  # tall: 250 high, three quarters as wide
        ((0, 0, 400, 40), Crop(200, 20, 500)),  # wide
        ((7, 7, 7, 7), Crop(7, 7, 1.25)),  # nothing at all
    ],
)
def test_crop_is_a_quarter_larger_and_of_the_right_form(box: tuple[float, ...], crop: Crop) -> None:
    assert crop_around(np.array(box, np.float32)) == crop


def test_colours_are_blue_first_with_the_constants_of_red_first() -> None:
    part = cut(np.full((HEIGHT, WIDTH, 3), (200, 100, 50), np.uint8), Crop(WIDTH / 2, HEIGHT / 2, WIDTH))
    expected = [(50 - 123.675) / 58.395, (100 - 116.28) / 57.12, (200 - 103.53) / 57.375]
    assert part.shape == (1, 3, HEIGHT, WIDTH)
    assert part.dtype == np.float32
    assert np.allclose(part[0, :, 100, 100], expected, atol=1e-5)


def test_beyond_the_picture_is_black() -> None:
    part = cut(np.full((10, 10, 3), 255, np.uint8), Crop(5, 5, 1000))
    assert np.isclose(part[0, 0, 0, 0], -123.675 / 58.395)


def test_point_is_found_where_it_was_cut_out() -> None:
    crop = Crop(200, 300, 144)  # two pixels of the network per pixel
    points, scores = points_in(*responses(2 * 100, 2 * 50, 0.8, 0.6), crop)
    assert points.shape == (133, 2)
    assert np.allclose(points, [200 - 72 + 50, 300 - 96 + 25])
    assert np.allclose(scores, 0.6)


def test_no_response_is_no_point() -> None:
    _, scores = points_in(*responses(5, 5, 0.0, 0.9), Crop(0, 0, WIDTH))
    assert not scores.any()
