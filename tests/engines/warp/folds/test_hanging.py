"""Folds of cloth that hangs from the waist."""

import numpy as np

from engines.warp.body.model import BodyModel, measure_body
from engines.warp.folds.hanging import FROM, hanging_folds
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin

ABOVE = (0.0, -1.0)
BODY = measure_body(draw_mannequin().person_map)


def skirt(
    body: BodyModel, until: float, print_contrast: float = 0.0, own_folds: float = 0.0, flare: float = 0.0
) -> Piece:
    """A skirt with squares printed on it, with folds of its own, and so many half widths wider at its hem."""
    half = 0.5 * (1 + flare * np.clip((body.heights - 0.9) / max(until - 0.9, 0.1), 0, 1))
    alpha = ((body.heights > 0.9) & (body.heights < until) & (np.abs(body.laterals) < half)).astype(np.float32)
    across = np.clip(body.laterals / half, -1, 1).astype(np.float32)
    squares = print_contrast * np.sign(np.sin(body.heights * 40) * np.sin(body.laterals * 31))
    colour = (alpha * (0.5 + squares + own_folds * np.sin(across * 20)))[..., None].repeat(3, axis=2).astype(np.float32)
    return Piece("skirt", colour, alpha, across)


def test_a_plain_skirt_hangs_in_folds_that_deepen_towards_its_hem() -> None:
    piece = skirt(BODY, 2.0)
    change = hanging_folds(piece, BODY, ABOVE)
    upper, lower = (
        change[(piece.alpha > 0) & (BODY.heights > low) & (BODY.heights < low + 0.1)].std() for low in (0.95, 1.7)
    )
    assert lower > 0.015
    assert lower > 2 * upper
    assert -0.2 < change.min() < -0.03
    assert 0.02 < change.max() < 0.2
    assert not change[BODY.heights < FROM - 0.01].any()


def test_short_tops_and_cloth_with_folds_of_its_own_get_none() -> None:
    assert not hanging_folds(skirt(BODY, 1.15), BODY, ABOVE).any()
    assert not hanging_folds(skirt(BODY, 2.0, own_folds=0.08), BODY, ABOVE).any()


def test_a_print_is_no_fold() -> None:
    plain, printed = (hanging_folds(skirt(BODY, 2.0, contrast), BODY, ABOVE) for contrast in (0.0, 0.2))
    assert printed.std() > 0.6 * plain.std()


def test_a_wide_skirt_folds_deeper_than_a_straight_one() -> None:
    wide, straight = skirt(BODY, 2.0, flare=0.6), skirt(BODY, 2.0)
    deep, shallow = (-hanging_folds(piece, BODY, ABOVE).min() for piece in (wide, straight))
    assert deep > 1.5 * shallow
