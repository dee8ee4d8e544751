"""Every model that crosses Temporal for a product or a file of products; see `workflows.contracts`.

The rows of a file lie in the object store; a few at a time pass through here.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from engines.hints import ProductHints
from workflows.contracts import BACK, FRONT, Category, Contract, Hint, Identifier, ObjectRef, Url

ExternalId = Annotated[str, Field(max_length=128)]
ObjectKey = Annotated[str, Field(max_length=512)]

CLEARABLE = ("external_id", *ProductHints.model_fields, "back")
"""What a product need not have, by the name of its column."""

Clearable = Annotated[Identifier, WithJsonSchema({"type": "string", "enum": [*CLEARABLE]})]
Cleared = Annotated[list[Clearable], Field(max_length=len(CLEARABLE))]


class ProductFields(ProductHints, Contract):
    """Fields of a product; what is not given stays as it is."""

    external_id: ExternalId | None = None
    name: Annotated[str, Field(max_length=200)] | None = None
    category: Category | None = None
    size: Hint | None = None
    status: Literal["active", "archived"] | None = None


class PictureSource(Contract):
    """A picture as it came in a field: stored already, or at an address that is still to be fetched."""

    field: Identifier
    stored: ObjectRef | None = None
    url: Url | None = None


class RegisterProductInput(Contract):
    """Add a product, or change one.

    Attributes:
        registration_id: See `domain.products`.
        product_id: The product to change. Without it, one is added, or that with the same external id is changed.
        clear: Which fields become empty.
    """

    registration_id: Identifier
    account_id: Identifier
    product_id: Identifier | None = None
    fields: ProductFields = ProductFields()
    clear: Cleared = Field(default_factory=list)
    front: PictureSource | None = None
    back: PictureSource | None = None


class CopyPicturesInput(Contract):
    """Get a product's pictures, upright and of a size that engines work with."""

    registration_id: Identifier
    account_id: Identifier
    front: PictureSource | None = None
    back: PictureSource | None = None


class CopiedPictures(Contract):
    """Pictures that are ours now."""

    front: ObjectRef | None = None
    back: ObjectRef | None = None

    @property
    def keys(self) -> list[str]:
        """Where they lie."""
        return [picture.key for picture in (self.front, self.back) if picture is not None]


class SaveProductInput(Contract):
    """Write the product's row."""

    registration_id: Identifier
    account_id: Identifier
    product_id: Identifier | None = None
    fields: ProductFields = ProductFields()
    clear: Cleared = Field(default_factory=list)
    pictures: CopiedPictures = CopiedPictures()


class SavedProduct(Contract):
    """What a registration came to: whether it added the product or changed it, and where its pictures lie."""

    product_id: Identifier
    revision: Annotated[int, Field(ge=1)]
    created: bool = False
    changed: bool = True
    picture_keys: Annotated[list[ObjectKey], Field(max_length=2)] = Field(default_factory=list)


class CleanUpRegistrationInput(Contract):
    """Delete what a registration no longer needs; the product refers, or may refer, to what is kept."""

    registration_id: Identifier
    account_id: Identifier
    keep: Annotated[list[ObjectKey], Field(max_length=2)] = Field(default_factory=list)


ROWS_AT_ONCE = 8
"""Rows that are registered side by side; their addresses alone may take half of what a contract may."""

Count = Annotated[int, Field(ge=0)]
Place = Count  # a row's place among those of its file that can be registered, from 0

RowNumber = Annotated[int, Field(ge=1)]  # a row's number as a spreadsheet shows it, the header being row 1


class ImportRow(Contract):
    """A product as a file describes it: the whole product, by the name that the file gives it."""

    number: RowNumber
    fields: ProductFields
    clear: Cleared = Field(default_factory=list)
    front: Url
    back: Url | None = None

    def registration(self, registration_id: str, account_id: str) -> RegisterProductInput:
        """What the workflow that registers the row is started with."""
        return self.part(
            RegisterProductInput,
            registration_id=registration_id,
            account_id=account_id,
            front=PictureSource(field=FRONT, url=self.front),
            back=None if self.back is None else PictureSource(field=BACK, url=self.back),
        )


class StartedRow(Contract):
    """A row that is taken up; the id of its registration is made as late as this, since it tells when the row began."""

    registration_id: Identifier
    row: ImportRow


class ImportReport(Contract):
    """What became of the rows; the rest was left where the account is blocked or erased, or the file is gone."""

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
    """Rows to be registered; no more may be once they are ``stopped``."""

    rows: Annotated[list[StartedRow], Field(max_length=ROWS_AT_ONCE)] = Field(default_factory=list)
    stopped: bool = False


class RowOutcome(Contract):
    """What became of a row; where it failed, why, and the column that was refused."""

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
