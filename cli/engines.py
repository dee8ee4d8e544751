"""``tryon engines``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from cli.answers import AsJson, fail
from cli.render import compare
from engines.base import EngineUnavailable
from engines.catalogue import OFFERED
from engines.models import ModelsMissing, fetch_models, models_present
from engines.weights.fetch import fetch_weights
from runtime.settings import load_settings

app = typer.Typer(help="Engines, their licences and their weights.")
app.command()(compare)


@app.callback(invoke_without_command=True)
def list_engines(context: typer.Context, *, as_json: AsJson = False) -> None:
    """Without a command: list the engines with licences, revisions, memory, the hints they follow, and what is here."""
    if context.invoked_subcommand is not None:
        return
    from worker_gpu.engine import weights_present  # here, since it loads what finds people

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
    os.umask(0o022)  # what is fetched is public, and who renders with it may be another user
    try:
        wanted = OFFERED[name]
        if not wanted.weights:
            fetch_models(into or settings.engine.models_dir, typer.echo)
            return
        from worker_gpu.engine import check_libraries  # here, since it loads what finds people

        check_libraries(name)
        folder = into or settings.engine.weights_dir / name
        fetch_weights(wanted.weights, folder, licence=wanted.info.weights_licence, report=typer.echo)
        wanted.check(folder)
    except (ModelsMissing, EngineUnavailable) as error:
        fail(str(error))
    typer.echo(f"All that {name} needs is in {folder}, and its tensors are those of the network.")
