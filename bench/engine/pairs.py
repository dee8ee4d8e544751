"""Every sensible pair of a folder of people and garments, rendered without the service."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cli.studio import Person, Studio, sentence_of
from engines.base import Category, EngineError, Landmark, PersonMap, Picture, RenderResult
from imaging.errors import ImageError
from workflows.contracts import GarmentHints

FOLDERS = {"upper": Category.UPPER_BODY, "lower": Category.LOWER_BODY, "full": Category.FULL_BODY}
"""Where in the folder garments of which category are; people are in ``person``."""

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")
KNEES = (Landmark.LEFT_KNEE, Landmark.RIGHT_KNEE)


@dataclass(frozen=True)
class Outcome:
    """One person in one garment.

    Attributes:
        result: Nothing where the engine refused.
        refusal: Why.
        seconds: Of the render alone; the person was segmented before.
    """

    person_path: Path
    garment_path: Path
    category: Category
    person: Person
    garment: Picture
    result: RenderResult | None
    refusal: str
    seconds: float

    @property
    def name(self) -> str:
        """Unlike every other pair's, fit for a file."""
        return f"{self.category}--{self.garment_path.stem}--{self.person_path.stem}"


def pictures_in(folder: Path) -> list[Path]:
    """Pictures of a folder by name; none where there is no such folder."""
    return sorted(path for path in folder.glob("*") if path.suffix.lower() in SUFFIXES)


def _say(path: Path, reason: str) -> None:
    print(f"{path.name}: {reason}")


def outcomes(
    studio: Studio, folder: Path, only: str = "", every: int = 1, on_refused: Callable[[Path, str], None] = _say
) -> Iterator[Outcome]:
    """Dress everybody in everything that makes sense on them, person by person.

    Args:
        studio: What renders.
        folder: Holds ``person`` and any of `FOLDERS`.
        only: Skip pairs whose name does not contain this.
        every: Of the pairs that are left, dress each so many-th.
        on_refused: Told of people who cannot be dressed in anything and of garments that cannot be read, and why.
    """
    number = 0
    for person_path in pictures_in(folder / "person"):
        wanted = [
            (path, category)
            for name, category in FOLDERS.items()
            for path in pictures_in(folder / name)
            if only in f"{category}--{path.stem}--{person_path.stem}"
        ]
        if not wanted:
            continue
        try:
            person = studio.person(person_path)
        except (EngineError, ImageError) as error:
            on_refused(person_path, sentence_of(error))
            continue
        for path, category in wanted:
            if category is Category.UPPER_BODY or legs_are_seen(person.person_map):
                number += 1
                if (number - 1) % every:
                    continue
                try:
                    yield _dress(studio, person_path, person, path, category)
                except ImageError as error:
                    on_refused(path, sentence_of(error))


def legs_are_seen(person_map: PersonMap) -> bool:
    """Whether trousers would be seen: both knees lie in the frame."""
    height, width = person_map.labels.shape
    return all(0 <= x < width and 0 <= y < height for x, y in person_map.landmarks[list(KNEES), :2])


def _dress(studio: Studio, person_path: Path, person: Person, path: Path, category: Category) -> Outcome:
    garment = studio.garment(path, category, GarmentHints())
    began, result, refusal = time.monotonic(), None, ""
    try:
        result = studio.render(person, [garment])
    except EngineError as error:
        refusal = sentence_of(error)
    spent = time.monotonic() - began
    return Outcome(person_path, path, category, person, garment.picture, result, refusal, spent)
