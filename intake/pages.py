"""Items and rows that are worked through in bulk, and their outcomes, as pages of JSON lines in the object store."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Annotated, TypeVar

from pydantic import BaseModel, Field

from workflows.backfills.contracts import ItemOutcome
from workflows.products.contracts import ROWS_AT_ONCE, RowOutcome

CONTENT_TYPE = "application/jsonl"

PAGE_ITEMS = 100
"""Of a backfill: small enough to be read anew for every item, and rewritten for a few outcomes."""

PAGE_ROWS = 25 * ROWS_AT_ONCE
"""Of a file of products: rows that are taken up together lie on one page, and so do their outcomes."""

Line = TypeVar("Line", bound=BaseModel)
Outcome = TypeVar("Outcome", ItemOutcome, RowOutcome)


def lines_of(models: Iterable[BaseModel]) -> bytes:
    """One line of JSON each, without fields that have their defaults."""
    return "".join(model.model_dump_json(exclude_defaults=True) + "\n" for model in models).encode()


def pages_of(models: Sequence[BaseModel], size: int) -> Iterator[bytes]:
    """The models in pages of ``size``."""
    for start in range(0, len(models), size):
        yield lines_of(models[start : start + size])


def read_page(page: bytes, model: type[Line]) -> list[Line]:
    """The models that `lines_of` wrote."""
    return [model.model_validate(json.loads(line)) for line in page.splitlines()]


def read_outcomes(page: bytes, model: type[Outcome]) -> dict[int, Outcome]:
    """The outcomes of a page, by the number of the item or row."""
    return {outcome.number: outcome for outcome in read_page(page, model)}


class SkippedRow(BaseModel):
    """A row of a file of products that cannot be registered; the sentence begins with the name of the column.

    Attributes:
        external_id: As the file says; empty if it does not.
    """

    number: int
    sentence: str
    external_id: str = ""


class ImportPlan(BaseModel):
    """The summary of a file of products.

    Attributes:
        name: The owner's name for it.
        rows: How many are to be registered.
    """

    name: Annotated[str, Field(max_length=200)] = ""
    created_at: datetime
    rows: int
    skipped: list[SkippedRow] = Field(default_factory=list)
    ignored_columns: list[str] = Field(default_factory=list)
