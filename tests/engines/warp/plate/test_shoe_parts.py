"""What of a shoe the labels call trousers is shoe all the same."""

import numpy as np

from engines.base import Label
from engines.warp.plate.shoe_parts import inside_shoes, shoes_completed

UNIT = 200.0
CLOTH, SHOE, SOLE, SKIN, WALL = (
    (0.10, 0.10, 0.16),
    (0.75, 0.72, 0.80),
    (0.08, 0.08, 0.10),
    (0.70, 0.50, 0.40),
    (0.9,) * 3,
)


def dressed() -> tuple[np.ndarray, np.ndarray]:
    """A trouser leg over a shoe with a sole, and a hand beside them."""
    photo, labels = np.full((220, 260, 3), WALL, np.float32), np.full((220, 260), Label.BACKGROUND, np.uint8)
    for place, colour, label in (
        (np.s_[10:120, 90:160], CLOTH, Label.LOWER),
        (np.s_[120:165, 85:200], SHOE, Label.FEET),
        (np.s_[165:178, 85:205], SOLE, Label.FEET),
        (np.s_[20:60, 200:240], SKIN, Label.HANDS),
    ):
        photo[place], labels[place] = colour, label
    return photo, labels


def test_a_collar_of_the_shoe_is_shoe() -> None:
    photo, labels = dressed()
    collar = np.s_[104:124, 160:170]
    photo[collar], labels[collar] = SHOE, Label.LOWER
    told = shoes_completed(photo, labels, UNIT)
    assert (told[108:124, 165:170] == Label.FEET).mean() > 0.8
    assert (told[10:116, 90:155] == Label.LOWER).all()


def test_an_ankle_is_no_shoe() -> None:
    photo, labels = dressed()
    ankle = np.s_[100:120, 100:150]
    photo[ankle] = np.float32(0.6) * np.array(SKIN, np.float32)
    assert (shoes_completed(photo, labels, UNIT)[ankle] == Label.LOWER).all()


def test_a_heel_behind_the_hem_is_told_from_the_corner_of_the_hem() -> None:
    photo, labels = dressed()
    heel = np.s_[136:178, 75:85]
    labels[heel] = Label.LOWER
    photo[heel] = SOLE
    assert (shoes_completed(photo, labels, UNIT)[140:172, 77:84] == Label.FEET).mean() > 0.8
    photo[10:120, 90:160] = photo[heel] = (0.7, 0.6, 0.3)
    assert (shoes_completed(photo, labels, UNIT)[heel] == Label.LOWER).all()


def test_whole_labels_stay_as_they_are() -> None:
    photo, labels = dressed()
    np.testing.assert_array_equal(shoes_completed(photo, labels, UNIT), labels)
    labels[labels == Label.FEET] = Label.BACKGROUND
    assert shoes_completed(photo, labels, UNIT) is labels


def test_between_collar_and_ankle_the_inside_of_the_shoe_is_seen() -> None:
    _, labels = dressed()
    ankles = np.zeros(labels.shape, bool)
    ankles[122:140, 100:130] = True
    labels[ankles] = Label.FEET
    skin = np.zeros(labels.shape, np.float32)
    skin[:140, 108:130] = 1.0
    inside = inside_shoes(ankles, skin, labels, UNIT)
    assert inside[126:136, 102:106].min() > 0.9
    assert inside[:, :97].max() < 0.01
    assert inside[126:136, 115:].max() < 0.01
