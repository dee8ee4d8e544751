"""``tryon products``: an account's catalogue of registered garments.

The rows of a file are registered a few at a time, each by the same workflow that the API starts.
"""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from api.products.imports import read_product_file
from api.products.schemas import ProductBody
from api.products.service import refusal_named
from cli.answers import AsJson, fail, show
from cli.database import AccountName, account_named, reading
from domain import products
from domain.products import new_registration_id
from domain.tables import Product
from gateway.calls import RunFailedError, TemporalAwayError
from gateway.temporal import TemporalGateway
from intake.pages import SkippedRow
from runtime.settings import Settings, load_settings
from workflows.products.contracts import ImportRow
from workflows.queues import BULK_PRIORITY


@dataclass
class ImportReport:
    """What became of a file's rows."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    failed: list[SkippedRow] = field(default_factory=list)
    skipped: list[SkippedRow] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "created": self.created,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "failed": [{"row": row.number, "error": row.sentence} for row in self.failed],
            "skipped": [{"row": row.number, "error": row.sentence} for row in self.skipped],
        }


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
    wanted = None if status is Status.ALL else status.value
    found: list[Product] = []
    with reading(load_settings()) as session:
        account_id = account_named(session, account)
        while len(found) % PAGE == 0:
            after = (found[-1].created_at, found[-1].id) if found else None
            page = products.list_products(session, account_id=account_id, limit=PAGE, status=wanted, after=after)
            if not page:
                break
            found += page
    bodies = [ProductBody.of(product) for product in found]
    lines = (
        f"{each.id}  {each.external_id or '-':<20}  {each.category:<10}  {each.status:<8}  {each.name}"
        for each in bodies
    )
    show([body.model_dump(mode="json") for body in bodies], *lines, f"{len(bodies)} products", as_json=as_json)


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
    with reading(settings) as session:
        account_id = account_named(session, account)
    try:
        found = read_product_file(file.read_bytes(), settings.images.limits())
    except ValueError as error:
        fail(f"{file}: {error}.")
    if found.ignored_columns:
        typer.echo(f"Ignored columns: {', '.join(found.ignored_columns)}", err=True)
    _complain(found.bad)
    rows = {"rows": len(found.good) + len(found.bad)}
    if dry_run or (found.bad and not skip_bad):
        sentence = f"{len(found.good)} rows are good, {len(found.bad)} are not; nothing was registered."
        show(rows | ImportReport(skipped=found.bad).as_json(), sentence, as_json=as_json)
        raise typer.Exit(1 if found.bad else 0)
    with typer.progressbar(length=len(found.good), label="Registering", file=sys.stderr) as bar:
        try:
            report = asyncio.run(_register(settings, account_id, found.good, concurrency, lambda: bar.update(1)))
        except TemporalAwayError as error:
            fail(f"Temporal cannot be reached: {error}. You can safely import the file again.")
    report.skipped = found.bad
    _complain(report.failed)
    counts = f"{report.created} added, {report.updated} updated, {report.unchanged} unchanged"
    sentence = f"{counts}, {len(report.failed)} failed, {len(report.skipped)} skipped."
    show(rows | report.as_json(), sentence, as_json=as_json)
    raise typer.Exit(1 if report.failed else 0)


def _complain(rows: Sequence[SkippedRow]) -> None:
    for row in rows:
        typer.echo(f"row {row.number}: {row.sentence}", err=True)


async def _register(
    settings: Settings, account_id: uuid.UUID, rows: Sequence[ImportRow], concurrency: int, on_row: Callable[[], None]
) -> ImportReport:
    """Register every row, so many at a time; one that fails does not hold up the others."""
    temporal = await TemporalGateway.connect(settings.temporal)
    report, slots = ImportReport(), asyncio.Semaphore(concurrency)

    async def register(row: ImportRow) -> None:
        wanted = row.registration(new_registration_id(), str(account_id))
        async with slots:
            try:
                saved = await temporal.register_product(wanted, priority=BULK_PRIORITY)
                report.created += saved.created
                report.updated += saved.changed and not saved.created
                report.unchanged += not (saved.created or saved.changed)
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
