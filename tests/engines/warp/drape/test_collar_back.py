"""The inside of a back."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.garment.cloth import Cloth
from engines.garment.neckline import without_inner_back
from engines.warp.body.bare_parts import bare_torso
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.drape.behind import WIDEST, before_collar, with_collar_back
from engines.warp.ribbon import Piece, Ribbon, draw
from tests.engines.mannequin import draw_mannequin

GAP = 12


class Collared:
    """A collar somewhat wider than the neck; its back sinks between its ends as on a table."""

    def __init__(self, sunk: int = 10) -> None:
        mannequin = draw_mannequin(960, 760)
        self.body: BodyModel = measure_body(mannequin.person_map)
        neck = mannequin.person_map.labels == Label.NECK
        row, columns = int(np.flatnonzero(neck.any(axis=1))[0]) - 15, np.flatnonzero(neck.any(axis=0))
        self.left, self.right, self.top = int(columns[0]) - GAP, int(columns[-1]) + GAP, row
        height, width = self.body.shape
        tops = np.full(width, row)
        share = np.linspace(-1, 1, self.right - self.left + 1)
        tops[self.left : self.right + 1] += np.rint(sunk * np.minimum(1.0, 4 * (1 - np.abs(share)))).astype(int)
        rows = np.arange(height)[:, None]
        alpha = (rows >= tops).astype(np.float32)
        self.back = (rows >= tops) & (rows < row + 60)
        self.back[:, : self.left] = self.back[:, self.right + 1 :] = False
        self.cloth = Cloth(np.full((height, width, 3), 0.5, np.float32), alpha)
        even = [np.linspace(0, size - 1, 96) for size in (width, height)]
        grid = np.stack(np.meshgrid(*even), axis=-1).astype(np.float32)
        self.ribbon = Ribbon(grid, grid, np.linspace(-1, 1, 96, dtype=np.float32))
        self.front: Piece = draw(self.ribbon, without_inner_back(self.cloth, self.back), self.body.shape, "torso")

    def worn(self, half_width: float = 0.0) -> Piece:
        """The front with its back."""
        return with_collar_back(
            self.front, self.ribbon, self.cloth, self.back, self.body, half_width=half_width * self.body.shoulder_width
        )


def test_the_inside_of_the_back_is_seen_beside_the_neck_and_not_before_it() -> None:
    collared = Collared()
    piece = collared.worn()
    rows = slice(collared.top + 14, collared.top + 24)
    middle = (collared.left + collared.right) // 2
    for beside in (slice(collared.left + 1, collared.left + 6), slice(collared.right - 5, collared.right)):
        assert collared.front.alpha[rows, beside].max() < 0.1
        assert piece.alpha[rows, beside].min() > 0.9
        # Head and neck keep the light from it.
        assert piece.colour[rows, beside].max() < 0.45
    assert piece.alpha[rows, middle - 10 : middle + 11].max() < 0.1
    assert np.array_equal(piece.alpha[collared.top + 80 :], collared.front.alpha[collared.top + 80 :])


def test_shoulders_hide_the_back_of_a_wide_collar() -> None:
    collared = Collared()
    assert collared.worn(WIDEST + 0.01) is collared.front


def test_a_garment_whose_back_is_not_seen_has_none() -> None:
    collared = Collared()
    collared.back[:] = False
    assert collared.worn() is collared.front


def test_no_scrap_of_the_back_is_left_in_a_notch_of_the_neck_where_the_old_collar_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    body = measure_body(draw_mannequin(960, 760).person_map)
    labels = np.full(body.shape, Label.UPPER, np.uint8)
    labels[100:150, 300:400] = Label.NECK
    below = np.zeros(body.shape, bool)
    below[140:220, 306:394] = True
    slit = np.s_[152:158, 303:305]
    below[150:160, 300:306] = False
    below[160:220, 300:400] = True
    part = replace(bare_torso(body), on=below)
    monkeypatch.setattr("engines.warp.drape.behind.bare_torso", lambda _: part)
    whole = replace(body, labels=labels, matte=np.ones(body.shape, np.float32))
    assert before_collar(whole)[slit].min() > 0.2
