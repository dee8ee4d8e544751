"""Which hints make sense for a garment in every engine, what became of each, and the order of dressing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from enum import IntEnum
from itertools import chain
from typing import Any, TypeAlias

from engines.base import Category, Garment, Hints
from engines.garment_kinds import Layer
from engines.hints import HINT_NAMES
from engines.sizes import NOT_ONE_SYSTEM

Refusal: TypeAlias = Callable[[Garment, str], str | None]
"""Why an engine does not follow a hint that makes sense, by the hint's name; None where it does."""

TOGETHER = (("garment_state",), ("view_angle", "back_picture"), ("tuck_state",), ("size", "customer_size"), ("kind",))
LEFT_OUT_TOGETHER = (*TOGETHER, *((name,) for name in HINT_NAMES if name not in {*chain(*TOGETHER)}))
"""Hints that mean something only together; the most demanding ones come first."""

_LEFT_OUT = "No usable picture came out with it, so the garment is drawn as without it."
_NOT_FOLLOWED = "This engine draws the same with and without it."
_ELSEWHERE = " It was followed for another garment."


def given_hints(garment: Garment) -> list[str]:
    """Names of the hints that the caller gave."""
    hints = garment.hints
    said = {**dict(hints), "kind": hints.kind or hints.garment_category, "back_picture": garment.back_picture}
    return [name for name in HINT_NAMES if said[name] is not None]


def pointless_hints(garment: Garment) -> dict[str, str]:
    """Hints that no engine can follow, with the reason."""
    hints, category, kind = garment.hints, garment.category, garment.hints.kind
    name = str(kind or category.replace("_", " "))
    pointless: dict[str, str] = {}
    if hints.tuck_state and not (category is Category.UPPER_BODY and (kind is None or kind.can_be_tucked)):
        pointless["tuck_state"] = f"Tucking makes no sense for this garment ({name})."
    if hints.garment_state and (category is Category.LOWER_BODY or not (kind is None or kind.can_be_open)):
        pointless["garment_state"] = f"Open or closed makes no sense for this garment ({name})."
    if hints.view_angle == "back" and garment.back_picture is None:
        pointless["view_angle"] = "No photo of the back was sent; the front photo serves."
    if hints.view_angle != "back" and garment.back_picture is not None:
        pointless["back_picture"] = "The photo of the back is used only where viewAngle is back."
    return dict.fromkeys(hints.left_out, _LEFT_OUT) | pointless | _pointless_sizes(hints)


def _pointless_sizes(hints: Hints) -> dict[str, str]:
    sizes = {"size": hints.size, "customer_size": hints.customer_size}
    given = [name for name, text in sizes.items() if text is not None]
    if len(given) == 1:
        return {given[0]: "size and customerSize say something only together."}
    return {} if hints.fit else dict.fromkeys(given, f"{NOT_ONE_SYSTEM}.")


def sensible_hints(garment: Garment) -> Hints:
    """The hints that an engine follows: without those that make no sense for the garment."""
    none: dict[str, Any] = dict.fromkeys(pointless_hints(garment).keys() - {"back_picture"})
    if "size" in none:
        none["fit"] = None
    return garment.hints.model_copy(update=none)


def with_fewer_hints(
    garments: Sequence[Garment], honoured: frozenset[str], blamed: object
) -> Iterator[Sequence[Garment]]:
    """The garments to draw instead, if the hints of a request made the drawing fail.

    Args:
        garments: Of the request.
        honoured: Names of the hints that the engine follows; the others change no picture.
        blamed: The garment that was not recognised, where one was not: one of its hints is looked for.

    Yields:
        The garments without any hint; then, where there are several, without one of them at a time.
    """
    wishes = [
        (garment, found)
        for garment in garments
        for together in LEFT_OUT_TOGETHER
        if (found := frozenset(together) & honoured & {*given_hints(garment)} - pointless_hints(garment).keys())
    ]
    if wishes:
        yield [_leaving_out(garment, wishes) for garment in garments]
    if len(wishes) > 1:
        for wish in wishes:
            if blamed is None or wish[0] is blamed:
                yield [_leaving_out(garment, [wish]) for garment in garments]


def _leaving_out(garment: Garment, wishes: Sequence[tuple[Garment, frozenset[str]]]) -> Garment:
    names = frozenset[str]().union(*(names for asked, names in wishes if asked is garment))
    return replace(garment, hints=garment.hints.model_copy(update={"left_out": names})) if names else garment


def settle(
    garments: Sequence[Garment], refusal: Refusal, honoured: frozenset[str] = frozenset(HINT_NAMES)
) -> tuple[list[str], dict[str, str]]:
    """Sort the hints that were given into applied and not applied; each is in exactly one of the two.

    A hint given for several garments counts as applied only when it was for all of them.

    Args:
        garments: What was put on.
        refusal: What the engine says about hints that make sense.
        honoured: Names of the hints that the engine follows.

    Returns:
        Names of applied hints, and name to reason for the others.
    """
    applied: dict[str, None] = {}
    refused: dict[str, str] = {}
    for garment in garments:
        pointless = pointless_hints(garment)
        for name in given_hints(garment):
            reason = pointless.get(name) or refusal(garment, name)
            if reason is None and name not in honoured:
                reason = _NOT_FOLLOWED
            if reason is None:
                applied[name] = None
            else:
                refused.setdefault(name, reason)
    explained = {name: reason + _ELSEWHERE if name in applied else reason for name, reason in refused.items()}
    return [name for name in applied if name not in refused], explained


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
