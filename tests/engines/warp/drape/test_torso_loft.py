"""Where the edges, the shoulders and the armholes of a drawn top come to lie on a drawn person."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engines.garment.cutout import cut_out
from engines.garment.upper_landmarks import UpperLandmarks, find_upper_landmarks
from engines.warp.body.limbs import Limb
from engines.warp.body.model import LEFT, PROFILE_HEIGHTS, RIGHT, SIDES, BodyModel, measure_body
from engines.warp.drape.arm_in_sleeve import arm_in_sleeve
from engines.warp.drape.fit import fit_garment, is_strap
from engines.warp.drape.sleeve_ribbons import lay_sleeve
from engines.warp.drape.torso_loft import TorsoLoft
from tests.engines.drawings import draw_garment
from tests.engines.mannequin import draw_mannequin


def marks_of(kind: str) -> UpperLandmarks:
    return find_upper_landmarks(cut_out(draw_garment(kind).picture))


def loft_of(marks: UpperLandmarks, body: BodyModel) -> TorsoLoft:
    return TorsoLoft(marks, body, fit_garment(marks, body))


def body_with(arms: str = "down", sleeves: str = "none") -> BodyModel:
    return measure_body(draw_mannequin(960, 760, arms=arms, sleeves=sleeves).person_map)


@pytest.mark.parametrize("band", [0.0, 16.0])
def test_a_stripe_bends_over_the_shoulder_without_a_kink(band: float) -> None:
    marks, body = marks_of("t-shirt"), body_with()
    foot = marks.shoulders.neck_foot
    top = marks.shoulders.top.copy()
    # A neckband that stands up from the shoulder.
    top[: int(foot[0]) + 12] -= band
    raised = replace(marks.shoulders, top=top, neck_foot=foot - (0.0, band))
    loft = loft_of(replace(marks, shoulders=raised), body)
    offsets = np.arange(-marks.shoulders.tip[0], marks.shoulders.tip[0], 4.0)
    stripe = np.stack([marks.axis + offsets, np.full(len(offsets), marks.shoulders.tip[1] + 30)], axis=1)
    slopes = np.diff(loft.place(stripe)[:, 1]) / 4.0
    assert np.abs(np.diff(slopes)).max() < 0.08


@pytest.mark.parametrize("kind", ["t-shirt", "long sleeve"])
@pytest.mark.parametrize("arms", ["down", "out"])
def test_no_row_of_a_sleeve_lies_folded_on_the_next(kind: str, arms: str) -> None:
    marks, body = marks_of(kind), body_with(arms)
    loft = loft_of(marks, body)
    assert marks.sleeves is not None
    for side, sleeve in zip(SIDES, marks.sleeves, strict=True):
        ribbon = lay_sleeve(marks, body, loft, side, sleeve).ribbon
        turned, cut = (_signed_areas(grid[1:-1]) for grid in (ribbon.target, ribbon.source))
        scale = loft.fit.scale**2
        # Cells at the armpit are thin in the garment too; none is turned over on the body.
        assert (turned * np.sign(np.median(turned)) < -0.2 * scale * np.median(np.abs(cut))).mean() < 0.01


@pytest.mark.parametrize("side", [LEFT, RIGHT])
def test_an_armpit_lies_no_farther_out_than_where_the_arm_begins(side: int, monkeypatch: pytest.MonkeyPatch) -> None:
    marks, body = marks_of("long sleeve"), body_with()
    unit = body.shoulder_width
    beside = _offset(loft_of(marks, body).place(marks.armpit(side)), body, side)

    def before_torso(body: BodyModel, side: int) -> Limb:
        arm = arm_in_sleeve(body, side)
        return replace(arm, inner=(arm.inner + 0.20 * unit).astype(np.float32))

    monkeypatch.setattr("engines.warp.drape.torso_loft.arm_in_sleeve", before_torso)
    assert _offset(loft_of(marks, body).place(marks.armpit(side)), body, side) < beside - 0.04 * unit


def test_a_top_on_straps_ends_where_a_bare_arm_hangs_before_it() -> None:
    body = body_with()
    marks = marks_of("tank top")
    shoulders = replace(marks.shoulders, neck_foot=marks.shoulders.tip - (4.0, 0.0))
    marks = replace(marks, shoulders=shoulders)
    assert is_strap(marks)
    ribbon = loft_of(marks, body).ribbon()
    for side, column in ((LEFT, 1), (RIGHT, -2)):
        arm = arm_in_sleeve(body, side)
        inner = arm.line - arm.outward * arm.inner[:, None]
        drops = (inner - body.skeleton.shoulders) @ body.skeleton.down / body.torso_length
        edge = ribbon.target[:, column] - body.skeleton.shoulders
        heights, offsets = edge @ body.skeleton.down / body.torso_length, edge @ body.skeleton.right * side
        beside = (heights > 0.22) & (heights < 0.45)
        reached = np.interp(heights[beside], drops, (inner - body.skeleton.shoulders) @ body.skeleton.right * side)
        assert (offsets[beside] - reached).max() < 0.03 * body.shoulder_width


def strapped() -> UpperLandmarks:
    marks = marks_of("tank top")
    return replace(marks, shoulders=replace(marks.shoulders, neck_foot=marks.shoulders.tip - (4.0, 0.0)))


def test_a_strap_does_not_kink_where_an_arm_lies_before_the_chest(monkeypatch: pytest.MonkeyPatch) -> None:
    body, marks = body_with(), strapped()
    held = 0.22 * body.shoulder_width
    monkeypatch.setattr(TorsoLoft, "_beside_arm", lambda _, heights, side: np.where(heights > 0.1, held, np.inf))
    loft = loft_of(marks, body)
    rows = np.arange(marks.shoulders.tip[1], marks.armpits.row, 2.0)
    for side, half in zip(SIDES, marks.half_widths, strict=True):
        edge = loft.place(np.stack([marks.axis + side * half[rows.astype(int)], rows], axis=1))
        across, down = ((edge - body.skeleton.shoulders) @ way for way in (body.skeleton.right, body.skeleton.down))
        assert (np.diff(across) * side / np.diff(down)).min() > -0.75


def test_straps_keep_to_the_shoulder() -> None:
    body, marks = body_with(), strapped()
    tip = marks.shoulders.tip * (1.6, 1.0)
    wide = replace(marks, shoulders=replace(marks.shoulders, tip=tip, neck_foot=tip - (4.0, 0.0)))
    fit = fit_garment(wide, body)
    for side in SIDES:
        assert fit.tip[side] < 0.9 * body.tip_offset(side)


def _offset(point: np.ndarray, body: BodyModel, side: int) -> float:
    return float((point - body.skeleton.shoulders) @ body.skeleton.right) * side


def _signed_areas(grid: np.ndarray) -> np.ndarray:
    down, up = grid[1:, 1:] - grid[:-1, :-1], grid[1:, :-1] - grid[:-1, 1:]
    return np.asarray(down[..., 0] * up[..., 1] - down[..., 1] * up[..., 0]) / 2


@pytest.mark.parametrize("kind", ["t-shirt", "long sleeve"])
def test_a_hem_does_not_flare_after_a_raised_thigh(kind: str) -> None:
    body = body_with(arms="out")
    unit = body.shoulder_width
    thigh = np.where(PROFILE_HEIGHTS > 0.75, 0.66 * unit, body.widths[LEFT]).astype(np.float32)
    seated = replace(body, widths=body.widths | {LEFT: thigh})
    marks = marks_of(kind)
    loft, standing = loft_of(marks, seated), loft_of(marks, body)
    rows = np.linspace(marks.armpits.row, marks.hem, 40)
    edge = np.stack([marks.axis - np.interp(rows, np.arange(len(marks.half_widths[0])), marks.half_widths[0]), rows], 1)
    placed, before = (-(each.place(edge)[:, 0] - body.skeleton.shoulders[0]) for each in (loft, standing))
    assert placed[-1] < before[-1] + 0.12 * unit
    assert np.diff(placed).max() < 0.55 * np.diff(loft.place(edge)[:, 1]).mean()


def test_slim_garments_stay_closer_to_the_body_than_boxy_ones() -> None:
    marks, body = marks_of("t-shirt"), body_with()
    slim = replace(marks, hem=marks.shoulders.neck_foot[1] + marks.chest / 0.45)
    boxy = replace(marks, hem=marks.shoulders.neck_foot[1] + marks.chest / 0.62)
    wide = marks.half_widths * 1.25
    ratios = []
    for each in (slim, boxy):
        loft = loft_of(replace(each, half_widths=wide), body)
        row = loft.fit.origin + (0.7 * body.torso_length - loft.fit.origin_drop) / loft.fit.scale_down
        left = np.array([marks.axis - np.interp(row, np.arange(len(wide[0])), wide[0]), row])
        ratios.append((body.skeleton.shoulders[0] - loft.place(left)[0]) / body.half_width(0.7, LEFT))
    assert ratios[0] < ratios[1] - 0.06


def test_a_hem_goes_round_the_body_and_its_corners_are_round() -> None:
    marks, body = marks_of("t-shirt"), body_with()
    loft = loft_of(marks, body)
    row = float(marks.hem)
    left, right = (float(np.interp(row, np.arange(marks.half_widths.shape[1]), half)) for half in marks.half_widths)
    across = np.array([-left, -0.8 * left, 0.0, 0.8 * right, right])
    laid = loft.place(np.stack([marks.axis + across, np.full(5, row)], axis=1))
    bone = body.skeleton
    down = ((laid - bone.shoulders) @ bone.down) / body.shoulder_width
    bow = down[2] - down[[0, 4]]
    assert (bow > 0.03).all()
    # On an ellipse the greater part of it lies in the last fifth before the ends.
    assert (down[[1, 3]] - down[[0, 4]] > 0.55 * bow).all()
