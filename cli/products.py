"""``tryon products``: an account's catalogue of registered garments.

The rows of a file are registered a few at a time, each by the same workflow that the API starts.
"""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.answers import AsJson, fail, show
from cli.service import AccountName, Service, account_named
from domain import products
from domain.products import new_registration_id
from gateway.calls import RunFailedError, TemporalAwayError
from gateway.temporal import TemporalGateway
from intake.pages import SkippedRow
from workflows.products.contracts import ImportRow
from workflows.queues import BULK_PRIORITY

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
    from api.products.schemas import ProductBody  # here, as below, because it brings the whole API

    wanted, after = None if status is Status.ALL else status.value, None
    bodies: list[ProductBody] = []
    with Service().reading() as session:
        account_id = account_named(session, account)
        while page := products.list_products(session, account_id=account_id, limit=PAGE, status=wanted, after=after):
            bodies += [ProductBody.of(product) for product in page]
            after = (page[-1].created_at, page[-1].id)
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
    from api.products.imports import read_product_file

    service = Service()
    with service.reading() as session:
        account_id = account_named(session, account)
    try:
        found = read_product_file(file.read_bytes(), service.settings.images.limits())
    except ValueError as error:
        fail(f"{file}: {error}.")
    if found.ignored_columns:
        typer.echo(f"Ignored columns: {', '.join(found.ignored_columns)}", err=True)
    facts: dict[str, Any] = {"rows": len(found.good) + len(found.bad), "created": 0, "updated": 0, "unchanged": 0}
    facts |= {"failed": [], "skipped": _told(found.bad)}
    if dry_run or (found.bad and not skip_bad):
        sentence = f"{len(found.good)} rows are good, {len(found.bad)} are not; nothing was registered."
        show(facts, sentence, as_json=as_json)
        raise typer.Exit(1 if found.bad else 0)

    async def register_all(temporal: TemporalGateway) -> list[str | SkippedRow]:
        slots = asyncio.Semaphore(concurrency)

        async def register(row: ImportRow) -> str | SkippedRow:
            async with slots:
                outcome = await _register(temporal, str(account_id), row)
                bar.update(1)
                return outcome

        tasks = [asyncio.create_task(register(row)) for row in found.good]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    with typer.progressbar(length=len(found.good), label="Registering", file=sys.stderr) as bar:
        try:
            outcomes = service.ask_temporal(register_all)
        except TemporalAwayError as error:
            fail(f"Temporal cannot be reached: {error}. You can safely import the file again.")
    facts |= Counter(outcome for outcome in outcomes if isinstance(outcome, str))
    facts["failed"] = _told([outcome for outcome in outcomes if isinstance(outcome, SkippedRow)])
    counts = f"{facts['created']} added, {facts['updated']} updated, {facts['unchanged']} unchanged"
    sentence = f"{counts}, {len(facts['failed'])} failed, {len(facts['skipped'])} skipped."
    show(facts, sentence, as_json=as_json)
    raise typer.Exit(1 if facts["failed"] else 0)


async def _register(temporal: TemporalGateway, account_id: str, row: ImportRow) -> str | SkippedRow:
    """Register a row; whether it was ``created``, ``updated`` or ``unchanged``, or why it failed."""
    from api.products.service import refusal_named

    wanted = row.registration(new_registration_id(), account_id)
    try:
        saved = await temporal.register_product(wanted, priority=BULK_PRIORITY)
    except RunFailedError as error:
        return SkippedRow(number=row.number, sentence=refusal_named(error.code, error.detail).sentence)
    return "created" if saved.created else "updated" if saved.changed else "unchanged"


def _told(rows: Sequence[SkippedRow]) -> list[dict[str, Any]]:
    """Tell people about bad rows on standard error; returns the rows as the JSON has them."""
    for row in rows:
        typer.echo(f"row {row.number}: {row.sentence}", err=True)
    return [{"row": row.number, "error": row.sentence} for row in rows]
