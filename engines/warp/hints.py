"""Which of the caller's wishes this engine follows, and what it says about the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from engines.base import Category, Garment

HONOURED = frozenset({"tuck_state"})
"""Names of the hints that can change a picture."""

_REASONS = {
    "kind": "The garment's form is read from its picture.",
    "size": "Sizes do not change the fit in this engine.",
    "customer_size": "Sizes do not change the fit in this engine.",
    "garment_state": "The garment is shown open or closed as in its picture.",
    "view_angle": "The person is shown from the side that the photo shows.",
}


def wears_tucked(garment: Garment) -> bool:
    """Whether the garment is a top that is to be tucked in."""
    return garment.category is Category.UPPER_BODY and garment.hints.tuck_state == "tucked"


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
            reason = _reason_against(name, garment)
            if reason is not None:
                refused[name] = reason
            elif name not in applied:
                applied.append(name)
    return [name for name in applied if name not in refused], refused


def _reason_against(name: str, garment: Garment) -> str | None:
    if name != "tuck_state":
        return _REASONS[name]
    if garment.category is not Category.UPPER_BODY:
        return "Only garments for the upper body can be tucked in."
    return None
