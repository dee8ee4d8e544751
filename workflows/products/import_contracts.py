"""Every model that crosses Temporal for a file of products; see `workflows.contracts`.

The rows lie in the object store; a few at a time pass through here.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from workflows.contracts import Contract, Identifier, Url
from workflows.products.contracts import Clearable, ExternalId, ProductFields

ROWS_AT_ONCE = 8
"""Rows that are registered side by side; their addresses alone may take half of what a contract may."""

Count = Annotated[int, Field(ge=0)]
Place = Annotated[int, Field(ge=0)]
"""A row's place among those of its file that can be registered, from 0."""

RowNumber = Annotated[int, Field(ge=1)]
"""A row's number as a spreadsheet shows it, the header being row 1."""


class ImportRow(Contract):
    """A product as a file describes it: the whole product, by the name that the file gives it."""

    number: RowNumber
    fields: ProductFields
    clear: Annotated[list[Clearable], Field(max_length=6)] = Field(default_factory=list)
    front: Url
    back: Url | None = None


class StartedRow(Contract):
    """A row that is taken up.

    Attributes:
        registration_id: See `domain.products.registrations`. It is made as late as this, since it tells when the row
            began.
    """

    registration_id: Identifier
    row: ImportRow


class ImportReport(Contract):
    """What became of the rows.

    Attributes:
        stopped: Whether the rest was left, since the account is blocked or erased, or the file is gone.
    """

    created: Count = 0
    updated: Count = 0
    unchanged: Count = 0
    failed: Count = 0
    stopped: bool = False


class ImportProductsInput(Contract):
    """Register the rows of a file.

    Attributes:
        rows: How many there are.
        done: How many of them earlier runs of the chain have been through, and the counts that these left.
    """

    account_id: Identifier
    import_id: Identifier
    rows: Count
    done: Count = 0
    report: ImportReport | None = None


class TakeUpRowsInput(Contract):
    """Read the next `ROWS_AT_ONCE` rows, from ``first`` on."""

    account_id: Identifier
    import_id: Identifier
    first: Place


class TakenUpRows(Contract):
    """Rows to be registered.

    Attributes:
        stopped: No more rows may be.
    """

    rows: Annotated[list[StartedRow], Field(max_length=ROWS_AT_ONCE)] = Field(default_factory=list)
    stopped: bool = False


class RowOutcome(Contract):
    """What became of a row.

    Attributes:
        error_code: Of the error catalogue, where it failed.
        field: What was refused, by its column.
    """

    number: RowNumber
    external_id: ExternalId | None = None
    status: Literal["created", "updated", "unchanged", "failed"]
    error_code: Identifier | None = None
    field: Identifier | None = None


class RecordRowsInput(Contract):
    """Write down what became of the rows from ``first`` on."""

    account_id: Identifier
    import_id: Identifier
    first: Place
    outcomes: Annotated[list[RowOutcome], Field(max_length=ROWS_AT_ONCE)]


class RecordedRows(Contract):
    """How many rows were written down."""

    written: Count = 0
