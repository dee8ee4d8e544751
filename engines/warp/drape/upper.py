"""From cloth to a drape on a body: each category by its own rules, and tops by those of this module."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engines.base import Category, Garment
from engines.garment.cloth import Cloth
from engines.garment.neckline import without_inner_back
from engines.garment.upper_landmarks import UpperLandmarks, find_upper_landmarks
from engines.hint_sense import sensible_hints
from engines.warp.body.model import BodyModel
from engines.warp.drape.behind import opened_for_neck, with_collar_back
from engines.warp.drape.full import drape_full
from engines.warp.drape.hang import FITTING, Sizing, sizing_of
from engines.warp.drape.lower import drape_lower, waistband_height
from engines.warp.drape.sleeves import draw_sleeves, torso_alone
from engines.warp.drape.torso import TorsoLoft, fit_garment
from engines.warp.hints import is_open, is_tucked
from engines.warp.ribbon import Drape, Piece, Ribbon, draw

UNDER_WAISTBAND, WELL_INSIDE = 0.04, 0.45
"""How far a tucked top goes on under the waistband of what is put on over it, torso lengths; and out to which offset,
over the width of the body there, since a wider top would show beside it."""

GAP_AT_NECK, GAP_AT_HEM = 0.16, 0.40
"""Half width of the opening over half width of the torso. Above 0.5 the cloth at the sides would fold over."""

GAP_POWER = 0.7
"""How fast the opening widens on its way down: below 1 it is wide early, as a coat hanging from the shoulders is."""

EDGE = 1.0
"""Width of the soft edge of the parted front, canvas pixels."""


def drape_garment(
    garment: Garment, cloth: Cloth, body: BodyModel, *, under_tucked_top: bool = False, tucked_into_next: bool = False
) -> Drape:
    """Measure a garment and lay it on the body.

    Args:
        garment: What was asked for.
        cloth: The garment lifted off its picture.
        body: The body.
        under_tucked_top: Whether a top put on before was tucked in, so that the waistband is open to view.
        tucked_into_next: Whether a lower garment is put on after it.

    Raises:
        EngineError: ``garment_not_recognised``, or ``pose_not_usable`` for a skirt on somebody who sits.
    """
    hints = sensible_hints(garment)
    kind, sizing = hints.kind, sizing_of(hints.fit, garment.category)
    if garment.category is Category.LOWER_BODY:
        return drape_lower(cloth, body, kind, under_tucked_top=under_tucked_top, sizing=sizing)
    if garment.category is Category.FULL_BODY:
        return drape_full(cloth, body, kind, sizing)
    return drape_upper(
        cloth,
        find_upper_landmarks(cloth),
        body,
        tucked=is_tucked(garment),
        waistband=waistband_height(body, open_waist=True) if tucked_into_next else None,
        opened=is_open(garment),
        sizing=sizing,
    )


def drape_upper(
    cloth: Cloth,
    marks: UpperLandmarks,
    body: BodyModel,
    *,
    tucked: bool = False,
    waistband: float | None = None,
    opened: bool = False,
    sizing: Sizing = FITTING,
) -> Drape:
    """Lay an upper-body garment on a person.

    Args:
        cloth: The garment.
        marks: Its landmarks, on the cloth's canvas.
        body: The body, in pixels of the working photo.
        tucked: End the garment at the waist line, as if it were tucked in.
        waistband: Height of the waistband of what is put on after it, torso lengths; without, the waist line is that
            in the photo.
        opened: Part the front, so that what is under it is seen.
        sizing: How much larger or smaller than fitting it is.

    Returns:
        Torso first, then the sleeves.
    """
    whole = cloth
    if not marks.shoulders.hood:
        cloth = without_inner_back(cloth, marks.back)
    loft = TorsoLoft(marks, body, fit_garment(marks, body, sizing))
    ribbon = loft.ribbon()
    front = torso_alone(cloth, marks)
    torso = drawn_open(ribbon, front, marks, body.shape) if opened else draw(ribbon, front, body.shape, "torso")
    if marks.shoulders.hood:
        torso = opened_for_neck(torso, ribbon, marks.back, body)
    elif not opened:
        torso = with_collar_back(torso, ribbon, whole, marks.back, body, half_width=sum(loft.fit.neck.values()) / 2)
    if tucked:
        torso = _cut_at_waist(torso, body, waistband)
    sleeves, ends = draw_sleeves(cloth, marks, body, loft)
    checks = {"garment_symmetry": marks.symmetry, "hem_height": loft.fit.hem_height, "open": float(opened)}
    return Drape((torso, *sleeves), checks | ends)


def _cut_at_waist(torso: Piece, body: BodyModel, waistband: float | None) -> Piece:
    """The torso without what lies below the waist line, with an edge one pixel soft."""
    line = body.waist.line(body.laterals)
    if waistband is not None:
        inside = np.abs(body.laterals) * body.shoulder_width < WELL_INSIDE * body.width(waistband)
        line = np.minimum(line, line - body.waist.height + waistband + UNDER_WAISTBAND * inside)
    above = np.clip((line - body.heights) * body.torso_length + 0.5, 0.0, 1.0).astype(np.float32)
    return replace(torso, colour=torso.colour * above[..., None], alpha=torso.alpha * above)


def drawn_open(ribbon: Ribbon, cloth: Cloth, marks: UpperLandmarks, shape: tuple[int, int]) -> Piece:
    """Draw a torso whose front is open.

    Beside the opening the cloth keeps its scale; towards the sides it turns away and is seen ever narrower.

    Args:
        ribbon: The torso as it lies closed.
        cloth: The torso's cloth.
        marks: Of the garment.
        shape: ``(height, width)`` of the working photo.

    Returns:
        The piece ``torso``, both halves in one.
    """
    columns = np.arange(cloth.alpha.shape[1], dtype=np.float32)
    halves = []
    for side in (-1, 1):
        own = np.clip(0.5 + side * (columns - marks.axis) / EDGE, 0.0, 1.0)
        half = Cloth(cloth.colour, (cloth.alpha * own).astype(np.float32))
        halves.append(draw(parted(ribbon, side), half, shape, "torso"))
    first, second = halves
    seen = 1.0 - first.alpha
    return replace(
        first,
        colour=(first.colour + second.colour * seen[..., None]).astype(np.float32),
        alpha=(first.alpha + second.alpha * seen).astype(np.float32),
        across=np.where(first.alpha >= second.alpha, first.across, second.across).astype(np.float32),
        mesh=ribbon.target,
    )


def parted(ribbon: Ribbon, side: int) -> Ribbon:
    """One half of a torso moved off the axis.

    Args:
        ribbon: Of the whole torso; ``across`` runs from -1 to 1.
        side: -1 for the half at the left of the picture, 1 for that at the right.

    Returns:
        A ribbon of the same rows and of the columns of that half, whose outer edge stays where it was.
    """
    rows, columns = ribbon.source.shape[:2]
    across = np.broadcast_to(ribbon.across, (rows, columns))
    down = np.linspace(0.0, 1.0, rows, dtype=np.float32)[:, None] ** GAP_POWER
    gap = GAP_AT_NECK + (GAP_AT_HEM - GAP_AT_NECK) * down
    share = side * across
    moved = gap + share - gap * np.clip(share, 0.0, 1.0) ** 2
    # Where along its own row a point of the moved half was before; what hangs over the outer edge stays.
    target = np.stack(
        [
            np.stack([np.interp(side * moved[row], across[row], ribbon.target[row, :, k]) for k in range(2)], axis=1)
            for row in range(rows)
        ]
    )
    target = np.where(share[..., None] < 1.0, target, ribbon.target)
    # One column beyond the axis, so that the cloth's own edge ends the half and not the grid.
    own = slice(columns // 2 - 1, None) if side > 0 else slice(None, columns // 2 + 2)
    return Ribbon(ribbon.source[:, own], target[:, own].astype(np.float32), across[:, own].astype(np.float32))
