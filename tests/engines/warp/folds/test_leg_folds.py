"""Creases on the legs of a drawn person."""

from dataclasses import replace

import numpy as np
import pytest

from engines.warp.body.model import LEFT, RIGHT, SIDES, BodyModel, measure_body
from engines.warp.folds.leg_creases import CROTCH, KNEE, SHEET, leg_reliefs
from engines.warp.folds.leg_folds import leg_folds
from engines.warp.pieces import Piece
from tests.engines.mannequin import draw_mannequin

ABOVE = (0.0, -1.0)


@pytest.fixture(scope="module")
def body() -> BodyModel:
    return measure_body(draw_mannequin(960, 760).person_map)


def leg(body: BodyModel, side: int, half: float = 0.2, crotch: float = 0.05) -> Piece:
    """Trousers that are so wide, shoulder widths, and whose crotch hangs at this share of the leg."""
    line = body.legs[side]
    rows, columns = np.indices(body.shape)
    points = line.points(np.linspace(0, 1, 200))
    x = np.interp(np.arange(body.shape[0]), points[:, 1], points[:, 0])[:, None]
    top, end = line.points(np.array([-0.1, 1.0]))[:, 1]
    off = (columns - x) / (half * body.shoulder_width)
    alpha = ((np.abs(off) < 1) & (rows > top) & (rows < end)).astype(np.float32)
    fork = line.points(np.array([crotch]))[0, 1]
    # Above its crotch a leg is one half of the body, with nothing inwards of its axis.
    across = np.where(rows > fork, off, side * np.maximum(side * off, 0))
    name = "left_leg" if side == LEFT else "right_leg"
    return Piece(name, np.repeat(alpha[..., None] / 2, 3, axis=2), alpha, np.clip(across, -1, 1).astype(np.float32))


def test_creases_are_the_same_every_time_and_lie_on_the_cloth(body: BodyModel) -> None:
    for side in SIDES:
        piece = leg(body, side)
        change, again = (leg_folds(piece, body, ABOVE) for _ in range(2))
        assert change.shape == body.shape
        assert np.array_equal(change, again)
        worn = change[piece.alpha > 0]
        deepest, brightest = np.percentile(worn, (0.5, 99.5))
        assert -0.4 < deepest < -0.08
        assert 0.01 < brightest < 0.2
        rows = np.flatnonzero(piece.alpha.any(axis=1))
        assert not change[: rows[0]].any()
        assert not change[rows[-1] + 1 :].any()


def test_wide_legs_have_the_creases_of_narrow_ones_from_edge_to_edge(body: BodyModel) -> None:
    for half in (0.12, 0.3):
        piece = leg(body, RIGHT, half)
        change = leg_folds(piece, body, ABOVE)
        outer = (piece.across > 0.9) & (piece.alpha > 0)
        assert change[outer].min() < -0.03


def test_creases_begin_at_the_crotch_of_the_garment(body: BodyModel) -> None:
    """However low it hangs."""

    reach, lower = round(0.4 * body.shoulder_width), round(0.08 * body.legs[RIGHT].length)

    def inner(crotch: float) -> np.ndarray:
        """Light down the inner side of the thigh, from where the legs of the body part."""
        folds = leg_folds(leg(body, RIGHT, crotch=crotch), body, ABOVE)
        x, y = body.legs[RIGHT].points(np.array([0.0]))[0].round().astype(int)
        return folds[y : y + reach + 2 * lower, x - 8 : x].mean(axis=1)

    higher, hanging = inner(0.04), inner(0.12)
    unlike = [np.abs(hanging[shift : shift + reach] - higher[:reach]).mean() for shift in range(2 * lower)]
    assert int(np.argmin(unlike)) == pytest.approx(lower, abs=0.5 * lower)


def test_creases_follow_the_leg(body: BodyModel) -> None:
    piece = leg(body, RIGHT)
    line = body.legs[RIGHT].line + np.array([0, 20], np.float32)
    moved = replace(body, legs={**body.legs, RIGHT: replace(body.legs[RIGHT], line=line)})
    shifted = replace(piece, alpha=np.roll(piece.alpha, 20, axis=0), across=np.roll(piece.across, 20, axis=0))
    here, there = leg_folds(piece, body, ABOVE), leg_folds(shifted, moved, ABOVE)
    assert np.abs(np.roll(here, 20, axis=0) - there).mean() < 0.2 * np.abs(here).mean()


def test_no_two_legs_are_alike_and_a_bent_knee_has_the_deeper_creases() -> None:
    left, right = (leg_reliefs(side)[0].form[..., 2] for side in ("left", "right"))
    assert abs(np.corrcoef(left.ravel(), right.ravel())[0, 1]) < 0.7
    knee, thigh = (slice(*(round((place + off) / SHEET.spacing) for off in span)) for place, span in
                   ((KNEE, (-0.1, 0.1)), (CROTCH, (-0.1, 0.3))))  # fmt: skip
    bent = leg_reliefs("left")[1].form[..., 2]
    assert bent[knee].min() < 1.3 * left[knee].min()
    assert np.allclose(bent[thigh], left[thigh], atol=0.01)


def test_a_raised_thigh_is_creased_across_the_groin_and_keeps_the_creases_of_its_calf() -> None:
    straight, _, lap = (relief.form[..., 2] for relief in leg_reliefs("right"))
    groin, calf = (round(place / SHEET.spacing) for place in (CROTCH + 0.05, KNEE + 0.55))
    front = slice(straight.shape[1] // 3, straight.shape[1] // 2)
    assert lap[groin - 6 : groin + 6, front].min() < 3 * straight[groin - 6 : groin + 6, front].min() < 0
    assert np.allclose(lap[calf:], straight[calf:], atol=0.003)
