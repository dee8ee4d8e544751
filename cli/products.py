"""``tryon products``: an account's catalogue of registered garments."""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from sqlalchemy.orm import Session
from temporalio.service import RPCError

from api.products.product_file import BadRow, GoodRow, ProductFile, read_product_file
from api.products.schemas import ProductBody
from cli.product_import import ImportReport, import_rows
from cli.transactions import AccountName, AsJson, account_named, in_reading
from domain.products import products
from domain.tables import Product
from imaging.limits import ImageLimits
from runtime.settings import Settings, load_settings
from runtime.temporal import connect_temporal

app = typer.Typer(no_args_is_help=True, help="An account's catalogue of registered garments.")

PAGE = 500


class Status(StrEnum):
    """Which products to list."""

    ACTIVE = products.ACTIVE
    ARCHIVED = products.ARCHIVED
    ALL = "all"


@app.command("list")
def list_products(
    account: AccountName,
    status: Annotated[Status, typer.Option(help="Which ones.")] = Status.ACTIVE,
    as_json: AsJson = False,
) -> None:
    """Every product of an account, newest first."""

    def work(session: Session) -> list[Product]:
        account_id = account_named(session, account)
        found: list[Product] = []
        while True:
            page = products.list_products(
                session,
                account_id=account_id,
                limit=PAGE,
                status=None if status is Status.ALL else status.value,
                after=(found[-1].created_at, found[-1].id) if found else None,
            )
            found += page
            if len(page) < PAGE:
                return found

    bodies = [ProductBody.of(product) for product in in_reading(load_settings(), work)]
    if as_json:
        typer.echo(json.dumps([body.model_dump(mode="json") for body in bodies]))
        return
    for body in bodies:
        typer.echo(f"{body.id}  {body.external_id or '-':<20}  {body.category:<10}  {body.status:<8}  {body.name}")
    typer.echo(f"{len(bodies)} products")


@app.command("import")
def import_file(
    *,
    file: Annotated[Path, typer.Argument(help="CSV in UTF-8 whose first row names the columns.", exists=True)],
    account: AccountName,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only check the rows.")] = False,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Register the good rows even if some are bad.")] = False,
    concurrency: Annotated[int, typer.Option(min=1, max=16, help="Rows registered at the same time.")] = 4,
    as_json: AsJson = False,
) -> None:
    """Register or update a product for every row of a file. You can safely import the same file again.

    Rows update the product with their externalId. Needs Temporal and the CPU worker.
    """
    settings = load_settings()

    def work(session: Session) -> uuid.UUID:
        return account_named(session, account)

    account_id = in_reading(settings, work)
    found = _read(file, settings)
    _complain(found.bad)
    if dry_run or (found.bad and not skip_bad):
        sentence = f"{len(found.good)} rows are good, {len(found.bad)} are not; nothing was registered."
        _tell(found, ImportReport(skipped=found.bad), sentence, as_json=as_json)
        raise typer.Exit(1 if found.bad else 0)
    report = _registered(settings, account_id, found.good, concurrency)
    report.skipped = found.bad
    _complain(report.failed)
    _tell(found, report, _summary(report), as_json=as_json)
    raise typer.Exit(1 if report.failed else 0)


def _read(file: Path, settings: Settings) -> ProductFile:
    try:
        found = read_product_file(file.read_bytes(), ImageLimits(**settings.images.limits()))
    except ValueError as error:
        typer.echo(f"{file}: {error}.", err=True)
        raise typer.Exit(1) from None
    if found.ignored_columns:
        typer.echo(f"Ignored columns: {', '.join(found.ignored_columns)}", err=True)
    return found


def _registered(settings: Settings, account_id: uuid.UUID, rows: Sequence[GoodRow], concurrency: int) -> ImportReport:
    async def run(on_row: Callable[[], None]) -> ImportReport:
        client = await connect_temporal(settings.temporal)
        return await import_rows(client, account_id, rows, concurrency, on_row)

    with typer.progressbar(length=len(rows), label="Registering", file=sys.stderr) as bar:
        try:
            return asyncio.run(run(lambda: bar.update(1)))
        except (RPCError, RuntimeError) as error:
            typer.echo(f"Temporal cannot be reached: {error}. You can safely import the file again.", err=True)
            raise typer.Exit(1) from None


def _complain(rows: Sequence[BadRow]) -> None:
    for row in rows:
        typer.echo(f"row {row.number}: {row.sentence}", err=True)


def _tell(found: ProductFile, report: ImportReport, sentence: str, *, as_json: bool) -> None:
    rows = {"rows": len(found.good) + len(found.bad)}
    typer.echo(json.dumps(rows | report.as_json()) if as_json else sentence)


def _summary(report: ImportReport) -> str:
    counts = f"{report.created} added, {report.updated} updated, {report.unchanged} unchanged"
    return f"{counts}, {len(report.failed)} failed, {len(report.skipped)} skipped."
