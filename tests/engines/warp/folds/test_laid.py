"""Reliefs on a drawn person."""

from dataclasses import replace

import numpy as np
import pytest

from engines.warp.body.limbs import Limb
from engines.warp.body.model import LEFT, RIGHT, SIDES, BodyModel, measure_body
from engines.warp.folds import laid
from engines.warp.folds.laid import BELOW_WAIST, sleeve_folds, torso_folds
from engines.warp.folds.reliefs import Relief
from engines.warp.folds.top_creases import SLEEVE_SHEET as SHEET
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin

ABOVE = (0.0, -1.0)


@pytest.fixture(scope="module")
def body() -> BodyModel:
    return measure_body(draw_mannequin(960, 760).person_map)


def covering(name: str, cover: np.ndarray) -> Piece:
    alpha = cover.astype(np.float32)
    return Piece(name, np.repeat(alpha[..., None] / 2, 3, axis=2), alpha, np.zeros_like(alpha))


def sleeve(body: BodyModel, side: int) -> Piece:
    return covering(
        "left_sleeve" if side == LEFT else "right_sleeve",
        (body.arm_distance < 1) & ((body.laterals < 0) if side == LEFT else (body.laterals >= 0)),
    )


def torso(body: BodyModel) -> Piece:
    return covering("torso", (body.heights > 0) & (body.heights < 1.2) & (np.abs(body.laterals) < 0.5))


def near(change: np.ndarray, limb: Limb, share: float, half: int = 14) -> np.ndarray:
    x, y = limb.points(np.array([share], np.float32))[0].round().astype(int)
    return change[y - half : y + half + 1, x - half : x + half + 1]


def bent(limb: Limb, angle: float) -> Limb:
    """The same limb with its lower part turned around elbow or knee."""
    middle = limb.points(np.array([limb.bend], np.float32))[0]
    lower = limb.shares > limb.bend
    turn = np.radians(angle)
    matrix = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]], np.float32)
    line, outward = limb.line.copy(), limb.outward.copy()
    line[lower] = middle + (line[lower] - middle) @ matrix.T
    outward[lower] = outward[lower] @ matrix.T
    return replace(limb, line=line, outward=outward)


def test_folds_are_the_same_every_time_and_as_deep_as_those_of_worn_clothes(body: BodyModel) -> None:
    def draw() -> list[np.ndarray]:
        limbs = (sleeve_folds(sleeve(body, side), body, ABOVE) for side in SIDES)
        return [torso_folds(torso(body), body, ABOVE, to_waist=False), *limbs]

    for change, again in zip(draw(), draw(), strict=True):
        assert change.shape == body.shape
        assert np.array_equal(change, again)
        folded = change[change != 0]
        deepest, brightest = np.percentile(folded, (1, 99))
        assert -0.35 < deepest < -0.03
        assert 0.02 < brightest < 0.2


def test_nothing_is_said_far_from_the_piece(body: BodyModel) -> None:
    piece = sleeve(body, RIGHT)
    rows, columns = np.nonzero(piece.alpha)
    change = sleeve_folds(piece, body, ABOVE)
    change[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1] = 0
    assert not change.any()


def test_a_bodice_has_no_folds_of_its_own_below_the_waist(body: BodyModel) -> None:
    top, dress = (torso_folds(torso(body), body, ABOVE, to_waist=to_waist) for to_waist in (False, True))
    below = body.heights > BELOW_WAIST
    assert not dress[below].any()
    assert np.abs(top[below]).max() > 0.05
    assert np.array_equal(top[body.heights < 0.4], dress[body.heights < 0.4])


def test_the_folds_of_a_bent_elbow_come_in_as_it_bends(body: BodyModel, monkeypatch: pytest.MonkeyPatch) -> None:
    level, slanting = (Relief(SHEET, np.full((*SHEET.shape, 3), slope, np.float32)) for slope in (0.0, 0.1))
    monkeypatch.setattr(laid, "sleeve_reliefs", lambda _: (level, slanting))

    def at_elbow(angle: float) -> float:
        posed = replace(body, arms={**body.arms, RIGHT: bent(body.arms[RIGHT], angle)})
        everywhere = covering("right_sleeve", np.ones(body.shape, bool))
        arm = posed.arms[RIGHT]
        return float(np.abs(near(sleeve_folds(everywhere, posed, ABOVE), arm, arm.bend, 3)).mean())

    straight, half, fully = (at_elbow(angle) for angle in (0.0, -35.0, -75.0))
    assert straight < 0.7 * half
    assert half < 0.8 * fully


def test_folds_of_sleeves_follow_the_arms(body: BodyModel) -> None:
    moved = replace(body, arms={**body.arms, RIGHT: replace(body.arms[RIGHT], line=body.arms[RIGHT].line + 20)})
    everywhere = covering("right_sleeve", np.ones(body.shape, bool))
    here, there = (sleeve_folds(everywhere, at, ABOVE) for at in (body, moved))
    old, new = near(here, body.arms[RIGHT], 0.5), near(there, moved.arms[RIGHT], 0.5)
    assert np.corrcoef(old.ravel(), new.ravel())[0, 1] > 0.95
    assert np.corrcoef(old.ravel(), near(there, body.arms[RIGHT], 0.5).ravel())[0, 1] < 0.8


def test_creases_of_a_sleeve_wider_than_its_sheet_go_on_to_its_edge(body: BodyModel) -> None:
    arm = body.arms[RIGHT]
    everywhere = covering("right_sleeve", np.ones(body.shape, bool))
    change = sleeve_folds(everywhere, body, ABOVE)
    middle = round(float(arm.bend) * (len(arm.line) - 1))
    around = range(middle - 10, middle + 11, 2)
    inwards = [arm.line[at] - 1.6 * arm.inner[at] * arm.outward[at] for at in around]
    beyond = [abs(float(change[int(y), int(x)])) for x, y in inwards]
    assert max(beyond) > 0.02


def test_folds_turn_with_the_light(body: BodyModel) -> None:
    left, right = (torso_folds(torso(body), body, way, to_waist=False) for way in ((-0.8, -0.6), (0.8, -0.6)))
    assert np.corrcoef(left.ravel(), right.ravel())[0, 1] < 0.8
