"""CSV files of products: every row is judged before anything is registered."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import cast

from pydantic import ValidationError

from api.json_body import PictureReader, refusal
from api.products.schemas import CreateProduct
from api.products.service import BACK, FRONT, read_product
from domain.errors import TryOnError
from domain.products import LONGEST_EXTERNAL_ID
from imaging.data_uri import is_data_uri
from imaging.limits import ImageLimits
from intake.pages import SkippedRow
from workflows.products.contracts import ImportRow

EXTERNAL_ID = "externalId"

COLUMNS = [str(item.alias) for item in CreateProduct.model_fields.values()]

NEEDED = [EXTERNAL_ID, "name", "category", FRONT]

DELIMITERS = ",;"

HOW_TO_SAVE = "in Excel choose Save as, then CSV UTF-8"

UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")

NO_TEXTS = (b"%PDF-", b"PK\x03\x04", b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"RIFF")
"""How PDF files, workbooks and pictures begin."""


@dataclass
class ProductFile:
    """What a file holds."""

    good: list[ImportRow] = field(default_factory=list)
    bad: list[SkippedRow] = field(default_factory=list)
    ignored_columns: list[str] = field(default_factory=list)


def read_product_file(data: bytes, limits: ImageLimits, most_rows: int | None = None) -> ProductFile:
    """Read a CSV file in UTF-8, with or without a byte order mark, with commas or semicolons.

    Args:
        data: The file.
        limits: What its pictures will have to meet.
        most_rows: How many rows it may have, empty ones apart.

    Raises:
        ValueError: It is not such a file, a column is missing, or there are too many rows.
    """
    rows = _rows(data)
    header = [name.strip() for name in next(rows, (1, []))[1]]
    _check_header(header)
    found = ProductFile(ignored_columns=[name for name in header if name not in COLUMNS])
    seen: dict[str, int] = {}
    for number, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        if most_rows is not None and len(found.good) + len(found.bad) == most_rows:
            raise ValueError(f"the file has more than {most_rows} rows; import it in parts")
        try:
            row = _read_row(number, header, cells, limits)
            if (earlier := seen.setdefault(row.fields.external_id or "", number)) != number:
                raise TryOnError("field_invalid", fields={EXTERNAL_ID: f"already used in row {earlier}."})
        except TryOnError as error:
            said = dict(zip(header, cells, strict=False)).get(EXTERNAL_ID, "").strip()
            found.bad.append(SkippedRow(number=number, sentence=error.sentence, external_id=said[:LONGEST_EXTERNAL_ID]))
        else:
            found.good.append(row)
    return found


def _rows(data: bytes) -> Iterator[tuple[int, list[str]]]:
    """Rows with their numbers, the header first."""
    text, number = _text(data), 0
    try:
        for number, cells in enumerate(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)), 1):
            yield number, cells
    except csv.Error as error:
        raise ValueError(f"row {number + 1} cannot be read: {error}") from None


def _text(data: bytes) -> str:
    if data.startswith(NO_TEXTS) or (b"\0" in data and not data.startswith(UTF_16_MARKS)):
        raise ValueError(f"the file is no text, but something like a workbook, a PDF or a picture; {HOW_TO_SAVE}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"the file is not UTF-8 (byte {error.start}); {HOW_TO_SAVE}") from None
    if not text.strip():
        raise ValueError("the file is empty")
    return text


def _delimiter(text: str) -> str:
    """Whichever of comma and semicolon parts the header into more names that are known."""
    first_line = text.partition("\n")[0]
    return max(DELIMITERS, key=lambda sign: sum(name.strip(' "\r') in COLUMNS for name in first_line.split(sign)))


def _check_header(header: Sequence[str]) -> None:
    missing = [name for name in NEEDED if name not in header]
    if missing:
        raise ValueError(f"missing columns: {', '.join(missing)}; the first row must name them")
    twice = sorted({name for name in header if header.count(name) > 1 and name in COLUMNS})
    if twice:
        raise ValueError(f"there are two columns {', '.join(twice)}")


def _read_row(number: int, header: Sequence[str], cells: Sequence[str], limits: ImageLimits) -> ImportRow:
    if len(cells) > len(header):
        raise TryOnError("field_invalid", f"there are {len(cells)} cells and {len(header)} columns.")
    values = {name: cell.strip() for name, cell in zip(header, cells, strict=False) if name in COLUMNS and cell.strip()}
    if missing := [name for name in NEEDED if name not in values]:
        raise TryOnError("field_invalid", fields=dict.fromkeys(missing, "required."))
    inline = [name for name in (FRONT, BACK) if is_data_uri(values.get(name, ""))]
    if inline:
        raise TryOnError("field_invalid", fields=dict.fromkeys(inline, "must be an https:// address in a file."))
    try:
        product = CreateProduct.model_validate(values)
    except ValidationError as error:
        raise refusal(error.errors(include_url=False, include_input=False)) from None
    read = read_product(product, PictureReader(limits))
    front, back = cast("str", read.front), cast("str | None", read.back)
    return ImportRow(number=number, fields=read.fields, clear=read.clear, front=front, back=back)
