"""Between two legs of trousers: a shadow where they touch, and what is behind where they do not."""

import numpy as np
import pytest

from engines.warp.body.model import BodyModel, measure_body
from engines.warp.drape.lower import joined_at_crotch
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin

CLOTH = np.array([0.7, 0.5, 0.4], np.float32)


@pytest.fixture(scope="module")
def body() -> BodyModel:
    return measure_body(draw_mannequin(960, 760).person_map)


def legs(body: BodyModel, gap: float) -> tuple[list[Piece], int, int]:
    """Both legs as straight strips with a gap in shoulder widths; the row of the crotch, and the middle."""
    unit, middle = body.shoulder_width, round(float(body.skeleton.shoulders[0]))
    crotch = int(np.argmax(body.heights[:, middle] > body.crotch_height + 0.02))
    rows, columns = np.indices(body.shape)
    pieces = []
    for name, side in (("left_leg", -1), ("right_leg", 1)):
        away = (columns - middle + 0.5) * side
        half = np.where(rows > crotch, gap * unit / 2, 0.0)
        alpha = ((away >= half) & (away < 0.35 * unit) & (rows > crotch - 40)).astype(np.float32)
        pieces.append(Piece(name, alpha[..., None] * CLOTH, alpha, alpha * 0.0))
    return pieces, crotch, middle


def test_a_gap_shows_what_is_behind_and_nothing_is_added(body: BodyModel) -> None:
    pieces, _, _ = legs(body, gap=0.05)
    far, near = joined_at_crotch(pieces, body)
    assert np.array_equal(far.alpha, pieces[0].alpha)
    assert near is pieces[1]


def test_touching_legs_are_parted_by_a_dark_line(body: BodyModel) -> None:
    pieces, crotch, middle = legs(body, gap=0.0)
    far, _ = joined_at_crotch(pieces, body)
    row = crotch + round(0.3 * body.shoulder_width)
    light = far.colour[row, : middle - 1].mean(axis=1) / CLOTH.mean()
    assert light[middle - 2] < 0.7
    assert light[middle - round(0.2 * body.shoulder_width)] == pytest.approx(1.0, abs=0.01)
