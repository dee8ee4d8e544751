"""A sheet of cloth with a drawn inside of a collar: a label lies on it, and a shadow beside the front."""

import numpy as np

from engines.garment.cloth import Cloth
from engines.warp.drape.collar_inside import UNDER, inside_of_collar

HEIGHT, WIDTH = 300, 400
BACK = np.s_[60:160, 100:300]
LABEL = np.s_[80:110, 180:220]
CLOTH = np.array([0.4, 0.2, 0.5], np.float32)


def drawn() -> tuple[Cloth, np.ndarray]:
    """The cloth, and where the inside is."""
    back = np.zeros((HEIGHT, WIDTH), bool)
    back[BACK] = True
    colour = np.broadcast_to(CLOTH, (HEIGHT, WIDTH, 3)).copy()
    colour[60:160, 100:112] *= 0.2
    colour += np.random.default_rng(2).normal(0, 0.01, colour.shape).astype(np.float32)
    colour[LABEL] = 1.0
    return Cloth(colour, np.ones((HEIGHT, WIDTH), np.float32)), back


def test_neither_label_nor_folds_are_seen_on_the_inside() -> None:
    cloth, back = drawn()
    inside = inside_of_collar(cloth, back)
    assert np.abs(inside.colour[BACK] - CLOTH).max() < 0.03


def test_the_inside_goes_on_under_the_front_and_no_further() -> None:
    cloth, back = drawn()
    inside = inside_of_collar(cloth, back)
    assert inside.alpha[100:120, 100 - UNDER : 300 + UNDER].min() > 0.9
    assert inside.alpha[100:120, : 100 - 3 * UNDER].max() < 0.01
    assert np.array_equal(inside.colour[200:], cloth.colour[200:])


def test_an_inside_too_narrow_to_have_a_colour_of_its_own_is_left_alone() -> None:
    cloth, _ = drawn()
    sliver = np.zeros((HEIGHT, WIDTH), bool)
    sliver[60:160, 200:203] = True
    assert np.array_equal(inside_of_collar(cloth, sliver).colour, cloth.colour)
