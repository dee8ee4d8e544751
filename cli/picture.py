"""``tryon picture``: what a picture says of itself."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from cli.answers import AsJson, fail, show
from imaging.errors import ImageError
from imaging.provenance import SigningError, open_signer, read_manifest, sentences_of
from runtime.settings import load_settings

app = typer.Typer(no_args_is_help=True, help="What a picture says of itself.")


@app.callback()
def _commands() -> None:
    """Typer makes no group of a single command."""


@app.command("verify")
def verify(
    file: Annotated[Path, typer.Argument(help="A JPEG, PNG or WebP.", exists=True, dir_okay=False)],
    as_json: AsJson = False,
) -> None:
    """Read who signed a picture, how it was made and whether it was changed; exit 0 only for an intact one of ours."""
    settings = load_settings()
    name = settings.dashboard.name
    try:
        signer = open_signer(name=name, **settings.signing.model_dump())
        told = read_manifest(file.read_bytes(), signer.own if signer else None)
    except (SigningError, OSError) as error:
        fail(str(error))
    except ImageError as error:
        fail(f"{file} is no picture that can be read: {error.detail}.")
    show(asdict(told), *sentences_of(told, name), as_json=as_json)
    if not (told.intact and told.ours):
        raise typer.Exit(1)
