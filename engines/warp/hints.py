"""Which of the caller's wishes this engine follows, and what it says about the others."""

from __future__ import annotations

from collections.abc import Sequence

from engines.base import Category, Garment, Picture
from engines.garment.dress_landmarks import DRESS_KINDS, JUMPSUIT_KINDS
from engines.garment.lower_landmarks import SHAPES
from engines.hint_sense import sensible_hints, settle
from engines.warp.about import HONOURED

DECISIVE_KINDS = {
    Category.UPPER_BODY: frozenset[str](),
    Category.LOWER_BODY: frozenset(SHAPES),
    Category.FULL_BODY: JUMPSUIT_KINDS | DRESS_KINDS,
}
"""Kinds that settle how a garment is laid on the body, by the part of the body."""

_REASONS = {
    "garment_state": "Tops alone are drawn open; all else is open or closed as in its picture.",
    "view_angle": "The person is shown from the side that the photo shows.",
}


def photo_to_lay(garment: Garment) -> Picture:
    """The photo of the side that is to be seen: the back's where the caller asked for it and sent one."""
    if garment.back_picture is not None and sensible_hints(garment).view_angle == "back":
        return garment.back_picture
    return garment.picture


def is_tucked(garment: Garment) -> bool:
    """Whether a top is to be tucked in."""
    return sensible_hints(garment).tuck_state == "tucked"


def is_open(garment: Garment) -> bool:
    """Whether a top is to be worn open, over what the person wears."""
    return garment.category is Category.UPPER_BODY and sensible_hints(garment).garment_state == "open"


def settle_hints(garments: Sequence[Garment]) -> tuple[list[str], dict[str, str]]:
    """Sort the given hints into applied and not applied, as `engines.hint_sense.settle` does."""
    return settle(garments, _refusal, HONOURED)


def _refusal(garment: Garment, name: str) -> str | None:
    if name == "view_angle" and garment.hints.view_angle in ("front", "back"):
        return None
    if name == "garment_state" and is_open(garment):
        return None
    if name != "kind":
        return _REASONS.get(name)
    kind = garment.hints.kind
    if kind is None:
        return "This name for a garment is not known; its form is read from its picture."
    if kind not in DECISIVE_KINDS[garment.category]:
        return "The form of this garment is read from its picture; its name only decides the order of dressing."
    return None
