"""Legs end at the rim of boots that the trousers in the photo are tucked into."""

import numpy as np

from engines.base import Label
from engines.warp.body.model import RIGHT, measure_body
from engines.warp.drape.into_boots import behind_boots, into_boot
from engines.warp.pieces import Drape, Piece
from tests.engines.booted import RIM, draw_booted
from tests.engines.mannequin import draw_mannequin

SHARES = np.linspace(0.0, 1.05, 106)

HALF = 0.2


def test_wide_cloth_is_gathered_to_the_shaft() -> None:
    _, body = draw_booted(HALF)
    wide = np.full(len(SHARES), 0.35 * body.shoulder_width)
    for edge in into_boot(body, RIGHT, SHARES, (wide, wide), RIM):
        at_rim = float(np.interp(RIM, SHARES, edge))
        assert 0.9 * HALF * body.shoulder_width < at_rim < HALF * body.shoulder_width
        np.testing.assert_array_equal(edge[SHARES < RIM - 0.12], wide[0])
        assert (edge[SHARES > RIM + 0.13] == 0.0).all()
        assert (np.diff(edge) <= 0.0).all()


def test_narrow_cloth_stays_as_wide_as_it_is_down_to_the_rim() -> None:
    _, body = draw_booted(HALF)
    narrow = np.full(len(SHARES), 0.1 * body.shoulder_width)
    for edge in into_boot(body, RIGHT, SHARES, (narrow, narrow), RIM):
        np.testing.assert_allclose(edge[SHARES < RIM], narrow[0])


def leg_over(shape: tuple[int, int]) -> Drape:
    alpha = np.ones(shape, np.float32)
    colour = np.full((*shape, 3), 0.5, np.float32)
    return Drape((Piece("left_leg", colour, alpha, alpha), Piece("right_leg", colour, alpha, alpha)), {})


def test_boots_are_in_front_of_the_legs() -> None:
    _, body = draw_booted(HALF)
    drape = behind_boots(leg_over(body.shape), body)
    boots = body.labels == Label.FEET
    assert drape.boots is not None
    assert drape.boots[boots].mean() > 0.9
    assert min(piece.alpha[boots].min() for piece in drape.pieces) == 0.0
    assert max(piece.colour[boots].min() for piece in drape.pieces) == 0.0
    assert all((piece.alpha[body.labels == Label.LOWER] > 0.5).all() for piece in drape.pieces)


def test_nothing_is_before_legs_over_shoes() -> None:
    body = measure_body(draw_mannequin(960, 760, arms="out").person_map)
    drape = leg_over(body.shape)
    assert behind_boots(drape, body) is drape
