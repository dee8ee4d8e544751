"""Clothes that their colours do not give away at once: in two colours, in those of skin, with prints like skin."""

import numpy as np
from numpy.typing import NDArray

from engines.base import Label, Mask
from tests.engines.person.painted_body import SKIN, Colour, PaintedBody

RED, WHITE, NAVY, JEANS, GREY = (
    (45.0, 55.0, 35.0),
    (92.0, 0.0, 2.0),
    (18.0, 8.0, -25.0),
    (42.0, -2.0, -18.0),
    (50.0, 0, 0),
)
HEM, SEAM = 240, 170


def _found(labels: Mask, place: NDArray[np.bool_], *wanted: Label) -> float:
    return float(np.isin(labels[place], wanted).mean())


def _in_trousers(colour: Colour) -> PaintedBody:
    person = PaintedBody()
    person.put_on(colour, person.trousers())
    return person


def test_lower_half_of_a_top_in_the_colour_of_the_trousers_is_the_top() -> None:
    person = _in_trousers((24.0, 4.0, -16.0))
    upper, lower = person.torso(116, SEAM), person.torso(SEAM, HEM)
    person.put_on(WHITE, upper)
    person.put_on(NAVY, lower)

    labels = person.labels()

    assert _found(labels, upper | lower, Label.UPPER) > 0.93
    assert _found(labels, person.trousers() & ~lower, Label.LOWER) > 0.9


def test_cropped_top_ends_above_a_bare_midriff() -> None:
    person = _in_trousers(JEANS)
    top, midriff = person.torso(116, 175), person.torso(185, 222)
    person.put_on(RED, top)

    labels = person.labels()

    assert _found(labels, top, Label.UPPER) > 0.95
    assert _found(labels, midriff, Label.TORSO_SKIN, Label.ARMS) > 0.95


def test_skirt_in_the_colour_of_skin_is_no_leg() -> None:
    person = PaintedBody()
    skirt = person.skirt(225, 370)
    person.put_on(SKIN, skirt)
    flowers = skirt & (np.random.default_rng(1).random(skirt.shape) < 0.2)
    person.put_on(WHITE, flowers)
    person.put_on(GREY, person.torso(116, 225))

    labels = person.labels()

    assert _found(labels, skirt, Label.LOWER) > 0.85
    assert _found(labels, person.silhouette & (np.indices(skirt.shape)[0] > 385), Label.LEGS, Label.FEET) > 0.9


def test_print_in_the_colour_of_skin_is_no_skin() -> None:
    person = _in_trousers(JEANS)
    person.put_on(GREY, person.torso(116, HEM))
    print_on_it = person.torso(160, 200) & (np.abs(np.indices(person.silhouette.shape)[1] - 150) < 16)
    person.put_on(SKIN, print_on_it)

    labels = person.labels()

    assert _found(labels, print_on_it, Label.UPPER) == 1.0


def test_print_in_the_colour_of_skin_on_a_shoulder_is_neither_neck_nor_arm() -> None:
    person = _in_trousers(JEANS)
    person.put_on(GREY, person.torso(114, HEM))
    columns = np.indices(person.silhouette.shape)[1]
    patch = person.torso(122, 165) & (columns > 165) & (columns < 188)
    person.put_on(SKIN, patch)

    labels = person.labels()

    assert _found(labels, patch, Label.UPPER) > 0.95
    assert (labels == Label.NECK).any()


def test_photo_that_ends_at_the_hips_shows_a_long_top_and_no_dress() -> None:
    person = PaintedBody()
    person.put_on(GREY, person.torso(116), person.skirt(225, 400))
    whole, cut = person.labels(), person.labels(until=288)

    assert _found(whole, person.torso(), Label.FULL) > 0.9
    assert _found(cut, person.torso()[:288], Label.UPPER) > 0.9
    assert not np.isin(cut, (Label.FULL, Label.LOWER)).any()
