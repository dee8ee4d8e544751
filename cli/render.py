"""``tryon render``: one picture without the service, and what the engine made on the way to it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from PIL import Image
from pydantic import ValidationError
from pydantic.alias_generators import to_snake

from engines.catalogue import ENGINES, OFFERED
from engines.garment_kinds import Category
from engines.warp.about import WARP
from runtime.settings import load_settings
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


if TYPE_CHECKING:
    from engines.base import Picture, RenderResult


def render(
    *,
    person: Annotated[Path, typer.Option(help="Photo of one person.", exists=True, dir_okay=False)],
    garment: Annotated[list[Path], typer.Option(help="Product photo; up to four times.", exists=True, dir_okay=False)],
    category: Annotated[list[str], typer.Option(help=f"One of {', '.join(CATEGORIES)}; one for each garment.")],
    out: Annotated[Path, typer.Option(help="Where the picture goes: .png (lossless), .jpg or .webp.")],
    hints: Annotated[
        list[str] | None,
        typer.Option(help="JSON in the API's words, one for each garment: '{\"tuckState\": \"tucked\"}', or '{}'."),
    ] = None,
    back: Annotated[
        list[str] | None,
        typer.Option(help="Photo of the back, one for each garment, '-' for none; drawn where viewAngle is back."),
    ] = None,
    engine: Annotated[str, typer.Option(help=f"One of {', '.join(OFFERED)}.")] = "warp",
    as_json: Annotated[bool, typer.Option("--json", help="Print times, checks and hints as JSON.")] = False,
    debug: Annotated[Path | None, typer.Option(help="Folder for pictures of every step.")] = None,
) -> None:
    """Render without the service, with the same engine and the same preparation of pictures."""
    if engine not in ENGINES:
        raise typer.BadParameter(f"engines are {', '.join(OFFERED)}")
    if debug and engine != WARP.name:
        raise typer.BadParameter(f"--debug shows the steps of {WARP.name} alone")
    outfit = read_outfit(garment, category, hints, back)
    # Here, since the models' libraries take a second to load and no other command needs them.
    from cli.studio import Studio, sentence_of
    from engines.base import DeviceBroken, DeviceOutOfMemory, EngineError, EngineUnavailable, Garment
    from engines.models import ModelsMissing
    from engines.warp.debug_pictures import look_away
    from imaging.errors import ImageError

    garments: list[Garment] = []
    try:
        studio = Studio(load_settings(), _written_to(debug) if debug else look_away, engine)
        somebody = studio.person(person)
        garments = [studio.garment(piece.picture, piece.category, piece.hints, piece.back) for piece in outfit]
        result = studio.render(somebody, garments)
    except (DeviceBroken, DeviceOutOfMemory, EngineError, EngineUnavailable, ImageError, ModelsMissing) as error:
        to_blame = error.garment if isinstance(error, EngineError) else None
        pictures = [f"{piece.picture}: " for piece, put_on in zip(outfit, garments, strict=False) if put_on is to_blame]
        reason = "".join(pictures) + sentence_of(error)
        typer.echo(json.dumps({"error": reason}) if as_json else reason, err=not as_json)
        raise typer.Exit(1) from None
    out.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(result.picture).save(out, quality=95)
    report = report_of(out, somebody.segment_ms, result)
    typer.echo(json.dumps(report) if as_json else _in_words(report))


def _written_to(folder: Path) -> Callable[[str, Callable[[], Picture]], None]:
    folder.mkdir(parents=True, exist_ok=True)
    count = 0

    def write(name: str, draw: Callable[[], Picture]) -> None:
        nonlocal count
        count += 1
        Image.fromarray(draw()).save(folder / f"{count:02d}_{name}.png")

    return write


def report_of(out: Path, segment_ms: int, result: RenderResult) -> dict[str, Any]:
    """What is to be known of a render, for JSON."""
    height, width = result.picture.shape[:2]
    return {
        "out": str(out),
        "width": width,
        "height": height,
        "timingsMs": {"segment": segment_ms, **result.timings_ms},
        "checks": {name: round(float(figure), 4) for name, figure in result.checks.items()},
        "hintsApplied": list(result.hints_applied),
        "hintsNotApplied": dict(result.hints_not_applied),
    }


def _in_words(report: dict[str, Any]) -> str:
    times = ", ".join(f"{name} {spent}" for name, spent in report["timingsMs"].items())
    figures = ", ".join(f"{name} {figure:g}" for name, figure in report["checks"].items())
    lines = [f"{report['out']}: {report['width']} x {report['height']}", f"ms: {times}", f"checks: {figures}"]
    lines += [f"not applied: {name}: {reason}" for name, reason in report["hintsNotApplied"].items()]
    return "\n".join(lines)
