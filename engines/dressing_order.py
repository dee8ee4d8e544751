"""In which order garments are put on: from the skin outwards."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from engines.base import Category, Garment
from engines.garment_kinds import Layer
from engines.hint_sense import sensible_hints


class _Turn(IntEnum):
    """An untucked top falls over the waistband, a tucked one goes under it; outerwear goes over everything."""

    WHOLE = 0
    TUCKED_TOP = 1
    BOTTOMS = 2
    TOP = 3
    OUTERWEAR = 4


def _place(garment: Garment) -> tuple[_Turn, Layer]:
    hints = sensible_hints(garment)
    layer = hints.kind.layer if hints.kind else Layer.INNER
    if garment.category is Category.LOWER_BODY:
        turn = _Turn.BOTTOMS
    elif layer is Layer.OUTER or (garment.category is Category.UPPER_BODY and hints.garment_state == "open"):
        turn = _Turn.OUTERWEAR
    elif garment.category is Category.FULL_BODY:
        turn = _Turn.WHOLE
    else:
        turn = _Turn.TUCKED_TOP if hints.tuck_state == "tucked" else _Turn.TOP
    return turn, layer


def dressing_order(garments: Sequence[Garment]) -> list[Garment]:
    """Sort garments from the skin outwards; those of one layer keep the caller's order."""
    return sorted(garments, key=_place)
