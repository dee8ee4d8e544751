"""Draping dresses and jumpsuits.

A dress is an upper-body garment that goes over into hanging cloth below the waist; a jumpsuit goes over into
trouser legs.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.garment.cloth import Cloth
from engines.garment.dress_landmarks import DressLandmarks, find_dress_landmarks
from engines.garment.lower_landmarks import find_lower_landmarks
from engines.garment.neckline import without_inner_back
from engines.garment_kinds import GarmentKind
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.drape.behind import behind_arms, with_collar_back
from engines.warp.drape.hang import FITTING, HangingRows, Sizing, drop_to, falling, hanging_rows, refuse_lap, sized
from engines.warp.drape.lower import WAIST_EASE, draw_legs
from engines.warp.drape.sleeves import draw_sleeves, torso_alone
from engines.warp.drape.torso import Fit, TorsoLoft, fit_garment, is_strap
from engines.warp.ribbon import Drape, Piece, Reals, Ribbon, draw, forced_monotone

NATURAL_WAIST = 0.62
"""Where the waist of a garment that has one is laid, in torso lengths below the shoulders."""

ARMPIT_RANGE = (0.22, 0.36)
"""Believable heights for the armpit of a garment without a waist."""

WAIST_STRETCH = (0.85, 1.25)
"""How much shorter or longer than its natural proportion the part above the waist may become."""

HANGS_FROM, HANGS_FREELY = 0.62, 1.0
"""Heights between which the cloth leaves the torso's map and hangs."""

LONGEST, SHORTEST = 0.93, 0.62
"""Hem at most, as a share of the way from shoulders to ankles; at least, as a share of that to the knees."""

GRID_ROWS, GRID_COLUMNS = 84, 33
OVERHANG = 1.07
"""How far the grid reaches across, in half widths of the garment, so that its own soft alpha ends the cloth."""

SEAM_OVERLAP = 4
"""Canvas pixels by which torso and sleeves overlap."""


def drape_full(cloth: Cloth, body: BodyModel, kind: GarmentKind | None = None, sizing: Sizing = FITTING) -> Drape:
    """Lay a full-body garment on a person.

    Args:
        cloth: The garment, cut out.
        body: The body, in pixels of the working photo.
        kind: As the caller named it; decides between dress and jumpsuit where it is known to be one.
        sizing: How much larger or smaller than fitting it is.

    Returns:
        Legs of a jumpsuit, then torso and skirt in one piece, then the sleeves.

    Raises:
        EngineError: ``garment_not_recognised`` when the silhouette is not that of such a garment, ``pose_not_usable``
            for a dress on somebody who sits.
    """
    marks = find_dress_landmarks(cloth, kind)
    if marks.crotch is None:
        refuse_lap(body)
    upper = marks.upper
    fit = _fit(marks, body, sizing)
    loft = TorsoLoft(upper, body, fit)
    fabric = without_inner_back(cloth, upper.back)
    checks = {
        "garment_symmetry": upper.symmetry,
        "legs": float(marks.crotch is not None),
    }
    torso = torso_alone(fabric, upper)
    if marks.crotch is None:
        drops = _drops(marks, body, fit, sizing.length)
        checks["hem_height"] = float(np.interp(marks.bottom, np.arange(len(drops)), drops)) / body.torso_length
        pieces = [draw(_lay_dress(marks, body, loft, drops), torso, body.shape, "torso")]
    else:
        pieces = _jumpsuit(marks, body, loft, torso, sizing)
    if not is_strap(upper):
        half_width = sum(fit.neck.values()) / 2
        pieces[-1] = with_collar_back(pieces[-1], loft.ribbon(), cloth, upper.back, body, half_width=half_width)
    sleeves, ends = draw_sleeves(fabric, upper, body, loft)
    return Drape(behind_arms((*pieces, *sleeves), body), checks | ends)


def _fit(marks: DressLandmarks, body: BodyModel, sizing: Sizing) -> Fit:
    """The fit of the upper part: sized like a top, its waist or its armpits laid where the body has them."""
    fit = fit_garment(marks.upper, body, Sizing(sizing.girth))
    natural = fit.scale
    if marks.waist is not None:
        wanted = (NATURAL_WAIST * body.torso_length - fit.origin_drop) / max(marks.waist - fit.origin, 1.0)
    else:
        rows = max(marks.upper.armpits.row - fit.origin, 1.0)
        height = np.clip((fit.origin_drop + rows * natural) / body.torso_length, *ARMPIT_RANGE)
        wanted = (float(height) * body.torso_length - fit.origin_drop) / rows
    stretch = float(np.clip(wanted / natural, *WAIST_STRETCH))
    return replace(fit, scale_down=natural * stretch)


def _drops(marks: DressLandmarks, body: BodyModel, fit: Fit, longer: float = 1.0) -> NDArray[np.float64]:
    """Pixels below the mid-shoulder for every canvas row: as fitted above the waist, at its own scale below.

    Garments that would reach the floor end above the ankles, very short ones are lengthened; ``longer`` is what the
    size adds.
    """
    rows = np.arange(len(marks.left), dtype=np.float64)
    upper = fit.origin_drop + (rows - fit.origin) * fit.scale_down
    waist_row = marks.waist or marks.upper.armpits.row + 0.35 * body.torso_length / fit.scale
    waist = fit.origin_drop + (waist_row - fit.origin) * fit.scale_down
    length = max((marks.bottom - waist_row) * fit.scale, 1.0)
    most = LONGEST * drop_to(body, 0.0, "ankle") - waist
    least = SHORTEST * drop_to(body, 0.0, "knee") - waist
    wanted = float(np.clip(length * longer, max(least, 1.0), max(most, 1.0)))
    along = fit.scale * wanted / length
    return np.where(rows < waist_row, upper, waist + (rows - waist_row) * along)


def _lay_dress(marks: DressLandmarks, body: BodyModel, loft: TorsoLoft, drops: Reals) -> Ribbon:
    """One grid from the collar to the hem: the torso's map above the waist, hanging rows below the hips."""
    rows = np.linspace(marks.upper.frame.top - 6.0, marks.bottom + 8.0, GRID_ROWS)
    across = np.linspace(-OVERHANG, OVERHANG, GRID_COLUMNS)
    source = loft.grid(rows, across)
    drop = np.interp(rows, np.arange(len(drops)), drops)
    hanging = hanging_rows(body, 0.0, np.maximum(drop, 0.0))
    reach = {side: _hanging_reach(marks, body, side, fit=loft.fit, hanging=hanging, rows=rows) for side in SIDES}
    offset = np.where(across[None] < 0, reach[-1][:, None], reach[1][:, None]) * across[None]
    free = hanging.centres[:, None] + offset[..., None] * body.skeleton.right
    share = ease((drop / body.torso_length - HANGS_FROM) / (HANGS_FREELY - HANGS_FROM))[:, None, None]
    target = loft.place(source) * (1.0 - share) + free * share
    return Ribbon(source.astype(np.float32), forced_monotone(target), across.astype(np.float32))


def _hanging_reach(
    marks: DressLandmarks, body: BodyModel, side: int, *, fit: Fit, hanging: HangingRows, rows: Reals
) -> NDArray[np.float64]:
    """Half width per row of the cloth below the waist, on one side."""
    half = marks.upper.half_widths[0 if side < 0 else 1]
    natural = np.interp(rows, np.arange(len(half)), half) * fit.scale
    extent = hanging.extents[side]
    fitting = hanging.half_width(natural, float(body.half_width(1.0, side)), side)
    free = sized(fitting, fit.girth, extent, 1.0)
    below = hanging.distances >= NATURAL_WAIST * body.torso_length
    free[below] = falling(free[below], natural[below])
    return np.asarray(ndimage.gaussian_filter1d(free, 2.0, mode="nearest"), dtype=np.float64)


def _jumpsuit(marks: DressLandmarks, body: BodyModel, loft: TorsoLoft, torso: Cloth, sizing: Sizing) -> list[Piece]:
    """Both legs from the waist down, and the torso over them."""
    fit = loft.fit
    waist_row = int(marks.waist or fit.origin + (NATURAL_WAIST * body.torso_length - fit.origin_drop) / fit.scale_down)
    rows = np.arange(torso.alpha.shape[0])[:, None]
    trousers = replace(torso, alpha=torso.alpha * (rows >= waist_row))
    lower = find_lower_landmarks(trousers, GarmentKind.TROUSERS)
    laid = loft.place(np.array([marks.upper.axis, float(waist_row)]))
    waist = float((laid - body.skeleton.shoulders) @ body.skeleton.down) / body.torso_length
    scale = WAIST_EASE * body.width(waist) / max(lower.waist_width, 1.0)
    pieces, _ = draw_legs(trousers, lower, body, waistband=waist, scale=scale, sizing=sizing)
    seam = np.clip((waist_row + SEAM_OVERLAP - rows) / 2.0, 0.0, 1.0)
    top = replace(torso, alpha=(torso.alpha * seam).astype(np.float32))
    grid_rows = np.linspace(marks.upper.frame.top - 6.0, waist_row + 8.0, GRID_ROWS // 2)
    across = np.linspace(-OVERHANG, OVERHANG, GRID_COLUMNS)
    return [*pieces, draw(loft.strung(loft.grid(grid_rows, across), across), top, body.shape, "torso")]
