"""An untucked top hides the waistband; a tucked one does not."""

from dataclasses import replace

import numpy as np

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


def test_the_hem_throws_a_shadow() -> None:
    body = measure_body(draw_mannequin().person_map)
    piece = behind_top(everywhere(body), body, waistband_open=False)
    x, y = body.point(body.waist.height + 0.03).round().astype(int)
    far = int(body.point(body.waist.height + 0.3)[1])
    assert piece.colour[y + 2, x, 0] / piece.alpha[y + 2, x] < piece.colour[far, x, 0] - 0.02


def test_a_hem_has_no_steps() -> None:
    person = draw_mannequin(960, 760).person_map
    labels, columns = person.labels.copy(), np.arange(person.labels.shape[1])
    for column in columns[(columns // 20) % 2 == 0]:
        rows = np.flatnonzero(labels[:, column] == Label.UPPER)
        if len(rows):
            labels[rows[-1], column] = Label.LOWER
    body = measure_body(replace(person, labels=labels))
    piece = behind_top(everywhere(body), body, waistband_open=False)
    middle = np.abs(body.laterals[round(float(body.point(1.0)[1]))]) < 0.25
    below = slice(round(float(body.point(0.9)[1])), round(float(body.point(1.2)[1])))
    line = (1.0 - piece.alpha[below, middle]).sum(axis=0)
    assert np.abs(np.diff(line)).max() < 0.3
