"""The rim of a boot is found by its colour where the labels run beside it."""

import numpy as np

from engines.base import Label
from engines.warp.plate.boot_rim import rims_of_boots_told
from tests.engines.booted import LEATHER, draw_booted
from tests.engines.mannequin import TROUSERS

CALLED_SHOE = 9


def test_cloth_called_boot_is_trousers_in_light_and_in_shade() -> None:
    mannequin, body = draw_booted(0.2)
    truth, photo = mannequin.person_map.labels, mannequin.photo.copy()
    labels = truth.copy()
    for shift in range(1, CALLED_SHOE + 1):
        labels[:-shift][(truth[shift:] == Label.FEET) & (truth[:-shift] == Label.LOWER)] = Label.FEET
    wrong = labels != truth
    assert wrong.sum() > 300
    photo[wrong] = (0.6 * np.array(TROUSERS)).astype(np.uint8)
    told = rims_of_boots_told(photo.astype(np.float32) / 255.0, labels, body.relabelled(labels))
    assert (told != truth)[wrong].mean() < 0.15
    assert (told != truth)[~wrong].mean() < 0.001


def test_cloth_of_the_colour_of_the_boots_stays_as_labelled() -> None:
    mannequin, body = draw_booted(0.2)
    labels, photo = mannequin.person_map.labels, mannequin.photo.copy()
    photo[labels == Label.LOWER] = LEATHER
    told = rims_of_boots_told(photo.astype(np.float32) / 255.0, labels, body)
    np.testing.assert_array_equal(told, labels)
