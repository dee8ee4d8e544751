"""``tryon engines`` and ``tryon render``: which engines there are, and pictures by them without the service."""

from __future__ import annotations

import io
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from PIL import Image, ImageOps
from pydantic import ValidationError
from pydantic.alias_generators import to_snake

from cli.answers import AsJson, fail, show
from cli.engine_check import check
from engines.base import EngineUnavailable
from engines.catalogue import ENGINES, OFFERED
from engines.garment_kinds import Category
from engines.models import ModelsMissing, fetch_models, models_present
from engines.pace import duration_words
from engines.warp.about import WARP
from engines.weights.fetch import fetch_weights
from runtime.settings import Settings, load_settings
from workflows.contracts import GarmentHints

if TYPE_CHECKING:
    from engines.base import Garment, Picture

CATEGORIES = tuple(Category)

NO_PHOTO = "-"

MOST_GARMENTS = 4

SHEET_HEIGHT, GAP = 1024, 16

CLEAR_LINE = "\r\x1b[K"
LOG_SECONDS = 5.0
"""Between lines about a drawing where they stay."""

LONG_SECONDS = 10.0
"""A picture that takes longer is announced with its time."""

PersonPhoto = Annotated[Path, typer.Option(help="Photo of one person.", exists=True, dir_okay=False)]
GarmentPhotos = Annotated[
    list[Path], typer.Option(help="Product photo; up to four times.", exists=True, dir_okay=False)
]
Categories = Annotated[list[str], typer.Option(help=f"One of {', '.join(CATEGORIES)}; one for each garment.")]
RenderAsJson = Annotated[bool, typer.Option("--json", help="Print times, checks and hints as JSON.")]


def render(
    *,
    person: PersonPhoto,
    garment: GarmentPhotos,
    category: Categories,
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
    as_json: RenderAsJson = False,
    debug: Annotated[Path | None, typer.Option(help="Folder for pictures of every step.")] = None,
) -> None:
    """Render without the service, with the same engine and the same preparation of pictures."""
    if engine not in ENGINES:
        raise typer.BadParameter(f"engines are {', '.join(OFFERED)}")
    if debug and engine != WARP.name:
        raise typer.BadParameter(f"--debug shows the steps of {WARP.name} alone")
    outfit = read_outfit(garment, category, hints, back)
    report = draw_with(engine, load_settings(), person, outfit, out, debug=debug)
    if "error" in report:
        typer.echo(json.dumps(report) if as_json else report["error"], err=not as_json)
        raise typer.Exit(1)
    del report["loadMs"]
    times = ", ".join(f"{name} {spent}" for name, spent in report["timingsMs"].items())
    figures = ", ".join(f"{name} {figure:g}" for name, figure in report["checks"].items())
    show(
        report,
        f"{report['out']}: {report['width']} x {report['height']}",
        f"ms: {times}",
        f"checks: {figures}",
        *(f"not applied: {name}: {reason}" for name, reason in report["hintsNotApplied"].items()),
        as_json=as_json,
    )


def compare(
    *,
    person: PersonPhoto,
    garment: GarmentPhotos,
    category: Categories,
    out: Annotated[Path, typer.Option(help="Where the sheet goes; each engine's own picture goes beside it.")],
    engine: Annotated[list[str] | None, typer.Option(help=f"Of {', '.join(OFFERED)}; all of them by default.")] = None,
    steps: Annotated[
        list[int] | None,
        typer.Option(help="Have each network draw in so many steps too, to see what fewer would lose.", min=2, max=100),
    ] = None,
    hints: Annotated[list[str] | None, typer.Option(help="As for `tryon render`.")] = None,
    back: Annotated[list[str] | None, typer.Option(help="As for `tryon render`.")] = None,
    as_json: RenderAsJson = False,
) -> None:
    """Render with several engines and lay the pictures beside the photo; an engine that cannot says why."""
    names = list(dict.fromkeys(engine or OFFERED))
    if not set(names) <= set(ENGINES):
        raise typer.BadParameter(f"engines are {', '.join(OFFERED)}")
    outfit = read_outfit(garment, category, hints, back)
    settings = load_settings()
    reports: dict[str, dict[str, Any]] = {}
    for name in names:
        counts = sorted(set(steps), reverse=True) if steps and hasattr(settings.options[name], "steps") else [None]
        own: list[dict[str, Any]] = []
        for count in counts:
            label = name if count is None else f"{name}-{count}-steps"
            file = out.with_name(f"{out.stem}-{label}.png")
            given = settings if count is None else with_steps(settings, name, count)
            own.append(draw_with(name, given, person, outfit, file))
            reports[label] = own[-1]
            if count != counts[0] and "out" in own[0] and "out" in own[-1]:
                own[-1]["differsFromMost"] = difference(Path(own[0]["out"]), file)
    drawn = [Path(report["out"]) for report in reports.values() if "out" in report]
    out.parent.mkdir(parents=True, exist_ok=True)
    contact_sheet([path.read_bytes() for path in [person, *garment, *drawn]]).save(out, quality=92)
    lines = []
    for label, report in reports.items():
        if "error" in report:
            lines.append(f"{label}: {report['error']}")
            continue
        line = f"{label}: {report['out']}, {sum(report['timingsMs'].values())} ms (and {report['loadMs']} ms to load)"
        differs = report.get("differsFromMost")
        lines.append(line if differs is None else f"{line}, {differs:g} of 255 levels from the most steps")
    show(reports, *lines, as_json=as_json)
    if not drawn:
        raise typer.Exit(1)


def with_steps(settings: Settings, engine: str, steps: int) -> Settings:
    """The same settings, but for the number of steps of one engine."""
    changed = copy(settings)
    changed.options = {**settings.options, engine: settings.options[engine].model_copy(update={"steps": steps})}
    return changed


def difference(one: Path, other: Path) -> float:
    """Mean absolute difference, in levels of 0 to 255, of two pictures of one size where they are not the same.

    Around what an engine drew both are the photo, to the last bit; counted in, a small garment would seem to lose less.
    """
    pictures = [np.asarray(Image.open(path).convert("RGB"), np.int16) for path in (one, other)]
    apart = np.abs(pictures[0] - pictures[1])
    drawn = apart.any(axis=2)
    return round(float(apart[drawn].mean()), 2) if drawn.any() else 0.0


def contact_sheet(pictures: Sequence[bytes], height: int = SHEET_HEIGHT) -> Image.Image:
    """Scale every picture to one height and lay them in a row on white."""
    images = []
    for data in pictures:
        image = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")
        images.append(image.resize((round(image.width * height / image.height), height), Image.Resampling.LANCZOS))
    width = sum(image.width for image in images) + GAP * (len(images) + 1)
    sheet = Image.new("RGB", (width, height + 2 * GAP), "white")
    left = GAP
    for image in images:
        sheet.paste(image, (left, GAP))
        left += image.width + GAP
    return sheet


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
    """Combine the options of a command; each list has one entry for each garment, and the last two may be left out.

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


def draw_with(
    engine: str, settings: Settings, person: Path, outfit: Sequence[Piece], out: Path, *, debug: Path | None = None
) -> dict[str, Any]:
    """Draw with one engine, which is loaded for it alone, and save the picture; the report, or why there is none."""
    # Here, because the models' libraries take a second to load and no other command needs them.
    from cli.studio import Studio, sentence_of
    from engines.base import DeviceBroken, DeviceOutOfMemory, EngineError
    from engines.warp.debug_pictures import look_away
    from imaging.errors import ImageError

    garments: list[Garment] = []
    began = time.monotonic()
    try:
        studio = Studio(settings, _written_to(debug) if debug else look_away, engine)
        loaded = time.monotonic()
        pace = studio.info.pace
        if pace and pace.seconds_for(len(outfit)) > LONG_SECONDS:
            whole = duration_words(pace.seconds_for(len(outfit)))
            told = f"A step takes {pace.step_seconds:.1f} s on {pace.device} in {pace.precision}, a picture {whole}."
            typer.echo(f"{told} Ctrl-C stops it.", err=True)
        somebody = studio.person(person)
        garments = [studio.garment(piece.picture, piece.category, piece.hints, piece.back) for piece in outfit]
        with progress_line() as tell:
            result = studio.render(somebody, garments, tell)
    except (DeviceBroken, DeviceOutOfMemory, EngineError, EngineUnavailable, ImageError, ModelsMissing) as error:
        to_blame = error.garment if isinstance(error, EngineError) else None
        pictures = [f"{piece.picture}: " for piece, put_on in zip(outfit, garments, strict=False) if put_on is to_blame]
        return {"error": "".join(pictures) + sentence_of(error)}
    out.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(result.picture).save(out, quality=95)
    height, width = result.picture.shape[:2]
    return {
        "loadMs": round(1000 * (loaded - began)),
        "out": str(out),
        "width": width,
        "height": height,
        "timingsMs": {"segment": somebody.segment_ms, **result.timings_ms},
        "checks": {name: round(float(figure), 4) for name, figure in result.checks.items()},
        "hintsApplied": list(result.hints_applied),
        "hintsNotApplied": dict(result.hints_not_applied),
    }


@contextmanager
def progress_line() -> Iterator[Callable[[str], None]]:
    """Where a drawing says how far it is: one line of a terminal, which is empty afterwards, or a few of a log."""
    in_place, said_at = sys.stderr.isatty(), time.monotonic()

    def tell(words: str) -> None:
        nonlocal said_at
        if in_place:
            typer.echo(f"{CLEAR_LINE}{words}", err=True, nl=False)
        elif time.monotonic() - said_at >= LOG_SECONDS:
            typer.echo(words, err=True)
            said_at = time.monotonic()

    try:
        yield tell
    finally:
        if in_place:
            typer.echo(CLEAR_LINE, err=True, nl=False)


def _written_to(folder: Path) -> Callable[[str, Callable[[], Picture]], None]:
    folder.mkdir(parents=True, exist_ok=True)
    numbers = itertools.count(1)

    def write(name: str, draw: Callable[[], Picture]) -> None:
        Image.fromarray(draw()).save(folder / f"{next(numbers):02d}_{name}.png")

    return write


app = typer.Typer(help="Engines, their licences and their weights.")
app.command()(compare)
app.command()(check)


@app.callback(invoke_without_command=True)
def list_engines(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Without a command: list the engines with licences, revisions, memory, the hints they follow, and what is here."""
    if context.invoked_subcommand is not None:
        return
    from worker_gpu.engine import weights_present  # here, because it loads the person segmenter

    settings, entries, told = load_settings(), [], []
    for engine in OFFERED.values():
        info = engine.info
        models = bool(engine.weights) or models_present(settings.engine.models_dir)
        present = models and weights_present(info.name, settings)
        entries.append(
            {
                "name": info.name,
                "device": info.device,
                "codeLicence": info.code_licence,
                "weightsLicence": info.weights_licence,
                "commercialUse": info.commercial_use,
                "source": info.source,
                "revision": info.revision,
                "memoryMiB": info.memory_mb,
                "maxGarments": info.max_garments,
                "hints": sorted(info.hints),
                "weightsPresent": present,
            }
        )
        commercial = "commercial use allowed" if info.commercial_use else "NO commercial use"
        memory = f", {info.memory_mb / 1024:.0f} GiB" if info.memory_mb else ""
        told.append(
            f"{info.name}  ({info.device}{memory}, up to {info.max_garments} garments)\n"
            f"  licences: code {info.code_licence}, weights {info.weights_licence}: {commercial}\n"
            f"  source:   {info.source} at {info.revision}\n"
            f"  hints:    {', '.join(sorted(info.hints))}\n"
            f"  weights:  {'here' if present else f'missing: tryon engines fetch {info.name}'}"
        )
    typer.echo(json.dumps(entries, indent=2) if as_json else "\n\n".join(told))


@app.command("fetch")
def fetch(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(OFFERED)}.")],
    into: Annotated[Path | None, typer.Option(help="Folder; by default the one that the settings name.")] = None,
) -> None:
    """Download the weights that an engine needs and verify them; nothing to do when they are there and whole."""
    if name not in OFFERED:
        raise typer.BadParameter(f"engines are {', '.join(OFFERED)}")
    settings = load_settings()
    umask = os.umask(0o022)  # the weights are public, and another user may render with them
    try:
        wanted = OFFERED[name]
        if not wanted.weights:
            fetch_models(into or settings.engine.models_dir, typer.echo)
            return
        from worker_gpu.engine import check_libraries  # here, because it loads the person segmenter

        check_libraries(name)
        folder = into or settings.engine.weights_dir / name
        fetch_weights(wanted.weights, folder, licence=wanted.info.weights_licence, report=typer.echo)
        wanted.check(folder)
    except (ModelsMissing, EngineUnavailable) as error:
        fail(str(error))
    finally:
        os.umask(umask)  # pictures are not
    typer.echo(f"All that {name} needs is in {folder}, and its tensors are those of the network.")
