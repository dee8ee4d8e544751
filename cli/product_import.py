"""Registers the rows of a file, a few at a time, each by the same workflow that the API starts."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from temporalio.client import Client, WorkflowFailureError

from api.products.product_file import BadRow, GoodRow
from api.products.reading import BACK, FRONT
from api.products.service import refusal_of
from domain.products.products import new_registration_id
from intake.pictures import Picture
from workflows.products.contracts import PictureSource, RegisterProductInput, SavedProduct
from workflows.products.registration import start_registration
from workflows.queues import BULK_PRIORITY


@dataclass
class ImportReport:
    """What became of a file's rows."""

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    failed: list[BadRow] = field(default_factory=list)
    skipped: list[BadRow] = field(default_factory=list)

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
    client: Client, account_id: uuid.UUID, rows: Sequence[GoodRow], concurrency: int, on_row: Callable[[], None]
) -> ImportReport:
    """Register every row; one that fails does not hold up the others.

    Args:
        client: Of Temporal.
        account_id: Whose products.
        rows: Each with an external id of its own.
        concurrency: How many at a time.
        on_row: Called when a row is done.

    Raises:
        temporalio.service.RPCError: Temporal cannot be reached (any more). Importing again does no harm.
    """
    report, slots = ImportReport(), asyncio.Semaphore(concurrency)

    async def register(row: GoodRow) -> None:
        async with slots:
            try:
                run = await start_registration(client, _registration(account_id, row), priority=BULK_PRIORITY)
                report.count(await run.result())
            except WorkflowFailureError as error:
                report.failed.append(BadRow(row.number, refusal_of(error).sentence))
            on_row()

    tasks = [asyncio.create_task(register(row)) for row in rows]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
    report.failed.sort(key=lambda row: row.number)
    return report


def _registration(account_id: uuid.UUID, row: GoodRow) -> RegisterProductInput:
    return RegisterProductInput(
        registration_id=new_registration_id(),
        account_id=str(account_id),
        fields=row.product.fields,
        clear=row.product.clear,
        front=_source(FRONT, row.product.front),
        back=_source(BACK, row.product.back),
    )


def _source(name: str, side: Picture | str | None) -> PictureSource | None:
    return PictureSource(field=name, url=side) if isinstance(side, str) else None
