"""``tryon engines``."""

from __future__ import annotations

from typing import Annotated

import typer

from engines.models import fetch_models
from runtime.settings import load_settings

app = typer.Typer(no_args_is_help=True, help="Engines and their model files.")

FETCHABLE = ("warp",)


@app.command("fetch")
def fetch(name: Annotated[str, typer.Argument(help=f"One of {', '.join(FETCHABLE)}.")]) -> None:
    """Download the model files that an engine needs and check their sums; nothing to do when they are there."""
    if name not in FETCHABLE:
        typer.echo(f"There is nothing to fetch for {name!r}; engines are {', '.join(FETCHABLE)}.", err=True)
        raise typer.Exit(1)
    fetch_models(load_settings().engine.models_dir, typer.echo)
