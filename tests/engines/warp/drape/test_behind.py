"""Arms and tops in front of cloth."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from engines.base import Label, Landmark
from engines.warp.body.model import LEFT, RIGHT, BodyModel, measure_body
from engines.warp.drape import behind as module
from engines.warp.drape.behind import behind_arms, behind_top, passes_in_front
from engines.warp.ribbon import Piece
from tests.engines.mannequin import draw_mannequin

HEIGHTS = np.linspace(0.7, 1.1, 9)


@pytest.fixture(scope="module")
def narrowed() -> BodyModel:
    """A body whose right half was measured too narrow."""
    body = measure_body(draw_mannequin(height=512, width=384).person_map)
    return replace(body, widths={LEFT: body.widths[LEFT], RIGHT: 0.6 * body.widths[LEFT]})


def test_cloth_shows_beside_an_arm_and_not_the_wall(monkeypatch: pytest.MonkeyPatch) -> None:
    body = measure_body(draw_mannequin(height=512, width=384, sleeves="none").person_map)
    monkeypatch.setattr(module, "passes_in_front", lambda _body, _side: True)
    whole = np.ones(body.shape, np.float32)
    torso = Piece("torso", np.ones((*body.shape, 3), np.float32), whole, np.zeros_like(whole))
    opened = behind_arms((torso,), body)[0].alpha
    forearm = body.arms[RIGHT].points(np.array([0.7]))[0].round().astype(int)
    assert opened[forearm[1], forearm[0]] < 0.1
    wall = cv2.erode((body.matte < 0.5).astype(np.uint8), np.ones((9, 9), np.uint8)) > 0
    assert opened[wall].min() > 0.99


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


def hem_over_trousers(body: BodyModel) -> dict[int, int]:
    """Last row of the top in the columns in which trousers come out under it."""
    last = {}
    for x in np.flatnonzero((body.labels == Label.LOWER).any(axis=0)):
        rows = np.flatnonzero((body.labels[:-1, x] == Label.UPPER) & (body.labels[1:, x] == Label.LOWER))
        if len(rows):
            last[int(x)] = int(rows[-1])
    return last


def test_trousers_begin_where_the_hem_is_seen_though_the_waist_line_runs_lower() -> None:
    body = measure_body(draw_mannequin().person_map)
    lower = replace(body, waist=replace(body.waist, height=body.waist.height + 0.02))
    piece = behind_top(everywhere(lower), lower, waistband_open=False)
    assert min(piece.alpha[row + 3, x] for x, row in list(hem_over_trousers(body).items())[5:-5]) > 0.9


def test_hanging_arms_are_not_in_front() -> None:
    body = measure_body(draw_mannequin(arms="out").person_map)
    assert not passes_in_front(body, LEFT)
    assert not passes_in_front(body, RIGHT)


def test_forearm_across_the_belly_is_in_front() -> None:
    mannequin = draw_mannequin(arms="out", sleeves="long")
    person = mannequin.person_map
    centre = person.labels.shape[1] / 2
    height = person.labels.shape[0]
    person.landmarks[Landmark.LEFT_WRIST, :2] = (centre + 10, 0.40 * height)
    row, column = int(0.40 * height), int(centre + 10)
    person.labels[row - 14 : row + 14, column - 20 : column + 14] = Label.HANDS
    body = measure_body(person)
    assert passes_in_front(body, RIGHT)
    assert not passes_in_front(body, LEFT)
