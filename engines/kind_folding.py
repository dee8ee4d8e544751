"""Finds the kind of garment in a caller's own words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from engines.garment_kinds import GarmentKind
from engines.garment_words import (
    COMPOUNDS,
    CONJUNCTIONS,
    DETAILS,
    GERMAN,
    HEAD_FIRST,
    HEAD_LAST,
    MODIFIERS,
    NO_KIND,
    PREPOSITIONS,
)

_APOSTROPHES = re.compile(r"['\u2018\u2019`\u00b4]")
_WORDS = re.compile(r"[^\W_]+")
_PHRASE_ENDS = re.compile(r"[,;:/|\\<>&+()\[\]\u2022]+")

LEAST_MODIFIER = 3
"""Letters before the last part of a compound; keeps ``brock`` from being a German skirt."""


@dataclass(frozen=True)
class _Name:
    """What one of the names in the table stands for.

    Attributes:
        kind: None for nouns that are too wide.
        head_first: Whether its language puts the noun before its modifiers.
        is_detail: It names a part of a garment.
        is_modifier: It names a garment only where no other word follows.
    """

    kind: GarmentKind | None
    head_first: bool = False
    is_detail: bool = False
    is_modifier: bool = False


def fold_kind(text: str | None) -> GarmentKind | None:
    """The kind that a text names, or None.

    Case, accents, hyphens, punctuation and plurals do not matter. Of a text with several names the longest counts
    where they overlap (``tank top``), and else the noun, not what modifies it: a ``shirt dress`` is a dress, a
    ``veste en jean`` a jacket.

    Args:
        text: Anything; nothing is refused.
    """
    plain = _APOSTROPHES.sub("", _without_accents(text or ""))
    found: GarmentKind | None = None
    for phrase in _phrases(plain):
        found = _kind_of_phrase(phrase) or found
    return found


def names_of(kind: GarmentKind) -> list[str]:
    """Every name in the table for a kind, its own first, as written there."""
    names = [kind.value]
    for language in (*HEAD_LAST, *HEAD_FIRST):
        names += [name for name in _listed(language.get(kind, "")) if name not in names]
    return names


def _without_accents(text: str) -> str:
    # Compatibility forms too: full-width letters are the same letters.
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _singular(word: str) -> str:
    """A word without a plural s; the table and the text are folded alike, so the word need not be English."""
    if len(word) > 3 and word.endswith("sses"):
        return word[:-2]
    return word[:-1] if len(word) > 2 and word.endswith("s") and not word.endswith("ss") else word


def _words_of(text: str) -> list[str]:
    return [_singular(word) for word in _WORDS.findall(text)]


def _phrases(text: str) -> Iterator[list[str]]:
    """Words of each part between punctuation and conjunctions."""
    for part in _PHRASE_ENDS.split(text):
        phrase: list[str] = []
        for word in _words_of(part):
            if word in _conjunctions():
                yield phrase
                phrase = []
            else:
                phrase.append(word)
        yield phrase


def _kind_of_phrase(words: Sequence[str]) -> GarmentKind | None:
    """The kind that a phrase names: before the first preposition if anything is named there."""
    found: list[_Name] = []
    position = 0
    while position < len(words):
        name, length = _name_at(words, position)
        following = position + length
        ends = following == len(words) or words[following] in _prepositions()
        if name is not None and not name.is_detail and (ends or not name.is_modifier):
            found.append(name)
        elif words[position] in _prepositions() and found:
            break
        position = following
    if not found:
        return None
    return found[0].kind if found[0].head_first else found[-1].kind


def _name_at(words: Sequence[str], position: int) -> tuple[_Name | None, int]:
    """The longest name that begins at a word, and how many words it has."""
    names = _names()
    for length in range(min(_longest_name(), len(words) - position), 0, -1):
        name = names.get(tuple(words[position : position + length]))
        if name is not None:
            return name, length
    return _compound(words[position]), 1


def _compound(word: str) -> _Name | None:
    for ending, kind in COMPOUNDS.items():
        # Or a German plural of it: Kleider, Hosen, Hemden.
        if re.search(rf"\w{{{LEAST_MODIFIER}}}{_singular(ending)}(e|n|en|er)?$", word):
            return _Name(kind)
    return None


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]


@cache
def _names() -> Mapping[tuple[str, ...], _Name]:
    """Words of a name to what it names."""
    modifiers = _listed(MODIFIERS)
    names = {tuple(_words_of(name)): _Name(None) for name in _listed(NO_KIND)}
    names |= {tuple(_words_of(name)): _Name(None, is_detail=True) for name in _listed(DETAILS)}
    for languages, head_first in ((HEAD_FIRST, True), (HEAD_LAST, False)):
        for language in languages:
            plurals = ("", "n", "en") if language is GERMAN else ("",)
            for kind, listed in language.items():
                for name, plural in product(_listed(listed), plurals):
                    names.setdefault(
                        tuple(_words_of(name + plural)), _Name(kind, head_first, is_modifier=name in modifiers)
                    )
    return names


@cache
def _longest_name() -> int:
    return max(len(words) for words in _names())


@cache
def _prepositions() -> frozenset[str]:
    return frozenset(_words_of(PREPOSITIONS))


@cache
def _conjunctions() -> frozenset[str]:
    return frozenset(_words_of(CONJUNCTIONS))
