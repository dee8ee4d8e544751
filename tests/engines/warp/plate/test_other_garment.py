"""Trousers go on under a top that became shorter, in their own width and texture."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from engines.base import Category, Label, PersonMap
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.plate.other_garment import at_hem, continued_garment
from tests.engines.mannequin import SKIN, TROUSERS, draw_mannequin


def test_trousers_are_continued_upwards() -> None:
    mannequin = draw_mannequin()
    body = measure_body(mannequin.person_map)
    open_everywhere = np.zeros(body.shape, np.float32)
    photo = mannequin.photo.astype(np.float32) / 255.0
    other = continued_garment(photo, mannequin.person_map, body, open_everywhere, Category.UPPER_BODY)
    assert other is not None
    x, y = body.point(body.waist.height - 0.02).round().astype(int)
    assert other.cover[y, x] > 0.95
    np.testing.assert_allclose(other.colour[y, x] * 255.0, TROUSERS, atol=10)
    assert other.cover[int(body.point(0.5)[1]), x] < 0.05


def test_texture_is_that_of_the_garment() -> None:
    mannequin = draw_mannequin()
    body = measure_body(mannequin.person_map)
    photo = mannequin.photo.astype(np.float32) / 255.0
    lower = mannequin.person_map.labels == Label.LOWER
    stripes = (np.indices(lower.shape)[0] // 3) % 2 == 0
    photo[lower & stripes] = 0.9
    other = continued_garment(photo, mannequin.person_map, body, np.zeros(body.shape, np.float32), Category.UPPER_BODY)
    assert other is not None
    x, y = body.point(body.waist.height - 0.03).round().astype(int)
    assert other.colour[y - 6 : y + 6, x - 10 : x + 10].std() > 0.05


def test_at_the_hem_they_are_as_wide_as_below_it() -> None:
    mannequin = draw_mannequin()
    photo, labels = mannequin.photo.astype(np.float32) / 255.0, mannequin.person_map.labels
    body = measure_body(mannequin.person_map)
    rows, columns = np.indices(labels.shape)
    x, y = body.point(body.waist.height).round().astype(int)
    # Wide trousers that a narrow top hides above.
    wide = (rows >= y) & (rows < y + 60) & (np.abs(columns - x) < round(0.60 * body.shoulder_width))
    labels[wide], photo[wide] = Label.LOWER, np.array(TROUSERS) / 255.0
    body = measure_body(mannequin.person_map)
    other = continued_garment(photo, mannequin.person_map, body, np.zeros(body.shape, np.float32), Category.UPPER_BODY)
    assert other is not None
    row = int(body.point(body.waist.height)[1])
    assert (other.cover[row - 1] > 0.5).sum() == pytest.approx((labels[row + 8] == Label.LOWER).sum(), rel=0.06)


def test_the_rim_that_is_mixed_with_the_old_hem_goes_over_into_them() -> None:
    share = at_hem(np.ones((1, 20), np.float32), np.arange(20, dtype=np.float32)[None], 300.0)[0]
    assert share[1] > 0.9
    assert share[6] == 0.0


def test_a_dress_replaces_both() -> None:
    mannequin = draw_mannequin()
    body = measure_body(mannequin.person_map)
    photo = mannequin.photo.astype(np.float32) / 255.0
    nothing = np.zeros(body.shape, np.float32)
    assert continued_garment(photo, mannequin.person_map, body, nothing, Category.FULL_BODY) is None


def test_no_gap_needs_no_continuation() -> None:
    mannequin = draw_mannequin()
    body = measure_body(mannequin.person_map)
    photo = mannequin.photo.astype(np.float32) / 255.0
    everywhere = np.ones(body.shape, np.float32)
    assert continued_garment(photo, mannequin.person_map, body, everywhere, Category.UPPER_BODY) is None


def test_a_waistband_below_a_bare_midriff_is_not_drawn_twice() -> None:
    mannequin = draw_mannequin()
    labels = mannequin.person_map.labels
    body = measure_body(mannequin.person_map)
    strip = (body.heights > 0.85) & (labels == Label.UPPER)
    labels[strip] = Label.TORSO_SKIN
    mannequin.photo[strip] = SKIN
    photo = mannequin.photo.astype(np.float32) / 255.0
    body = measure_body(mannequin.person_map)
    nothing = np.zeros(body.shape, np.float32)
    assert body.waist.bare_midriff
    other = continued_garment(photo, mannequin.person_map, body, nothing, Category.UPPER_BODY)
    assert other is None or not (other.cover[body.heights < body.waist.height - 0.03] > 0.0).any()


def test_a_button_is_not_drawn_twice() -> None:
    mannequin = draw_mannequin()
    body = measure_body(mannequin.person_map)
    photo = mannequin.photo.astype(np.float32) / 255.0
    x, y = body.point(body.waist.height + 0.06).round().astype(int)
    photo[y - 5 : y + 6, x - 5 : x + 6] = 0.95
    other = continued_garment(photo, mannequin.person_map, body, np.zeros(body.shape, np.float32), Category.UPPER_BODY)
    assert other is not None
    above = (other.cover > 0.9) & (body.heights < body.waist.height)
    assert above.sum() > 100
    assert other.colour[above].max() < 0.6


def test_a_top_goes_on_above_the_new_trousers_alone() -> None:
    mannequin = draw_mannequin()
    body = measure_body(mannequin.person_map)
    photo = mannequin.photo.astype(np.float32) / 255.0
    below = body.heights > body.waist.line(body.laterals) + 0.05
    clothed = (below & (body.laterals > -0.05)).astype(np.float32)
    other = continued_garment(photo, mannequin.person_map, body, clothed, Category.LOWER_BODY)
    assert other is not None
    hem = (body.heights > body.waist.line(body.laterals)) & (other.cover > 0.5)
    assert (body.laterals[hem] > -0.05).all()
    assert hem.sum() > 50


def _dressed(colour: tuple[float, float, float] = (0.2, 0.3, 0.5)) -> tuple[NDArray[np.float32], PersonMap, BodyModel]:
    """Trousers whose waistband ends at a short top, in one line across the body."""
    mannequin = draw_mannequin(1024, 768)
    labels, body = mannequin.person_map.labels.copy(), measure_body(mannequin.person_map)
    within = np.isin(labels, (Label.UPPER, Label.LOWER)) & (np.abs(body.laterals) < 0.5)
    labels[within & (body.heights > 0.75)] = Label.LOWER
    labels[within & (body.heights <= 0.75)] = Label.UPPER
    photo = np.full((*body.shape, 3), 0.9, np.float32)
    photo[labels == Label.LOWER] = colour
    person_map = replace(mannequin.person_map, labels=labels)
    return photo, person_map, measure_body(person_map)


def test_nothing_goes_on_below_a_top_that_is_as_long_as_the_old_one() -> None:
    photo, person_map, body = _dressed()
    clothed = (body.heights < 0.85).astype(np.float32)
    assert continued_garment(photo, person_map, body, clothed, Category.UPPER_BODY) is None
