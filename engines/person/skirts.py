"""Skirts: cloth between the legs and beside them, whatever its colours."""

from __future__ import annotations

import numpy as np

from engines.person.colour_models import Region
from engines.person.evidence import Evidence
from engines.person.extents import Extents

_HIP, _SURE = 1.1, 0.05
"""Height below which there is surely a bottom, unless the waist is found further down, and how far below that it is
sure; shoulders 0, hips 1."""

_OFF_LEG, _OFF_ARM = 1.25, 2.0
"""Distances on `engines.person.body.Limb.offset` beyond which nothing belongs to a leg or an arm."""

_THIGH, _KNEE, _ANKLE = 0.15, 0.9, 2.0
"""Places on `engines.person.body.Limb.position`, between the first two of which a skirt is looked for."""

_LEAST = 0.05
"""How much cloth beside the legs, over what lies on the thighs, makes a skirt."""

_SECTIONS, _NARROW = 16, 0.3
"""In how many sections from joint to joint its outline is measured, and the share of its usual width below which a
section shows none."""


def on_thighs(seen: Evidence, waist: float | None) -> Region:
    """``(height, width)`` bool: what lies on the thighs, skin or cloth.

    Args:
        seen: The photo.
        waist: Where top and bottom meet, shoulders 0, hips 1.
    """
    body, leg = seen.body, seen.body.leg
    return _below(seen, waist) & (leg.offset < 0.8) & (leg.position < 0.7) & (body.arm.offset > 1.0)


def skirt_beside_legs(seen: Evidence, waist: float | None) -> Region:
    """``(height, width)`` bool: between the thighs and beside them, where no leg is; none where too little hangs there.

    It is cloth even in the colour of skin.
    """
    skirt = _beside_legs(seen, waist) & (seen.body.leg.position < _KNEE)
    return skirt if _is_enough(skirt, seen, waist) else np.zeros_like(skirt)


def skirt_hem(seen: Evidence, waist: float | None) -> float | None:
    """Where the outline of a skirt ends, on `engines.person.body.Limb.position`; nothing where there is none."""
    position, beside = seen.body.leg.position, _beside_legs(seen, waist)
    if not _is_enough(beside & (position < _KNEE), seen, waist):
        return None
    beside &= position < _ANKLE
    widths = np.bincount((position[beside] * _SECTIONS).astype(np.intp), minlength=int(_ANKLE * _SECTIONS))
    shown = np.flatnonzero(widths > _NARROW * np.median(widths[widths > 0]))
    return float(shown[-1] + 1) / _SECTIONS


def closed_between_legs(seen: Evidence, extents: Extents) -> bool:
    """Whether cloth fills the place between the thighs, as a skirt or a dress does."""
    knees = seen.body.knees
    hem = min(max(extents.hems), 1.0)
    line = [seen.body.hips + share * (knees - seen.body.hips) for share in np.linspace(0.35, max(hem - 0.1, 0.4), 12)]
    height, width = seen.inside.shape
    hits = [seen.inside[int(y), int(x)] for x, y in line if 0 <= int(y) < height and 0 <= int(x) < width]
    return len(hits) >= 3 and float(np.mean(hits)) > 0.8


def _below(seen: Evidence, waist: float | None) -> Region:
    """``(height, width)`` bool: where there is surely no top."""
    hip = _HIP if waist is None else max(_HIP, waist + _SURE)
    return np.asarray(seen.inside & (seen.body.leg.position > _THIGH) & (seen.body.height > hip), dtype=np.bool_)


def _beside_legs(seen: Evidence, waist: float | None) -> Region:
    off_limbs = (seen.body.leg.offset > _OFF_LEG) & (seen.body.arm.offset > _OFF_ARM)
    return np.asarray(_below(seen, waist) & off_limbs & (seen.likely > 0.5), dtype=np.bool_)


def _is_enough(skirt: Region, seen: Evidence, waist: float | None) -> bool:
    """Whether so much hangs beside the legs that it is a skirt."""
    return bool(skirt.sum() > _LEAST * on_thighs(seen, waist).sum())
