"""In which order garments are put on: from the skin outwards."""

from __future__ import annotations

from collections.abc import Sequence

from engines.base import Category, Garment

OUTERWEAR = ("jacket", "coat", "cardigan", "blazer", "parka", "vest", "waistcoat", "hoodie")
"""Kinds that are worn over another top."""


def _layer(garment: Garment) -> int:
    """0 is next to the skin. An untucked top falls over the waistband, a tucked one goes under it."""
    kind = (garment.hints.kind or "").lower()
    if garment.category is Category.FULL_BODY:
        return 0
    if garment.category is Category.LOWER_BODY:
        return 2
    if garment.hints.garment_state == "open" or any(word in kind for word in OUTERWEAR):
        return 4
    return 1 if garment.hints.tuck_state == "tucked" else 3


def dressing_order(garments: Sequence[Garment]) -> list[Garment]:
    """Sort garments from the skin outwards; those of one layer keep the caller's order."""
    return sorted(garments, key=_layer)
