import numpy as np

from engines.fashn.poses.detector import CELLS, letterboxed, people

ROWS = 80 * 80
"""Cells of the finest layer, 8 pixels apart."""


def output(*boxes: tuple[int, float, float, float, float, float], kind: int = 0) -> np.ndarray:
    """Boxes as the network gives them: cell, centre and logarithmic size in cells, score."""
    rows = np.zeros((1, CELLS, 85), np.float32)
    for cell, *box, score in boxes:
        rows[0, cell, :4] = box
        rows[0, cell, 4], rows[0, cell, 5 + kind] = 1.0, score
    return rows


def test_picture_lies_in_the_upper_left_corner_blue_first() -> None:
    picture = np.full((1280, 320, 3), (10, 20, 30), np.uint8)
    square, scale = letterboxed(picture)
    assert square.shape == (1, 3, 640, 640)
    assert square.dtype == np.float32
    assert scale == 0.5
    assert square[0, :, 639, 159].tolist() == [30, 20, 10]
    assert square[0, :, 0, 160].tolist() == [114, 114, 114]


def test_small_picture_is_enlarged() -> None:
    square, scale = letterboxed(np.zeros((64, 32, 3), np.uint8))
    assert scale == 10
    assert not square[0, :, :, :320].any()
    assert np.all(square[0, :, :, 320:] == 114)


def test_box_is_read_from_its_cell() -> None:
    # The cell in column 3 and row 2 of the finest layer; the box is 4 by 8 cells.
    boxes = people(output((2 * 80 + 3, 0.5, 1.0, np.log(4), np.log(8), 0.9)), scale=2.0)
    assert np.allclose(boxes, [[(28 - 16) / 2, (24 - 32) / 2, (28 + 16) / 2, (24 + 32) / 2]], atol=1e-4)


def test_coarser_layers_follow() -> None:
    first_of_the_coarsest = ROWS + 40 * 40
    boxes = people(output((first_of_the_coarsest + 21, 0, 0, 0, 0, 0.9)), scale=1.0)
    assert np.allclose(boxes, [[16, 16, 48, 48]])


def test_unsure_boxes_and_other_things_are_no_people() -> None:
    assert not len(people(output((5, 0, 0, 1, 1, 0.3)), 1.0))
    assert not len(people(output((5, 0, 0, 1, 1, 0.9), kind=1), 1.0))


def test_one_box_of_those_that_overlap_is_kept() -> None:
    unsure, sure, elsewhere = (10, 0, 0, 3, 3, 0.5), (11, 0, 0, 3, 3, 0.9), (60, 0, 0, 3, 3, 0.4)
    boxes = people(output(unsure, sure, elsewhere), 1.0)
    assert boxes[:, [0, 2]].mean(axis=1).tolist() == [88, 480]


def test_boxes_that_overlap_little_are_both_kept() -> None:
    # 10 of 20 cells in common make a third of both together; 14 of 20 make more than the bound.
    wide = np.log(20)
    assert len(people(output((100, 0, 0, wide, 3, 0.9), (110, 0, 0, wide, 3, 0.8)), 1.0)) == 2
    assert len(people(output((100, 0, 0, wide, 3, 0.9), (106, 0, 0, wide, 3, 0.8)), 1.0)) == 1
