"""Which of a caller's hints make sense for a garment, whatever engine draws it, and where each of them ends up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from engines.base import Category, Garment, Hints
from engines.sizes import NOT_ONE_SYSTEM

Refusal: TypeAlias = Callable[[Garment, str], str | None]
"""Why an engine does not follow a hint that makes sense, by the hint's name; None where it does."""

HINT_NAMES = ("kind", "size", "customer_size", "garment_state", "tuck_state", "view_angle", "back_picture")
"""Names of hints on a job's report; the back picture is one of them, since it may be of no use."""

_ELSEWHERE = " It was followed for another garment."


def given_hints(garment: Garment) -> list[str]:
    """Names of the hints that the caller gave."""
    hints = garment.hints
    given = {
        "kind": hints.kind is not None or hints.kind_text is not None,
        "size": hints.size is not None,
        "customer_size": hints.customer_size is not None,
        "garment_state": hints.garment_state is not None,
        "tuck_state": hints.tuck_state is not None,
        "view_angle": hints.view_angle is not None,
        "back_picture": garment.back_picture is not None,
    }
    return [name for name in HINT_NAMES if given[name]]


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
    return pointless | _pointless_sizes(hints)


def _pointless_sizes(hints: Hints) -> dict[str, str]:
    sizes = {"size": hints.size, "customer_size": hints.customer_size}
    given = [name for name, text in sizes.items() if text is not None]
    if len(given) == 1:
        return {given[0]: "size and customerSize say something only together."}
    return {} if hints.fit else dict.fromkeys(given, f"{NOT_ONE_SYSTEM}.")


def sensible_hints(garment: Garment) -> Hints:
    """The hints without those that make no sense for the garment: what an engine goes by."""
    names = pointless_hints(garment)
    return replace(garment.hints, **{name: None for name in names if name != "back_picture"})


def settle(garments: Sequence[Garment], refusal: Refusal) -> tuple[list[str], dict[str, str]]:
    """Sort the hints that were given into applied and not applied; each is in exactly one of the two.

    A hint given for several garments counts as applied only when it was for all of them.

    Args:
        garments: What was put on.
        refusal: What the engine says about hints that make sense.

    Returns:
        Names of applied hints, and name to reason for the others.
    """
    applied: dict[str, None] = {}
    refused: dict[str, str] = {}
    for garment in garments:
        pointless = pointless_hints(garment)
        for name in given_hints(garment):
            reason = pointless.get(name) or refusal(garment, name)
            if reason is None:
                applied[name] = None
            else:
                refused.setdefault(name, reason)
    explained = {name: reason + _ELSEWHERE if name in applied else reason for name, reason in refused.items()}
    return [name for name in applied if name not in refused], explained
