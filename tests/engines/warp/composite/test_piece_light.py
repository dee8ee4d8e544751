"""The folds of a loose top are hardly those of a bodice that a skirt hangs from."""

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.composite.piece_light import is_long, read_light
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


def test_a_dress_goes_on_as_a_skirt_and_a_top_does_not(body: BodyModel) -> None:
    assert is_long(torso_down_to(2.0, body), body)
    assert not is_long(torso_down_to(1.05, body), body)


def test_a_fold_of_the_old_top_is_shallower_in_a_dress(mannequin: Mannequin, body: BodyModel) -> None:
    old = mannequin.person_map.labels == Label.UPPER
    x, y = body.point(0.5).round().astype(int)
    fold = np.exp(-(((np.arange(old.shape[1]) - x) / (0.04 * body.shoulder_width)) ** 2))
    photo = np.where(old[..., None], 0.6 * (1 - 0.15 * fold[None, :, None]), 0.5)
    photo = np.broadcast_to(photo, (*old.shape, 3)).astype(np.float32)
    top, dress = (read_light(photo, old, body, [torso_down_to(height, body)]).seen[y, x] for height in (1.05, 2.0))
    assert top < -0.03
    assert 0.6 * top < dress < 0.2 * top
