"""Trousers go on under a top that became shorter, in their own width and texture."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from engines.base import Category, Label
from engines.warp.body.bare_parts import bare_half_width
from engines.warp.body.model import SIDES, BodyModel, measure_body
from engines.warp.plate.other_garment import HIDDEN_TOP, Continuation, continued_garment
from tests.engines.mannequin import SKIN, TROUSERS, draw_mannequin


def continued(
    photo: NDArray[np.float32], body: BodyModel, category: Category, clothed: NDArray[np.float32] | None = None
) -> Continuation | None:
    """The garment that stays, beside what a new one of a category takes the place of; the new one is nowhere."""
    old = body.labels == (Label.LOWER if category is Category.LOWER_BODY else Label.UPPER)
    from_old = np.asarray(cv2.distanceTransform((~old).astype(np.uint8), cv2.DIST_L2, 5), np.float32)
    nothing = np.zeros(body.shape, np.float32)
    return continued_garment(photo, body, nothing if clothed is None else clothed, from_old, category)


def test_trousers_are_continued_upwards() -> None:
    mannequin = draw_mannequin()
    body = measure_body(mannequin.person_map)
    open_everywhere = np.zeros(body.shape, np.float32)
    photo = mannequin.photo.astype(np.float32) / 255.0
    other = continued(photo, body, Category.UPPER_BODY, open_everywhere)
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
    other = continued(photo, body, Category.UPPER_BODY)
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
    other = continued(photo, body, Category.UPPER_BODY)
    assert other is not None
    row = int(body.point(body.waist.height)[1])
    assert (other.cover[row - 1] > 0.5).sum() == pytest.approx((labels[row + 8] == Label.LOWER).sum(), rel=0.06)


def test_no_gap_needs_no_continuation() -> None:
    mannequin = draw_mannequin()
    body = measure_body(mannequin.person_map)
    photo = mannequin.photo.astype(np.float32) / 255.0
    everywhere = np.ones(body.shape, np.float32)
    assert continued(photo, body, Category.UPPER_BODY, everywhere) is None


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
    other = continued(photo, body, Category.UPPER_BODY, nothing)
    assert other is None or not (other.cover[body.heights < body.waist.height - 0.03] > 0.0).any()


def test_a_button_is_not_drawn_twice() -> None:
    mannequin = draw_mannequin()
    body = measure_body(mannequin.person_map)
    photo = mannequin.photo.astype(np.float32) / 255.0
    x, y = body.point(body.waist.height + 0.06).round().astype(int)
    photo[y - 5 : y + 6, x - 5 : x + 6] = 0.95
    other = continued(photo, body, Category.UPPER_BODY)
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
    other = continued(photo, body, Category.LOWER_BODY, clothed)
    assert other is not None
    hem = (body.heights > body.waist.line(body.laterals)) & (other.cover > 0.5)
    assert (body.laterals[hem] > -0.05).all()
    assert hem.sum() > 50


def test_nothing_goes_on_below_a_top_that_is_as_long_as_the_old_one() -> None:
    mannequin = draw_mannequin(1024, 768)
    labels, body = mannequin.person_map.labels, measure_body(mannequin.person_map)
    within = np.isin(labels, (Label.UPPER, Label.LOWER)) & (np.abs(body.laterals) < 0.5)
    labels[within & (body.heights > 0.75)] = Label.LOWER
    labels[within & (body.heights <= 0.75)] = Label.UPPER
    clothed = (body.heights < 0.85).astype(np.float32)
    photo = np.full((*body.shape, 3), 0.9, np.float32)
    assert continued(photo, measure_body(mannequin.person_map), Category.UPPER_BODY, clothed) is None


def test_a_hidden_waistband_is_as_wide_as_the_belly_and_lowest_in_front() -> None:
    body = measure_body(draw_mannequin(1024, 768).person_map)
    body = replace(body, waist=replace(body.waist, height=1.02, bend=(0.0, 0.0), bare_midriff=False))
    within = np.abs(body.laterals) < 0.52
    body.labels[(body.heights > 1.02) & within] = Label.LOWER
    body.labels[(body.heights <= 1.02) & (body.heights > 0.5) & within] = Label.UPPER
    other = continued(np.full((*body.shape, 3), 0.5, np.float32), body, Category.UPPER_BODY)
    assert other is not None
    height = np.array([HIDDEN_TOP + 0.03], np.float32)
    belly = sum(float(bare_half_width(body, height, side)[0]) for side in SIDES)
    rows = [round(float(body.point(at)[1])) for at in (float(height[0]), 1.015)]
    assert 0.9 * belly < other.cover[rows[0]].sum() < 1.1 * belly
    assert other.cover[rows[1]].sum() == pytest.approx(1.04 * body.shoulder_width, rel=0.03)
    columns = [round(float(body.point(HIDDEN_TOP, aside * body.shoulder_width)[0])) for aside in (0.0, 0.3)]
    front, aside = (int(np.flatnonzero(other.cover[:, column] > 0.5)[0]) for column in columns)
    assert front > aside + 0.01 * body.shoulder_width
    # No belly stands out beside it.
    assert other.beside[rows[0]].max() > 0.9
    assert (other.beside + other.cover).max() < 1.01
