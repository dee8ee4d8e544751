"""A backfill's items and outcomes as they lie in the object store: pages of JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence

from pydantic import BaseModel

from workflows.backfills.contracts import BackfillItem
from workflows.backfills.step_contracts import ItemOutcome

PAGE_ITEMS = 100
"""Small enough to be read anew for every item, and rewritten for a few outcomes."""

CONTENT_TYPE = "application/jsonl"


def pages_of(items: Sequence[BackfillItem]) -> Iterator[bytes]:
    """The pages that these items fill."""
    for start in range(0, len(items), PAGE_ITEMS):
        yield lines_of(items[start : start + PAGE_ITEMS])


def lines_of(models: Iterable[BaseModel]) -> bytes:
    """One line of JSON each, without what says nothing."""
    return "".join(model.model_dump_json(exclude_defaults=True) + "\n" for model in models).encode()


def read_page(page: bytes) -> list[BackfillItem]:
    """The items of a page."""
    return [BackfillItem.model_validate_json(line) for line in page.splitlines()]


def read_outcomes(page: bytes) -> dict[int, ItemOutcome]:
    """The outcomes of a page, by number."""
    outcomes = (ItemOutcome.model_validate(json.loads(line)) for line in page.splitlines())
    return {outcome.number: outcome for outcome in outcomes}
