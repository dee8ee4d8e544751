"""What goes on of a shoe above a hem, and what is the hem's own line on it."""

import numpy as np

from engines.base import Label
from engines.warp.plate.shoe_leather import colours_going_on, like_skin, line_of_hem, strip_below_hem

UNIT, EDGE = 200.0, 20

SHOE = np.array([0.8, 0.7, 0.6], np.float32)


def drawn(line: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A shoe below a dark line of so many pixels: photo, labels and cut edge."""
    photo = np.full((60, 80, 3), 0.95, np.float32)
    labels = np.full((60, 80), Label.BACKGROUND, np.uint8)
    photo[EDGE:50, 10:70], labels[EDGE:50, 10:70] = SHOE, Label.FEET
    photo[: EDGE + line, 10:70] = 0.1
    return photo, labels, np.full(80, float(EDGE), np.float32)


def test_the_line_of_a_hem_goes_with_it() -> None:
    photo, labels, edge = drawn(line=3)
    dark = line_of_hem(photo, labels == Label.FEET, SHOE[None, None].repeat(80, axis=1), edge, UNIT)
    assert dark[EDGE : EDGE + 2, 20:60].min() > 0.9
    assert dark[EDGE + 6 :].max() == 0.0
    assert dark[:EDGE].max() == 0.0


def test_a_dark_sole_at_the_hem_stays() -> None:
    photo, labels, edge = drawn(line=3)
    photo[EDGE:50, 10:30] = 0.1
    dark = line_of_hem(photo, labels == Label.FEET, SHOE[None, None].repeat(80, axis=1), edge, UNIT)
    assert dark[:, 10:28].max() == 0.0
    assert dark[EDGE, 35:65].min() > 0.9


def test_a_seam_does_not_interrupt_the_line() -> None:
    photo, labels, edge = drawn(line=3)
    photo[EDGE:50, 40:42] = 0.1
    dark = line_of_hem(photo, labels == Label.FEET, SHOE[None, None].repeat(80, axis=1), edge, UNIT)
    assert dark[EDGE, 20:60].min() > 0.9


def test_the_colour_below_the_shadow_of_the_hem_goes_on() -> None:
    photo, labels, edge = drawn(line=3)
    strip = strip_below_hem(photo, labels, edge, 15, UNIT)
    assert not strip[: EDGE + 4].any()
    np.testing.assert_allclose(colours_going_on(photo, strip, UNIT)[0, 40], SHOE, atol=0.01)


def test_brown_leather_is_no_bare_foot() -> None:
    skin = np.full((50, 3), (0.75, 0.55, 0.45), np.float32)
    assert like_skin(0.8 * skin, skin)
    assert not like_skin(0.5 * skin, skin)
