"""Trouser legs as ribbons from the waistband to the hem.

The outer edge of a leg's ribbon is the garment's outer edge all the way down; its inner edge is the garment's
centre line to the crotch, shared by both legs, and the inseam below.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.garment.leg_hem import LegHem
from engines.garment.lower_landmarks import LowerLandmarks
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.silhouette import ease, towards
from engines.warp.drape.leg_length import is_short, knees_on_knees
from engines.warp.drape.leg_outline import LegOutline, LegRows, outline_of_leg
from engines.warp.pieces import Reals
from engines.warp.ribbon import Ribbon, string_ribbon

RISE_ROWS, LEG_ROWS, COLUMNS = 16, 56, 17

BEYOND_HEM = 4.0
"""Canvas pixels by which a ribbon reaches beyond the hem, so that the cloth's own soft alpha ends it."""

SEAM_INSET, UNDER_NEAR_LEG = 3.0, 0.03
"""Where the legs touch, the inseam of the far one is taken so many canvas pixels inside its cloth and goes on under the
near leg by this share of its width: one soft edge lies on whole cloth, and no two meet."""

HEM_DEPTH = 0.08
"""How much lower the middle of a hem is than its ends, over its width: it lies round the leg."""


@dataclass(frozen=True)
class _FlatLeg:
    """One leg of the garment, row by row, in canvas pixels.

    Attributes:
        rise: ``(r,)`` rows above the crotch.
        ways: ``(l,)`` rows below it, 0 at the crotch, 1 at the hem.
        outer: ``(r + l, 2)`` the outer edge.
        inner: ``(r + l, 2)`` the centre line and the inseam.
    """

    rise: Reals
    ways: Reals
    outer: NDArray[np.float64]
    inner: NDArray[np.float64]


def lay_leg(
    marks: LowerLandmarks,
    body: BodyModel,
    side: int,
    *,
    waistband: float,
    scale: float,
    end: float,
    far: bool,
    crotch: float = 0.0,
    girth: float = 1.0,
) -> Ribbon:
    """The ribbon of one leg.

    Args:
        marks: Landmarks of the garment, with a crotch.
        body: The body.
        side: Side of the picture.
        waistband: Height of the waistband in torso lengths.
        scale: Working-photo pixels per canvas pixel across.
        end: Share of the leg at which the hem lies.
        far: Whether it lies behind the other leg.
        crotch: Share of a leg of usual length at which the garment's crotch hangs.
        girth: By what the garment is wider than one that fits.
    """
    flat, leg = _flat_leg(marks, side), body.legs[side]
    room = (body.crotch_height - waistband) * body.torso_length
    # One drop for both legs, however one of them is foreshortened: above the crotch they are one piece of cloth.
    drop = crotch * float(np.mean([body.legs[each].length for each in SIDES]))
    crotch = drop / leg.length
    down = (flat.rise - marks.top) / (marks.crotch[1] - marks.top) * (room + drop)
    above = down < room
    beside = (down[~above] - room) / leg.length
    rows = LegRows(
        heights=waistband + down[above] / body.torso_length,
        shares=np.concatenate([beside, knees_on_knees(marks, leg, flat.ways, end, crotch)]),
        width=np.abs(flat.outer[:, 0] - flat.inner[:, 0]) * scale,
        end=end,
        crotch=crotch,
        short=is_short(marks),
        girth=girth,
    )
    return _strung(marks, side, flat, outline_of_leg(body, side, rows), far=far)


def _flat_leg(marks: LowerLandmarks, side: int) -> _FlatLeg:
    """Rows of the garment; on the body a hem lies square to the leg, however it slants on the flat garment."""
    crotch_row = marks.crotch[1]
    rise = np.linspace(marks.top - 6.0, crotch_row, RISE_ROWS, endpoint=False)
    ways = np.linspace(0.0, 1.0 + BEYOND_HEM / max(marks.leg_length, 1.0), LEG_ROWS)
    canvas_rows = np.arange(len(marks.left))
    curves = []
    for edge, hem in zip((marks.outer(side), marks.inseams[side]), marks.hems[side].ends, strict=True):
        rows = np.concatenate([rise, crotch_row + ways * (hem - crotch_row)])
        curves.append(np.stack([np.interp(rows, canvas_rows, edge), rows], axis=1))
    return _FlatLeg(rise, ways, curves[0], curves[1])


def _strung(marks: LowerLandmarks, side: int, flat: _FlatLeg, laid: LegOutline, *, far: bool) -> Ribbon:
    """The ribbon between the edges of the flat leg and those on the body."""
    below = np.concatenate([np.zeros(len(flat.rise)), ease(flat.ways * marks.leg_length / (0.12 * marks.height))])
    open_share = below * (1.0 - laid.touching) if far else below
    beyond = np.maximum(0.10 * open_share, UNDER_NEAR_LEG if far else 0.004)
    inset = np.zeros((len(below), 2))
    inset[:, 0] = side * SEAM_INSET * laid.touching if far else 0.0
    ribbon = string_ribbon(
        (flat.outer, flat.inner + inset),
        (laid.outer, laid.inner),
        columns=COLUMNS,
        overhang=(np.full(len(below), 0.10), beyond),
    )
    ribbon = _round_the_leg(ribbon, flat, marks.hems[side])
    # Above the crotch a leg is one half of the body, below it has two edges of its own.
    share = (np.asarray(ribbon.across) + 1.0) / 2.0
    across = side * (1.0 - share * (1.0 + below[:, None]))
    return Ribbon(ribbon.source, ribbon.target, across.astype(np.float32))


def _round_the_leg(ribbon: Ribbon, flat: _FlatLeg, hem: LegHem) -> Ribbon:
    """Rows that run round the leg: more and more towards the hem, which does so in the garment's picture by its own."""
    share = np.clip((np.asarray(ribbon.across) + 1.0) / 2.0, 0.0, 1.0)
    towards_hem = np.concatenate([np.zeros(len(flat.rise)), flat.ways])[:, None]
    source, target = ribbon.source.copy(), ribbon.target
    source[..., 1] += hem.lower_at(share) * towards_hem
    down = towards(np.gradient(target.mean(axis=1), axis=0))
    width = np.linalg.norm(target[:, -1] - target[:, 0], axis=1)
    lower = (HEM_DEPTH * width)[:, None] * _hem_laid(share) * towards_hem
    return Ribbon(source, np.asarray(target + lower[..., None] * down[:, None], np.float32), ribbon.across)


def _hem_laid(share: Reals) -> NDArray[np.float64]:
    """Course of a hem on the leg, lower in the middle: half an ellipse, whose ends turn up round the leg.

    Args:
        share: Way from one edge of the leg to the other, 0 to 1.
    """
    return np.asarray(np.sqrt(np.maximum(1.0 - (2.0 * share - 1.0) ** 2, 0.0)) - np.pi / 4.0, np.float64)
