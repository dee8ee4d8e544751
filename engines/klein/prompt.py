"""The words of the network's prompt. All of them stand in this file; a caller's own words never enter a prompt.

Image 1 is the person; the garments follow in the order of dressing, each with its back right behind it where there
is a photo of that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engines.base import Category, Garment, Hints
from engines.garment_kinds import GarmentKind
from engines.generative.painter import Reference
from engines.hint_sense import sensible_hints
from engines.klein.about import MAX_GARMENTS
from engines.sizes import Fit

CLOSE_TO_FITTING, FAR_FROM_FITTING = 0.5, 1.5
"""Differences in size: below the first the picture shows nothing, from the second on it shows a lot."""

_NOUNS = {
    Category.UPPER_BODY: "top",
    Category.LOWER_BODY: "garment for the legs",
    Category.FULL_BODY: "garment for the whole body",
}
_ELSEWHERE = {
    Category.UPPER_BODY: "worn on the upper body",
    Category.LOWER_BODY: "worn below the waist",
    Category.FULL_BODY: "worn on the whole body",
}
_STATES = {"open": "open in front over what is beneath it", "closed": "closed in front"}
_TUCKS = {"tucked": "its hem tucked into the waistband", "untucked": "its hem hanging over the waistband"}
_VIEWS = {
    "front": "seen from the front",
    "left": "seen from the left side",
    "right": "seen from the right side",
    "back": "seen from behind",
}
_TIGHTNESS = ("very tight", "tight", "fitting as it is meant to", "loose", "very loose")
_LENGTHS = {-1: "short in length", 1: "long in length"}

_GONE = {
    frozenset({Category.UPPER_BODY}): "The old top of image 1 is gone, sleeves and collar included; all other clothes "
    "stay.",
    frozenset({Category.LOWER_BODY}): "The old clothes below the waist of image 1 are gone, whatever their length; "
    "all other clothes stay.",
    frozenset({Category.UPPER_BODY, Category.LOWER_BODY}): "The old clothes of image 1 are gone; the shoes stay.",
    frozenset[Category](): "All clothes of image 1 stay.",
}

_PERSON = "The person of image 1, with exactly the same face, hair, body, pose and hands, wearing {garments}."
_GARMENT = "the {noun} of image {number}"
_BACK = "the back of which is in image {number}"
_TRUE_TO_PICTURE = "Each garment has exactly the colours, pattern, print, fabric and cut of its image."
_SURROUNDINGS = "Background, light, camera and framing are exactly those of image 1."

_UNKNOWN_KIND = "This name for a garment is not known; the network goes by its picture and its category."


def prompt_for(references: Sequence[Reference]) -> str:
    """The words for one pass of the network.

    Args:
        references: One to `MAX_GARMENTS`, in the order in which their pictures follow the person's.

    Raises:
        ValueError: There are none, or too many.
    """
    if not 1 <= len(references) <= MAX_GARMENTS:
        raise ValueError(f"{len(references)} garments for one prompt.")
    garments = "; ".join(_described(references))
    gone = _GONE[_replaced([reference.garment for reference in references])]
    return " ".join((_PERSON.format(garments=garments), gone, _TRUE_TO_PICTURE, _SURROUNDINGS))


def refusal(garment: Garment, name: str) -> str | None:
    """Why a hint that makes sense is not said to the network, see `engines.hint_sense.Refusal`."""
    return _UNKNOWN_KIND if name == "kind" and garment.hints.kind is None else None


def vocabulary() -> frozenset[str]:
    """Every word and number that can be in a prompt, in lower case."""
    tables: tuple[Mapping[Any, str], ...] = (_NOUNS, _ELSEWHERE, _STATES, _TUCKS, _VIEWS, _LENGTHS, _GONE)
    sentences = [_PERSON, _GARMENT, _BACK, _TRUE_TO_PICTURE, _SURROUNDINGS, *_TIGHTNESS, *GarmentKind]
    sentences += [sentence for table in tables for sentence in table.values()]
    numbers = frozenset(str(number) for number in range(1, 2 + 2 * MAX_GARMENTS))
    return numbers.union(*(words_of(re.sub(r"{\w+}", "", sentence)) for sentence in sentences))


def words_of(text: str) -> frozenset[str]:
    """The words and numbers of a text, in lower case; a hyphen is part of a word."""
    return frozenset(re.findall(r"[\w-]+", text.lower()))


def _described(references: Sequence[Reference]) -> Iterator[str]:
    number = 2
    for reference in references:
        hints, category = sensible_hints(reference.garment), reference.garment.category
        parts = [_GARMENT.format(noun=hints.kind or _NOUNS[category], number=number)]
        number += 1
        if reference.back is not None:
            parts.append(_BACK.format(number=number))
            number += 1
        if hints.kind is not None and hints.kind.category is not category:
            parts.append(_ELSEWHERE[category])
        yield ", ".join(parts + _how_worn(hints))


def _how_worn(hints: Hints) -> list[str]:
    said = (
        _STATES.get(hints.garment_state or ""),
        _TUCKS.get(hints.tuck_state or ""),
        *_fit_words(hints.fit if hints.size is not None else None),
        _VIEWS.get(hints.view_angle or ""),
    )
    return [words for words in said if words is not None]


def _fit_words(fit: Fit | None) -> tuple[str | None, str | None]:
    if fit is None:
        return None, None
    return _TIGHTNESS[2 + _degree(fit.tightness)], _LENGTHS.get(max(-1, min(1, _degree(fit.length))))


def _degree(sizes: float) -> int:
    """-2 to 2: how much of a difference is to be seen."""
    if abs(sizes) < CLOSE_TO_FITTING:
        return 0
    degree = 1 if abs(sizes) < FAR_FROM_FITTING else 2
    return degree if sizes > 0 else -degree


def _replaced(garments: Sequence[Garment]) -> frozenset[Category]:
    """Parts of the body whose old clothes go; what is worn open goes over them."""
    covered: set[Category] = set()
    for garment in garments:
        if sensible_hints(garment).garment_state == "open":
            continue
        if garment.category is Category.FULL_BODY:
            covered |= {Category.UPPER_BODY, Category.LOWER_BODY}
        else:
            covered.add(garment.category)
    return frozenset(covered)
