"""Reads sizes as shops write them, and says how a garment fits somebody who usually wears another one."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

NOT_ONE_SYSTEM = "size and customerSize are not in one system"
"""Why two given sizes cannot be compared."""


class SizeSystem(StrEnum):
    """How a size is written; sizes of one system can be compared."""

    ALPHA = "alpha"
    NUMBER = "number"
    BODY_HEIGHT = "body height"
    WAIST_LENGTH = "waist and length"
    ONE_SIZE = "one size"


@dataclass(frozen=True)
class Size:
    """A size that was understood.

    Attributes:
        system: How it is written.
        region: Whose numbers these are, e.g. ``UK``; None where that was not said.
        girth: In sizes, counted from some origin of the system; one is the way from M to L, or 2 inches of waist.
        length: The same along the leg, 2 inches each; None where only the girth is known.
    """

    system: SizeSystem
    region: str | None
    girth: float
    length: float | None = None


@dataclass(frozen=True)
class Fit:
    """How a garment fits a customer.

    Attributes:
        tightness: By how many sizes the garment is looser (+) or tighter (-) than what the customer wears.
        length: By how many sizes it is longer (+) or shorter (-); 0 where the sizes do not tell.
    """

    tightness: float
    length: float = 0.0


ALPHA_STEPS = {"XXS": -3, "XS": -2, "S": -1, "M": 0, "L": 1, "XL": 2, "XXL": 3}
"""Letters to sizes above M; beyond them the number before XL or XS counts."""

LARGEST_XL, SMALLEST_XS = 6, 3
"""``6XL`` and ``3XS`` are the outermost that are understood."""

NUMBERS_PER_SIZE = 2
"""Dress, suit and trouser sizes of every region go up by two for one size."""

LARGEST_NUMBER = 70
BODY_HEIGHTS, HEIGHT_PER_SIZE = (80, 200), 6
"""Children's sizes are body heights in centimetres, 6 apart."""

WAISTS, LEG_LENGTHS, INCHES_PER_SIZE = (20, 60), (24, 40), 2
"""Inches; ``36/38`` is a waist of 36 and a leg of 38."""

_WORDS = {"EXTRA": "X", "SMALL": "S", "MEDIUM": "M", "MED": "M", "LARGE": "L"}
_REGIONS = {"EU": "EU", "EUR": "EU", "DE": "EU", "UK": "UK", "GB": "UK", "US": "US", "USA": "US"} | {
    name: name for name in ("FR", "IT", "AU", "JP")
}
_ONE_SIZE = re.compile(
    r"OS|OSFA|ONESIZE(FITSALL|FITSMOST)?|FREESIZE|UNISIZE|EINHEITSGROE?SSE|TAILLEUNIQUE|TALLAUNICA|TAGLIAUNICA|TU"
)
_LABEL = re.compile(r"^(SIZE|SZ|GROESSE|GROSSE|GR|TAILLE|TALLA|TAGLIA)\b[\s.:]*")
_REGION = "|".join(sorted(_REGIONS, key=len, reverse=True))
_REGION_BEFORE = re.compile(rf"^({_REGION})(?![A-Z])[\s.:-]*")
_REGION_BEHIND = re.compile(rf"(?<![A-Z])\s*({_REGION})$")
# Two numbers want a letter or a mark between them.
_WAIST_LENGTH = re.compile(
    r"^(?:W\s*([0-9]{2})|([0-9]{2})\s*W|([0-9]{2})(?=[\s/X,L-]))\s*[/X,-]?\s*L?\s*([0-9]{2})\s*L?$"
)
_WAIST = re.compile(r"^(?:W\s*([0-9]{2})|([0-9]{2})\s*W)$")


def parse_size(text: str | None) -> Size | None:
    """Understand a size; None for what is not one, or not in a system that is known.

    Args:
        text: E.g. ``M``, ``2XL``, ``extra large``, ``38``, ``EU 38``, ``W32/L34``, ``32x34``, ``one size``.
    """
    capitals = _capitals(text or "")
    if _ONE_SIZE.fullmatch(re.sub(r"[\W_]", "", capitals)):
        return Size(SizeSystem.ONE_SIZE, None, 0.0)
    plain, region = _without_region(_LABEL.sub("", capitals))
    return _waist_and_length(plain, region) or _number(plain, region) or _alpha(plain, region)


def fit_of(size: str | None, customer_size: str | None) -> Fit | None:
    """How a garment of one size fits a customer who wears another one.

    Returns:
        None where the two are not in one system. A garment that comes in one size counts as fitting.
    """
    garment, customer = parse_size(size), parse_size(customer_size)
    if garment is None or customer is None:
        return None
    if SizeSystem.ONE_SIZE in {garment.system, customer.system}:
        return Fit(0.0)
    if (garment.system, garment.region) != (customer.system, customer.region):
        return None
    both_long = garment.length is not None and customer.length is not None
    length = (garment.length or 0.0) - (customer.length or 0.0) if both_long else 0.0
    return Fit(garment.girth - customer.girth, length)


def _capitals(text: str) -> str:
    """In capitals, without accents, with plain digits and single spaces."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return " ".join(letters.replace("\N{MULTIPLICATION SIGN}", "x").upper().split())


def _without_region(text: str) -> tuple[str, str | None]:
    for pattern in (_REGION_BEFORE, _REGION_BEHIND):
        found = pattern.search(text)
        if found:
            return pattern.sub("", text).strip(), _REGIONS[found[1]]
    return text, None


def _waist_and_length(text: str, region: str | None) -> Size | None:
    found = _WAIST_LENGTH.match(text)
    if found:
        *waists, length = found.groups()
        leg = int(length)
        if not LEG_LENGTHS[0] <= leg <= LEG_LENGTHS[1]:
            return None
    else:
        found, leg = _WAIST.match(text), 0
        if not found:
            return None
        waists = list(found.groups())
    waist = next(int(digits) for digits in waists if digits)
    if not WAISTS[0] <= waist <= WAISTS[1]:
        return None
    along = leg / INCHES_PER_SIZE if leg else None
    return Size(SizeSystem.WAIST_LENGTH, region, waist / INCHES_PER_SIZE, along)


def _number(text: str, region: str | None) -> Size | None:
    if not re.fullmatch(r"[0-9]{1,3}", text):
        return None
    number = int(text)
    if BODY_HEIGHTS[0] <= number <= BODY_HEIGHTS[1]:
        return Size(SizeSystem.BODY_HEIGHT, region, number / HEIGHT_PER_SIZE)
    if number > LARGEST_NUMBER:
        return None
    # The American 00 is one size below 0.
    return Size(SizeSystem.NUMBER, region, -1.0 if text == "00" else number / NUMBERS_PER_SIZE)


def _alpha(text: str, region: str | None) -> Size | None:
    """Letters, in words or not; between two sizes for ``S/M``."""
    for word, letter in _WORDS.items():
        text = re.sub(rf"\b{word}\b", letter, text)
    steps = [_alpha_step(re.sub(r"[\s-]", "", part)) for part in text.split("/")]
    known = [step for step in steps if step is not None]
    if len(known) != len(steps) or len(known) > 2:
        return None
    return Size(SizeSystem.ALPHA, region, sum(known) / len(known))


def _alpha_step(letters: str) -> int | None:
    if letters in ALPHA_STEPS:
        return ALPHA_STEPS[letters]
    numbered = re.fullmatch(r"([1-9])X([LS]?)", letters)
    repeated = re.fullmatch(r"(X{2,6})([LS])", letters)
    if numbered:
        count, end = int(numbered[1]), numbered[2] or "L"
    elif repeated:
        count, end = len(repeated[1]), repeated[2]
    else:
        return None
    if end == "L":
        return count + 1 if count <= LARGEST_XL else None
    return -count - 1 if count <= SMALLEST_XS else None
