"""A file of products as it lies in the object store while it is imported, and a week longer: pages of JSON lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, Field

from intake.backfill_items import CONTENT_TYPE as CONTENT_TYPE  # noqa: PLC0414 - pages are alike wherever they lie
from intake.backfill_items import lines_of
from workflows.products.contracts import ROWS_AT_ONCE, ImportRow, RowOutcome

PAGE_ROWS = 25 * ROWS_AT_ONCE
"""Rows that are taken up together lie on one page, and so do their outcomes."""


class SkippedRow(BaseModel):
    """A row that cannot be registered, and why; the sentence begins with the name of the column.

    Attributes:
        external_id: What the file says; empty where it says nothing.
    """

    number: int
    sentence: str
    external_id: str = ""


class ImportPlan(BaseModel):
    """What a file holds.

    Attributes:
        name: What the owner calls it.
        rows: How many are to be registered.
    """

    name: Annotated[str, Field(max_length=200)] = ""
    created_at: datetime
    rows: int
    skipped: list[SkippedRow] = Field(default_factory=list)
    ignored_columns: list[str] = Field(default_factory=list)


def row_pages(rows: Sequence[ImportRow]) -> Iterator[bytes]:
    """The pages that these rows fill."""
    for start in range(0, len(rows), PAGE_ROWS):
        yield lines_of(rows[start : start + PAGE_ROWS])


def read_rows_of(page: bytes, first: int) -> list[ImportRow]:
    """The rows of a page that are to be taken up together, from this place on."""
    lines = page.splitlines()[first % PAGE_ROWS :][:ROWS_AT_ONCE]
    return [ImportRow.model_validate_json(line) for line in lines]


def read_row_outcomes(page: bytes) -> dict[int, RowOutcome]:
    """The outcomes of a page, by the row's number."""
    outcomes = (RowOutcome.model_validate_json(line) for line in page.splitlines())
    return {outcome.number: outcome for outcome in outcomes}
