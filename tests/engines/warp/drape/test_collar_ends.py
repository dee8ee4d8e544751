"""Cloth over a drawn person's shoulders, with something that stands up at the end of its collar."""

from dataclasses import replace

import numpy as np

from cli.samples import draw_sample
from engines.base import Label
from engines.garment.cutout import cut_out
from engines.garment.upper_landmarks import UpperLandmarks, find_upper_landmarks
from engines.warp.body.bare_parts import bare_torso
from engines.warp.body.model import LEFT, BodyModel, measure_body
from engines.warp.drape.collar_ends import HORN, ROUND, laid_on_shoulders
from engines.warp.drape.fit import Fit, fit_garment
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin

AT = 0.36
"""Distance of the collar's end from the axis, in shoulder widths."""


def dressed() -> tuple[BodyModel, UpperLandmarks, Fit, np.ndarray, tuple[int, int]]:
    """A body, a flat collar's landmarks and fit, cloth that covers its shoulders, and the collar's end on the left."""
    body = measure_body(draw_mannequin(960, 760).person_map)
    marks = find_upper_landmarks(cut_out(draw_sample("striped_sweater")))
    marks = replace(marks, shoulders=replace(marks.shoulders, neck_top=marks.shoulders.neck_foot, hood=False))
    foot = AT * body.shoulder_width
    fit = replace(fit_garment(marks, body), neck={-1: foot, 1: foot})
    column = round(float(body.point(0.0, LEFT * foot)[0]))
    # Cloth lies on skin, and the collar ends before it.
    cover = (bare_torso(body).on & (body.matte > 0.5) & (np.abs(body.laterals) >= AT)).astype(np.float32)
    return body, marks, fit, cover, (int(np.argmax(cover[:, column - 3] > 0)), column)


def piece_of(cover: np.ndarray) -> Piece:
    return Piece("torso", np.repeat(cover[..., None], 3, axis=2), cover, np.zeros_like(cover))


def test_what_stands_up_at_the_end_of_a_flat_collar_is_gone() -> None:
    body, marks, fit, cover, (row, column) = dressed()
    horn = np.s_[row - 14 : row - 2, column - 8 : column]
    with_horn = cover.copy()
    with_horn[horn] = 1.0
    laid = laid_on_shoulders(piece_of(with_horn), marks, body, fit)
    assert laid.alpha[horn].mean() < 0.15
    below = np.s_[row + 12 : row + 60, column - 40 : column + 1]
    assert np.abs(laid.alpha - cover)[below].max() < 0.05
    assert np.array_equal(laid.colour[..., 0], laid.alpha)


def test_a_corner_over_the_wall_becomes_a_bend() -> None:
    body, marks, fit, cover, (row, column) = dressed()
    top = row - round(HORN * body.shoulder_width)
    cover[top : row + 20, column - 60 : column] = 1.0
    laid = laid_on_shoulders(piece_of(cover), marks, body, fit)
    assert laid.alpha[top : top + 2, column - 2 : column].max() < 0.3
    depth = round(0.45 * ROUND * body.shoulder_width)
    assert laid.alpha[top + depth : row + 20, column - 40 : column - depth].min() > 0.9


def test_a_collar_over_the_hair_ends_in_a_bend_too() -> None:
    body, marks, fit, cover, (row, column) = dressed()
    top = row - round(HORN * body.shoulder_width)
    cover[top : row + 20, column - 60 : column] = 1.0
    body.labels[top - 60 : row, column : column + 40] = Label.HAIR
    body.matte[top - 60 : row, column : column + 40] = 1.0
    laid = laid_on_shoulders(piece_of(cover), marks, body, fit)
    assert laid.alpha[top : top + 2, column - 2 : column].max() < 0.3


def test_collars_that_stand_keep_their_corners_and_lose_their_spikes() -> None:
    body, marks, fit, cover, (row, column) = dressed()
    standing = replace(marks, shoulders=replace(marks.shoulders, neck_top=marks.shoulders.neck_foot - (0.0, 30.0)))
    cover[row - 16 : row + 20, column - 60 : column] = 1.0
    laid = laid_on_shoulders(piece_of(cover), standing, body, fit)
    assert laid.alpha[row - 12 : row + 20, column - 40 : column - 4].min() > 0.95
    spike = np.s_[row - 28 : row - 18, column - 8 : column]
    cover[spike] = 1.0
    laid = laid_on_shoulders(piece_of(cover), standing, body, fit)
    assert laid.alpha[spike].mean() < 0.15
    assert laid.alpha[row - 12 : row + 20, column - 40 : column - 4].min() > 0.95


def test_the_inside_of_a_collar_that_reaches_the_neck_stays() -> None:
    body, marks, fit, cover, (row, column) = dressed()
    # From the collar's end a thin strip of its inside goes on, level, to where the neck stands.
    strip = np.s_[row - 3 : row + 3, column - 10 : column + 60]
    behind = np.zeros_like(cover)
    behind[strip] = 1.0
    piece = replace(piece_of(np.maximum(cover, behind)), behind=behind)
    body.matte[row - 60 : row + 60, column + 50 : column + 130] = 1.0
    body.labels[row - 60 : row + 60, column + 50 : column + 130] = Label.NECK
    laid = laid_on_shoulders(piece, marks, body, fit)
    assert laid.alpha[row - 1 : row + 1, column : column + 40].min() > 0.9
    assert laid.behind is not None
    assert laid.behind[row - 1 : row + 1, column : column + 40].min() > 0.9


def test_a_collar_that_meets_the_neck_stays_whole() -> None:
    body, marks, fit, cover, (row, column) = dressed()
    cover[row - 8 : row + 20, column - 60 : column] = 1.0
    neck = np.s_[row - 90 : row + 60, column + 1 : column + 120]
    body.matte[neck], body.labels[neck] = 1.0, Label.NECK
    laid = laid_on_shoulders(piece_of(cover), marks, body, fit)
    assert laid.alpha[row - 7 : row + 20, column - 40 : column - 1].min() > 0.9
