"""A strip of trousers that was labelled as the top is trousers again; hems and sleeves stay what they are."""

from dataclasses import replace

import numpy as np

from engines.base import Label, PersonMap
from engines.warp.beside_hem import trousers_beside_hem
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
