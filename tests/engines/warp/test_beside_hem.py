"""A strip of trousers that was labelled as the top is trousers again; hems and sleeves stay what they are."""

from dataclasses import replace

import numpy as np

from engines.base import Label, PersonMap
from engines.warp.beside_hem import trousers_beside_hem, waistband_by_colour
from engines.warp.body.model import measure_body
from tests.engines.mannequin import draw_mannequin


def with_strip(width: float, sleeves: str = "short") -> tuple[PersonMap, np.ndarray]:
    """Part of the trousers right below the hem is labelled as the top; its width in shoulder widths."""
    person = draw_mannequin(960, 760, sleeves=sleeves).person_map
    body = measure_body(person)
    below = (body.heights > body.waist.height + 0.02) & (body.heights < body.waist.height + 0.15)
    outside = np.max(body.laterals[(person.labels == Label.LOWER) & below])
    strip = below & (person.labels == Label.LOWER) & (body.laterals > outside - width)
    return replace(person, labels=np.where(strip, np.uint8(Label.UPPER), person.labels)), strip


def test_a_narrow_strip_is_trousers() -> None:
    person, strip = with_strip(0.06)
    mended = trousers_beside_hem(person, measure_body(person))
    assert (mended.labels[strip] == Label.LOWER).mean() > 0.8
    assert (mended.labels != person.labels).sum() <= strip.sum()


def test_a_wide_part_is_the_top() -> None:
    person, _ = with_strip(0.35)
    assert trousers_beside_hem(person, measure_body(person)) is person


def test_under_long_sleeves_nothing_is_doubted() -> None:
    person, _ = with_strip(0.06, sleeves="long")
    assert trousers_beside_hem(person, measure_body(person)) is person


def with_waistband(*, piece: tuple[int, int, int]) -> tuple[np.ndarray, PersonMap, np.ndarray]:
    """A white tucked top over blue trousers, and a piece of the waistband in a colour that is labelled as the top."""
    person = draw_mannequin(960, 760).person_map
    body = measure_body(person)
    clothes = np.isin(person.labels, (Label.UPPER, Label.LOWER)) & (np.abs(body.laterals) < 0.5)
    labels = person.labels.copy()
    labels[clothes] = np.where(body.heights[clothes] > 0.8, np.uint8(Label.LOWER), np.uint8(Label.UPPER))
    photo = np.full((*labels.shape, 3), 0.93, np.float32)
    photo[labels == Label.LOWER] = (0.15, 0.25, 0.55)
    wrong = clothes & (body.heights > 0.8) & (body.heights < 0.84) & (body.laterals > 0.3) & (body.laterals < 0.4)
    labels[wrong], photo[wrong] = Label.UPPER, np.array(piece, np.float32) / 255.0
    return photo, replace(person, labels=labels), wrong


def test_a_piece_of_a_waistband_in_the_colour_of_the_trousers_is_trousers() -> None:
    photo, person, wrong = with_waistband(piece=(40, 64, 140))
    mended = waistband_by_colour(photo, person, measure_body(person, photo))
    assert (mended.labels[wrong] == Label.LOWER).mean() > 0.95
    assert (mended.labels != person.labels)[~wrong].sum() == 0


def test_what_hangs_over_a_waistband_in_the_colour_of_the_top_is_the_top() -> None:
    photo, person, _ = with_waistband(piece=(236, 236, 238))
    assert waistband_by_colour(photo, person, measure_body(person, photo)) is person
