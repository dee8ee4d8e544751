"""Garments on a command line: pictures, categories, hints and photos of backs that belong together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer
from pydantic import ValidationError
from pydantic.alias_generators import to_snake

from engines.garment_kinds import Category
from workflows.contracts import GarmentHints

CATEGORIES = tuple(Category)
NO_PHOTO = "-"
MOST_GARMENTS = 4


@dataclass(frozen=True)
class Piece:
    """One garment as it was named."""

    picture: Path
    category: Category
    hints: GarmentHints
    back: Path | None


def read_outfit(
    pictures: Sequence[Path], categories: Sequence[str], hints: Sequence[str] | None, backs: Sequence[str] | None
) -> list[Piece]:
    """Put the options of a command together; each list has one entry for each garment, the last two may be left out.

    Raises:
        typer.BadParameter: They do not fit together, or one of them is not what it should be.
    """
    if len(pictures) > MOST_GARMENTS:
        raise typer.BadParameter(f"an outfit has at most {MOST_GARMENTS} garments")
    if len(categories) != len(pictures) or not set(categories) <= set(CATEGORIES):
        raise typer.BadParameter(f"give one --category for each --garment, each one of {', '.join(CATEGORIES)}")
    if hints is not None and len(hints) != len(pictures):
        raise typer.BadParameter("give --hints for each --garment or for none; '{}' says nothing")
    if backs is not None and len(backs) != len(pictures):
        raise typer.BadParameter("give --back for each --garment or for none; '-' is no photo")
    worn_how = [_hints(text) for text in hints or ["{}"] * len(pictures)]
    photos = [_photo(name) for name in backs or [NO_PHOTO] * len(pictures)]
    return [
        Piece(picture, Category(category), how, back)
        for picture, category, how, back in zip(pictures, categories, worn_how, photos, strict=True)
    ]


def _photo(name: str) -> Path | None:
    if name == NO_PHOTO:
        return None
    if not Path(name).is_file():
        raise typer.BadParameter(f"{name} is no file")
    return Path(name)


def _hints(text: str) -> GarmentHints:
    try:
        said = json.loads(text)
        return GarmentHints.model_validate({to_snake(name): value for name, value in said.items()})
    except (ValueError, AttributeError, ValidationError) as error:
        raise typer.BadParameter(f"{text} are no hints: {error}") from None
