"""Maps brought to the size of the photo."""

import numpy as np

from engines.base import Label
from engines.person.enlarge import enlarged_labels, enlarged_matte


def test_map_of_the_right_size_is_left_alone() -> None:
    labels = np.full((30, 20), Label.UPPER, np.uint8)

    assert (enlarged_labels(labels, 30, 20) == labels).all()


def test_slanting_border_becomes_smooth_and_no_label_is_made_up() -> None:
    rows, columns = np.indices((40, 40))
    labels = np.where(rows > columns, np.uint8(Label.UPPER), np.uint8(Label.LEGS)).astype(np.uint8)

    large = enlarged_labels(labels, 400, 400)

    rows, columns = np.indices((400, 400))
    off = (large == Label.UPPER) != (rows > columns)
    assert set(np.unique(large)) == {Label.UPPER, Label.LEGS}
    assert (np.abs(rows - columns)[off] < 12).all()


def test_matte_takes_the_edge_of_the_large_photo() -> None:
    photo = np.full((200, 240, 3), 230, np.uint8)
    photo[:, 123:] = 30
    small = np.full((50, 60, 3), 230, np.uint8)
    small[:, 31:] = 30
    small[:, 30] = 80
    matte = np.zeros((50, 60), np.float32)
    matte[:, 31:] = 1.0
    matte[:, 30] = 0.75

    large = enlarged_matte(matte, small, photo)

    assert large.dtype == np.uint8
    assert large[:, :121].max() < 40
    assert large[:, 125:].min() > 215
