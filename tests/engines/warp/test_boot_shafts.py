"""Shafts that the labels call bare legs are boots; ankles are not."""

import numpy as np

from engines.base import Label
from engines.warp.boot_shafts import shafts_of_boots
from tests.engines.booted import draw_booted
from tests.engines.mannequin import SKIN


def test_a_brown_shaft_is_no_leg() -> None:
    mannequin, body = draw_booted(0.2, called=Label.LEGS)
    wrong = mannequin.person_map.labels == Label.LEGS
    told = shafts_of_boots(mannequin.photo.astype(np.float32) / 255.0, mannequin.person_map, body)
    assert (told.labels[wrong] == Label.FEET).all()
    np.testing.assert_array_equal(told.labels[~wrong], mannequin.person_map.labels[~wrong])


def test_a_bare_shin_above_a_shoe_is_one() -> None:
    mannequin, body = draw_booted(0.2, called=Label.LEGS)
    bare = mannequin.person_map.labels == Label.LEGS
    for tone in (1.0, 0.75):
        mannequin.photo[bare] = (tone * np.array(SKIN)).astype(np.uint8)
        photo = mannequin.photo.astype(np.float32) / 255.0
        assert shafts_of_boots(photo, mannequin.person_map, body) is mannequin.person_map
