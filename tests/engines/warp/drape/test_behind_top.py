"""An untucked top hides the waistband; a tucked one does not."""

from dataclasses import replace

import numpy as np
import pytest

from engines.base import Label
from engines.warp.body.model import BodyModel, measure_body
from engines.warp.drape.behind_top import behind_top
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin


def everywhere(body: BodyModel) -> Piece:
    ones = np.ones(body.shape, np.float32)
    return Piece("skirt", np.ones((*body.shape, 3), np.float32), ones, np.zeros(body.shape, np.float32))


def inside(body: BodyModel, label: Label) -> np.ndarray:
    return (body.labels == label) & (np.abs(body.laterals) < 0.3)


def test_untucked_top_is_in_front() -> None:
    body = measure_body(draw_mannequin().person_map)
    piece = behind_top(everywhere(body), body, waistband_open=False)
    assert piece.alpha[inside(body, Label.UPPER) & (body.heights < 0.95)].max() < 0.05
    assert piece.alpha[inside(body, Label.LOWER) & (body.heights > 1.15)].min() > 0.95


def test_nothing_shows_beside_a_loose_top() -> None:
    body = measure_body(draw_mannequin().person_map)
    piece = behind_top(everywhere(body), body, waistband_open=False)
    beside = (body.labels == Label.BACKGROUND) & (body.heights < body.waist.height - 0.1)
    assert piece.alpha[beside].max() < 0.05


def test_tucked_top_leaves_the_waistband_open() -> None:
    body = measure_body(draw_mannequin().person_map)
    piece = behind_top(everywhere(body), body, waistband_open=True)
    assert piece.alpha[inside(body, Label.UPPER)].min() > 0.95


@pytest.mark.parametrize("sleeves_only", [False, True])
def test_sleeves_throw_their_shadow_here_and_a_hem_does_not(*, sleeves_only: bool) -> None:
    body = measure_body(draw_mannequin().person_map)
    piece = behind_top(everywhere(body), body, waistband_open=sleeves_only)
    seen = piece.alpha > 0.99
    assert seen.any()
    assert (piece.colour[seen].min() < 0.95) == sleeves_only


def with_teeth(body: BodyModel) -> BodyModel:
    """The same with every other stretch of ten columns of the top's hem three pixels lower."""
    labels = body.labels.copy()
    for x in range(0, labels.shape[1], 20):
        top = labels[:, x : x + 10] == Label.UPPER
        lower = np.roll(top, 3, axis=0) & (labels[:, x : x + 10] == Label.LOWER)
        labels[:, x : x + 10][lower] = Label.UPPER
    return replace(body, labels=labels)


def hem_over_trousers(body: BodyModel) -> dict[int, int]:
    """Last row of the top in the columns in which trousers come out under it."""
    last = {}
    for x in np.flatnonzero((body.labels == Label.LOWER).any(axis=0)):
        rows = np.flatnonzero((body.labels[:-1, x] == Label.UPPER) & (body.labels[1:, x] == Label.LOWER))
        if len(rows):
            last[int(x)] = int(rows[-1])
    return last


def test_the_hem_has_no_teeth_where_its_labels_have() -> None:
    body = with_teeth(measure_body(draw_mannequin().person_map))
    piece = behind_top(everywhere(body), body, waistband_open=False)
    seen = hem_over_trousers(body)
    drawn = [int(np.flatnonzero(piece.alpha[row - 8 : row + 9, x] < 0.5).max()) + row - 8 for x, row in seen.items()]
    assert np.abs(np.diff(list(seen.values()))).max() == 3
    assert np.abs(np.diff(drawn)).max() <= 1


def test_trousers_begin_where_the_hem_is_seen_though_the_waist_line_runs_lower() -> None:
    body = measure_body(draw_mannequin().person_map)
    lower = replace(body, waist=replace(body.waist, height=body.waist.height + 0.02))
    piece = behind_top(everywhere(lower), lower, waistband_open=False)
    assert min(piece.alpha[row + 3, x] for x, row in list(hem_over_trousers(body).items())[5:-5]) > 0.9
