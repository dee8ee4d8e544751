"""Draping trousers, shorts and skirts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.garment.cloth import Cloth
from engines.garment.lower_landmarks import LowerLandmarks, LowerShape, find_lower_landmarks
from engines.garment_kinds import GarmentKind
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.drape.behind import behind_top, half_behind_arm
from engines.warp.drape.hang import drop_to, falling, hanging_rows, refuse_lap
from engines.warp.drape.legs import draw_legs
from engines.warp.ribbon import Drape, Ribbon, draw, string_ribbon
from engines.warp.sizing import FITTING, Sizing, sized

HIDDEN_WAISTBAND = 0.80
"""Height of a waistband under a top worn over it, in torso lengths."""

BELIEVABLE_WAISTBAND = (0.60, 0.92)
"""Range of heights for a waistband that is open to view."""

WIDEST_HIDDEN_WAIST = 0.80
"""Width of a waist under a loose top at most, in shoulder widths."""

WAIST_EASE = 1.03
"""Width of the waistband over that of the body there."""

LONGEST_SKIRT = 0.97
"""Largest length of a skirt as a share of the way to the ankles."""

SKIRT_ROWS = 64


def drape_lower(
    cloth: Cloth,
    body: BodyModel,
    kind: GarmentKind | None = None,
    *,
    under_tucked_top: bool = False,
    sizing: Sizing = FITTING,
) -> Drape:
    """Lay a lower-body garment on a person.

    Args:
        cloth: The garment, cut out.
        body: The body, in pixels of the working photo.
        kind: As the caller named it; decides between legs and skirt where it says.
        under_tucked_top: Shows the waistband, as a top put on before was tucked in; otherwise as in the photo.
        sizing: How much larger or smaller than fitting it is.

    Returns:
        The far leg first, or the skirt alone.

    Raises:
        EngineError: ``garment_not_recognised`` when there is too little cloth to measure, ``pose_not_usable`` for a
            skirt on somebody who sits.
    """
    marks = find_lower_landmarks(cloth, kind)
    open_waist = under_tucked_top or body.waist.tucked
    waistband = waistband_height(body, open_waist)
    rise = rise_height(marks, body, waistband)
    if open_waist and not under_tucked_top and waistband > HIDDEN_WAISTBAND and rise < waistband - 0.05:
        # A high-rise garment under a cropped top: its waistband is higher than the top's hem.
        open_waist, waistband = False, float(np.clip(rise, BELIEVABLE_WAISTBAND[0], HIDDEN_WAISTBAND))
    scale = WAIST_EASE * waist_under(body, waistband, open_waist=open_waist) / max(marks.waist_width, 1.0)
    legs = marks.shape is LowerShape.LEGS
    checks = {"waistband_height": waistband, "scale": scale, "legs": float(legs)}
    if not legs:
        refuse_lap(body)
        skirt = draw(_lay_skirt(marks, body, waistband, scale, sizing), cloth, body.shape, "skirt")
        return Drape((behind_top(skirt, body, waistband_open=open_waist),), checks)
    pieces, end = draw_legs(cloth, marks, body, waistband=waistband, scale=scale, sizing=sizing, hanging=True)
    hidden = tuple(behind_top(piece, body, waistband_open=open_waist) for piece in pieces)
    return Drape(hidden, {**checks, "leg_end": end})


def waistband_height(body: BodyModel, open_waist: bool) -> float:
    """Where the waistband sits, in torso lengths below the shoulders."""
    # A little above the line that was seen, so that no rim of the old waistband is left.
    at = body.waist.height - 0.02 if open_waist and body.waist.tucked else HIDDEN_WAISTBAND
    return float(np.clip(at, *BELIEVABLE_WAISTBAND))


def waist_under(body: BodyModel, waistband: float, *, open_waist: bool) -> float:
    """Width of the body at the waistband in pixels; under a loose top what is measured is the top's width."""
    measured = sum(float(half_behind_arm(body, np.full(1, waistband), side)[0]) for side in SIDES)
    return measured if open_waist else min(measured, WIDEST_HIDDEN_WAIST * body.shoulder_width)


def rise_height(marks: LowerLandmarks, body: BodyModel, waistband: float) -> float:
    """Where the waistband would sit for the garment's crotch to lie at the body's; ``waistband`` for a skirt."""
    if marks.shape is not LowerShape.LEGS:
        return waistband
    scale = WAIST_EASE * body.width(waistband) / max(marks.waist_width, 1.0)
    return body.crotch_height - (marks.crotch[1] - marks.top) * scale / body.torso_length


def _lay_skirt(marks: LowerLandmarks, body: BodyModel, waistband: float, scale: float, sizing: Sizing) -> Ribbon:
    """One ribbon from the waistband to the hem."""
    length = min(marks.height * scale * sizing.length, LONGEST_SKIRT * drop_to(body, waistband, "ankle"))
    rows = np.linspace(marks.top - 6.0, marks.bottom + 8.0, SKIRT_ROWS)
    canvas_rows = np.arange(len(marks.left))
    left, right = (np.interp(rows, canvas_rows, edge) for edge in (marks.left, marks.right))
    # Half way between the garment's own middle in each row and the middle of the waistband.
    centre = 0.5 * (left + right) / 2.0 + 0.5 * marks.axis
    hanging = hanging_rows(body, waistband, (rows - marks.top) / marks.height * length)
    targets: dict[int, NDArray[np.float64]] = {}
    for side, edge in ((-1, left), (1, right)):
        natural = (edge - centre) * side * scale
        extent = hanging.extents[side]
        hanging_half = hanging.half_width(natural, float(body.half_width(1.0, side)), side)
        snug = np.clip(natural, 1.02 * extent, 1.12 * extent + 0.02 * body.shoulder_width)
        half = np.where(hanging.distances < 0.5 * hanging.hips_at, snug, hanging_half)
        half = sized(half, sizing.girth, extent, ease(hanging.distances / hanging.hips_at))
        half = ndimage.gaussian_filter1d(falling(half, natural), 2.0, mode="nearest")
        targets[side] = hanging.centres + side * half[:, None] * body.skeleton.right
    return string_ribbon(
        (np.stack([left, rows], axis=1), np.stack([right, rows], axis=1)),
        (targets[-1], targets[1]),
        columns=13,
        overhang=(0.06, 0.06),
    )
