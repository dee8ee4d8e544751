"""Which of the caller's wishes this engine follows, and what it says about the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from engines.base import Category, Garment, Hints

HONOURED = frozenset({"kind", "tuck_state"})
"""Names of the hints that can change a picture."""

_REASONS = {
    "kind": "The form of a top is read from its picture.",
    "size": "Sizes do not change the fit in this engine.",
    "customer_size": "Sizes do not change the fit in this engine.",
    "garment_state": "The garment is shown open or closed as in its picture.",
    "tuck_state": "A garment for the whole body cannot be tucked in.",
    "view_angle": "The person is shown from the side that the photo shows.",
}


def is_tucked(hints: Hints) -> bool:
    """Whether a top is to be tucked in."""
    return (hints.tuck_state or "").strip().lower() == "tucked"


def settle_hints(garments: Sequence[Garment]) -> tuple[list[str], dict[str, str]]:
    """Sort the given hints into applied and not applied; each is in exactly one of the two.

    A hint given for several garments counts as applied only when it was for all of them.

    Returns:
        Names of applied hints, and name to reason for the others.
    """
    applied: list[str] = []
    refused: dict[str, str] = {}
    for garment in garments:
        for name, value in asdict(garment.hints).items():
            if value is None:
                continue
            if not _follows(name, garment.category):
                refused[name] = _REASONS[name]
            elif name not in applied:
                applied.append(name)
    return [name for name in applied if name not in refused], refused


def _follows(name: str, category: Category) -> bool:
    if name == "kind":
        return category is not Category.UPPER_BODY
    return name == "tuck_state" and category is not Category.FULL_BODY
