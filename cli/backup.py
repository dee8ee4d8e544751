"""``tryon backup``: backups of the embedded stack, and restoring them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from cli.backups.archive import BackupError, DamagedDatabaseError, Manifest, read_archive
from cli.backups.making import make_backup
from cli.backups.restoring import release_open_jobs, restore
from cli.embedded import kept_environment
from cli.transactions import AsJson, migrated_database
from runtime.embedded.child import ChildFailedError
from runtime.embedded.ports import PortInUseError
from runtime.embedded.record import FolderInUseError, write_environment
from runtime.object_store import ObjectStoreUnavailableError
from runtime.settings import EMBEDDED_FILE, Settings, load_settings

app = typer.Typer(no_args_is_help=True, help="Backups of the embedded stack.")

EXPECTED = (
    BackupError,
    ChildFailedError,
    DamagedDatabaseError,
    FolderInUseError,
    ObjectStoreUnavailableError,
    OSError,
    PortInUseError,
)

WARNING = "It holds the stack's secrets and customers' pictures: keep it where only you can read it."

Answer = TypeVar("Answer")


@app.command("create")
def create(
    target: Annotated[Path, typer.Argument(help="The file to write, or a folder to write it to.")],
    results: Annotated[
        bool, typer.Option(help="Keep results that callers can still fetch: customers' pictures.")
    ] = True,
    as_json: AsJson = False,
) -> None:
    """Write a backup, whether the stack is up or down: database, secrets, and the pictures worth keeping."""
    path, manifest = _done(make_backup(load_settings(), target, results=results))
    if as_json:
        typer.echo(json.dumps({"file": str(path), **_facts(manifest)}))
        return
    typer.echo(f"{path}\n{_told(manifest)}\n{WARNING}")


@app.command("check")
def check(archive: Annotated[Path, typer.Argument(help="The backup.")], as_json: AsJson = False) -> None:
    """Compare every part of a backup with its SHA-256."""

    async def run() -> Manifest:
        with read_archive(archive) as backup:
            return backup.manifest

    manifest = _done(run())
    typer.echo(json.dumps(_facts(manifest)) if as_json else f"{archive} is whole.\n{_told(manifest)}")


@app.command("restore")
def restore_backup(
    archive: Annotated[Path, typer.Argument(help="The backup.")],
    replace: Annotated[bool, typer.Option("--replace", help="Move a data folder that is not empty aside.")] = False,
) -> None:
    """Put a backup into the data folder (TRYON_DATA_DIR), all of it or nothing."""
    settings = Settings()
    done = _done(restore(settings, archive, replace=replace))
    # Commands find the database and the secrets before the stack has been started there.
    write_environment(settings.stack.data_dir / EMBEDDED_FILE, kept_environment(settings))
    typer.echo(f"Restored to {settings.stack.data_dir}.\n{_told(done.manifest)}")
    typer.echo(f"{done.released} jobs were in progress; they are released and not billed.")
    if done.set_aside:
        typer.echo(f"The earlier data folder is now {done.set_aside}.")
    for each in done.disagreements:
        typer.echo(f"{each.account_id}  {each.subject}: counted {each.counted}; recomputed {each.recomputed}", err=True)
    typer.echo("Counters, ledger and jobs agree." if not done.disagreements else "The ledger does not add up.")
    typer.echo("Start it with tryon up.")
    if done.disagreements:
        raise typer.Exit(1)


@app.command("release-open")
def release_open(
    stopped: Annotated[
        bool, typer.Option("--nothing-runs", help="Say that neither API nor workers run on this database.")
    ] = False,
) -> None:
    """After a restore by other means (pg_restore): release every job in progress, before anything is started."""
    if not stopped:
        typer.echo("This also releases jobs that workers are busy with. Stop everything, then add --nothing-runs.")
        raise typer.Exit(1)
    settings = load_settings()
    keep = timedelta(seconds=settings.jobs.result_ttl_seconds)
    with migrated_database(settings) as database:
        released = release_open_jobs(database, keep)
    typer.echo(f"{released} jobs were in progress; they are released and not billed.")


def _done(work: Coroutine[Any, Any, Answer]) -> Answer:
    try:
        return asyncio.run(work)
    except EXPECTED as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from None


def _facts(manifest: Manifest) -> dict[str, Any]:
    return manifest.model_dump(exclude={"parts"}) | {"bytes": sum(part.size for part in manifest.parts.values())}


def _told(manifest: Manifest) -> str:
    size = sum(part.size for part in manifest.parts.values())
    counts = ", ".join(f"{number} {name}" for name, number in manifest.counts.items())
    told = f"Made at {manifest.made_at} by version {manifest.service_version}: {counts}; {size:,} bytes."
    if manifest.missing:
        listed = ", ".join(manifest.missing[:5])
        told += f"\n{len(manifest.missing)} objects that rows speak of were not in the store: {listed}"
    return told
