"""``tryon bucket``."""

from __future__ import annotations

import asyncio

import typer

from cli.answers import fail
from runtime.object_store import ObjectStoreUnavailableError, S3ObjectStore
from runtime.settings import load_settings

app = typer.Typer(no_args_is_help=True, help="The bucket that pictures are kept in.")


@app.callback()
def callback() -> None:
    """Keep ``create`` a command of its own."""


@app.command("create")
def create_bucket() -> None:
    """Create the bucket that the settings name if it is missing; safe at any time."""
    settings = load_settings().object_store
    try:
        asyncio.run(S3ObjectStore(settings).ensure_bucket())
    except ObjectStoreUnavailableError as error:
        fail(f"{settings.endpoint}: {error}")
    typer.echo(f"The bucket {settings.bucket} exists.")
