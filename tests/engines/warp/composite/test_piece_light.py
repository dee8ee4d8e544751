"""The folds of a loose top are hardly those of a bodice that a skirt hangs from."""

import numpy as np
import pytest

from engines.warp.body.model import BodyModel, measure_body
from engines.warp.pieces import Piece
from tests.engines.mannequin import Mannequin, draw_mannequin


@pytest.fixture(scope="module")
def mannequin() -> Mannequin:
    return draw_mannequin(height=768, width=576)


@pytest.fixture(scope="module")
def body(mannequin: Mannequin) -> BodyModel:
    return measure_body(mannequin.person_map)


def torso_down_to(height: float, body: BodyModel) -> Piece:
    """Plain cloth from the shoulders to a height, in torso lengths."""
    alpha = ((body.heights > 0) & (body.heights < height) & (np.abs(body.laterals) < 0.5)).astype(np.float32)
    return Piece("torso", 0.5 * np.repeat(alpha[..., None], 3, axis=2), alpha, body.laterals)
