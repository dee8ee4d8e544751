"""Folds of cloth that hangs from the waist."""

import numpy as np

from engines.warp.body.model import BodyModel, measure_body
from engines.warp.composite.hanging_folds import FROM, hanging_folds
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin

BODY = measure_body(draw_mannequin().person_map)


def skirt(body: BodyModel, until: float, print_contrast: float = 0.0) -> Piece:
    alpha = ((body.heights > 0.9) & (body.heights < until) & (np.abs(body.laterals) < 0.5)).astype(np.float32)
    across = np.clip(body.laterals / 0.5, -1, 1).astype(np.float32)
    stripes = 0.5 + print_contrast * np.sign(np.sin(body.heights * 40))
    colour = (alpha * stripes)[..., None].repeat(3, axis=2).astype(np.float32)
    return Piece("skirt", colour, alpha, across)


def test_a_plain_skirt_hangs_in_folds_that_deepen_towards_its_hem() -> None:
    piece = skirt(BODY, 2.0)
    factor = hanging_folds(piece, BODY)
    upper, lower = (
        factor[(piece.alpha > 0) & (BODY.heights > low) & (BODY.heights < low + 0.1)].std() for low in (0.95, 1.7)
    )
    assert lower > 0.015
    assert lower > 2 * upper
    assert 0.9 < factor.min() < factor.max() < 1.08
    assert (factor[BODY.heights < FROM - 0.01] == 1).all()


def test_printed_cloth_and_short_tops_get_none() -> None:
    assert (hanging_folds(skirt(BODY, 2.0, print_contrast=0.2), BODY) == 1).all()
    assert (hanging_folds(skirt(BODY, 1.15), BODY) == 1).all()
