"""``tryon products``: an account's catalogue of registered garments.

The rows of a file are registered a few at a time, each by the same workflow that the API starts.
"""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from sqlalchemy.orm import Session

from api.products.imports import ProductFile, read_product_file
from api.products.schemas import ProductBody
from api.products.service import BACK, FRONT, refusal_named
from cli.transactions import AccountName, AsJson, account_named, in_reading
from domain import products
from domain.products import new_registration_id
from domain.tables import Product
from gateway.calls import RunFailedError, TemporalAwayError
from gateway.temporal import TemporalGateway
from intake.pages import SkippedRow
from runtime.settings import Settings, load_settings
from workflows.products.contracts import ImportRow, PictureSource, RegisterProductInput, SavedProduct
from workflows.queues import BULK_PRIORITY


@dataclass
class ImportReport:
    """What became of a file's rows."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    failed: list[SkippedRow] = field(default_factory=list)
    skipped: list[SkippedRow] = field(default_factory=list)

    def count(self, saved: SavedProduct) -> None:
        """Add a row that was registered."""
        if saved.created:
            self.created += 1
        elif saved.changed:
            self.updated += 1
        else:
            self.unchanged += 1

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "created": self.created,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "failed": [{"row": row.number, "error": row.sentence} for row in self.failed],
            "skipped": [{"row": row.number, "error": row.sentence} for row in self.skipped],
        }


async def import_rows(
    temporal: TemporalGateway,
    account_id: uuid.UUID,
    rows: Sequence[ImportRow],
    concurrency: int,
    on_row: Callable[[], None],
) -> ImportReport:
    """Register every row; one that fails does not hold up the others.

    Args:
        temporal: Where they are registered.
        account_id: Whose products.
        rows: Each with an external id of its own.
        concurrency: How many at a time.
        on_row: Called when a row is done.

    Raises:
        TemporalAwayError: Temporal cannot be reached (any more). Importing again does no harm.
    """
    report, slots = ImportReport(), asyncio.Semaphore(concurrency)

    async def register(row: ImportRow) -> None:
        async with slots:
            try:
                wanted = _registration(account_id, row)
                report.count(await temporal.register_product(wanted, priority=BULK_PRIORITY))
            except RunFailedError as error:
                sentence = refusal_named(error.code, error.detail).sentence
                report.failed.append(SkippedRow(number=row.number, sentence=sentence))
            on_row()

    tasks = [asyncio.create_task(register(row)) for row in rows]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
    report.failed.sort(key=lambda row: row.number)
    return report


def _registration(account_id: uuid.UUID, row: ImportRow) -> RegisterProductInput:
    return RegisterProductInput(
        registration_id=new_registration_id(),
        account_id=str(account_id),
        fields=row.fields,
        clear=row.clear,
        front=PictureSource(field=FRONT, url=row.front),
        back=PictureSource(field=BACK, url=row.back) if row.back else None,
    )


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
        found = read_product_file(file.read_bytes(), settings.images.limits())
    except ValueError as error:
        typer.echo(f"{file}: {error}.", err=True)
        raise typer.Exit(1) from None
    if found.ignored_columns:
        typer.echo(f"Ignored columns: {', '.join(found.ignored_columns)}", err=True)
    return found


def _registered(settings: Settings, account_id: uuid.UUID, rows: Sequence[ImportRow], concurrency: int) -> ImportReport:
    async def run(on_row: Callable[[], None]) -> ImportReport:
        temporal = await TemporalGateway.connect(settings.temporal)
        return await import_rows(temporal, account_id, rows, concurrency, on_row)

    with typer.progressbar(length=len(rows), label="Registering", file=sys.stderr) as bar:
        try:
            return asyncio.run(run(lambda: bar.update(1)))
        except TemporalAwayError as error:
            typer.echo(f"Temporal cannot be reached: {error}. You can safely import the file again.", err=True)
            raise typer.Exit(1) from None


def _complain(rows: Sequence[SkippedRow]) -> None:
    for row in rows:
        typer.echo(f"row {row.number}: {row.sentence}", err=True)


def _tell(found: ProductFile, report: ImportReport, sentence: str, *, as_json: bool) -> None:
    rows = {"rows": len(found.good) + len(found.bad)}
    typer.echo(json.dumps(rows | report.as_json()) if as_json else sentence)


def _summary(report: ImportReport) -> str:
    counts = f"{report.created} added, {report.updated} updated, {report.unchanged} unchanged"
    return f"{counts}, {len(report.failed)} failed, {len(report.skipped)} skipped."
