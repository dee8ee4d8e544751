"""``tryon db``."""

from __future__ import annotations

from contextlib import closing

import typer

from domain import migrations
from runtime.database import Database
from runtime.settings import load_settings

app = typer.Typer(no_args_is_help=True, help="The database.")


@app.callback()
def callback() -> None:
    """Keep ``upgrade`` a command of its own."""


@app.command("upgrade")
def upgrade() -> None:
    """Bring the tables to the newest version; safe at any time."""
    with closing(Database(load_settings().database)) as database:
        migrations.upgrade(database.engine)
    typer.echo("The database is up to date.")
