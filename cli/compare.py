"""``tryon engines compare``: one person and one outfit, drawn by several engines, side by side."""

from __future__ import annotations

import io
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from PIL import Image

from cli.contact_sheet import contact_sheet
from cli.render import CATEGORIES, Piece, read_outfit, report_of
from engines.catalogue import ENGINES, OFFERED
from runtime.settings import Settings, load_settings

if TYPE_CHECKING:
    from engines.base import Picture


def compare(
    *,
    person: Annotated[Path, typer.Option(help="Photo of one person.", exists=True, dir_okay=False)],
    garment: Annotated[list[Path], typer.Option(help="Product photo; up to four times.", exists=True, dir_okay=False)],
    category: Annotated[list[str], typer.Option(help=f"One of {', '.join(CATEGORIES)}; one for each garment.")],
    out: Annotated[Path, typer.Option(help="Where the sheet goes; each engine's own picture goes beside it.")],
    engine: Annotated[list[str] | None, typer.Option(help=f"Of {', '.join(OFFERED)}; all of them by default.")] = None,
    hints: Annotated[list[str] | None, typer.Option(help="As for `tryon render`.")] = None,
    back: Annotated[list[str] | None, typer.Option(help="As for `tryon render`.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print times, checks and hints as JSON.")] = False,
) -> None:
    """Render with several engines and lay the pictures beside the photo; an engine that cannot says why."""
    names = list(dict.fromkeys(engine or OFFERED))
    if not set(names) <= set(ENGINES):
        raise typer.BadParameter(f"engines are {', '.join(OFFERED)}")
    outfit = read_outfit(garment, category, hints, back)
    out.parent.mkdir(parents=True, exist_ok=True)
    settings = load_settings()
    reports = {name: _rendered(name, settings, person, outfit, out) for name in names}
    drawn = [Path(report["out"]) for report in reports.values() if "out" in report]
    contact_sheet([path.read_bytes() for path in [person, *garment, *drawn]]).save(out, quality=92)
    typer.echo(json.dumps(reports) if as_json else "\n".join(_in_words(*entry) for entry in reports.items()))
    if not drawn:
        raise typer.Exit(1)


def _rendered(name: str, settings: Settings, person: Path, outfit: list[Piece], sheet: Path) -> dict[str, Any]:
    """Draw with one engine, which is loaded for it alone; its report, or why there is none."""
    # Here, since the models' libraries take a second to load and no other command needs them.
    from cli.studio import Studio, sentence_of
    from engines.base import DeviceBroken, DeviceOutOfMemory, EngineError, EngineUnavailable
    from engines.models import ModelsMissing
    from imaging.errors import ImageError

    try:
        began = time.monotonic()
        studio = Studio(settings, engine=name)
        loaded = time.monotonic()
        somebody = studio.person(person)
        garments = [studio.garment(piece.picture, piece.category, piece.hints, piece.back) for piece in outfit]
        result = studio.render(somebody, garments)
    except (DeviceBroken, DeviceOutOfMemory, EngineError, EngineUnavailable, ImageError, ModelsMissing) as error:
        return {"error": sentence_of(error)}
    path = sheet.with_name(f"{sheet.stem}-{name}.png")
    path.write_bytes(_png(result.picture))
    return {"loadMs": round(1000 * (loaded - began))} | report_of(path, somebody.segment_ms, result)


def _png(picture: Picture) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PNG")
    return buffer.getvalue()


def _in_words(name: str, report: dict[str, Any]) -> str:
    if "error" in report:
        return f"{name}: {report['error']}"
    milliseconds = sum(report["timingsMs"].values())
    return f"{name}: {report['out']}, {milliseconds} ms (and {report['loadMs']} ms to load)"
