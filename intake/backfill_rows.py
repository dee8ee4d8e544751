"""Items of a backfill from a file: JSONL, or CSV as a spreadsheet writes it. Only the form is judged here."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import ValidationError

from intake.complaints import complaints_of
from workflows.backfills.contracts import BackfillItem, ItemGarment
from workflows.contracts import MAX_GARMENTS

DELIMITERS = ",;\t"
GARMENT_COLUMNS = tuple(str(item.alias) for item in ItemGarment.model_fields.values())
ITEM_COLUMNS = ("key", "person")
_NUMBERED = re.compile(rf"({'|'.join(GARMENT_COLUMNS)})([2-{MAX_GARMENTS}])")
"""``productId2`` is the product of an item's second garment."""


@dataclass(frozen=True)
class Problem:
    """What is wrong with a row, or with a field of it.

    Attributes:
        row: As an editor or a spreadsheet numbers it, from 1; of items in the input itself their place, from 1.
    """

    row: int
    sentence: str

    def __str__(self) -> str:
        return f"row {self.row}: {self.sentence}"


@dataclass
class Rows:
    """What a file holds."""

    items: list[tuple[int, BackfillItem]] = field(default_factory=list)
    """Each with the number of its row."""
    problems: list[Problem] = field(default_factory=list)


def read_rows(data: bytes) -> Rows:
    """Read a manifest in UTF-8; one whose first line begins with a brace is JSONL, any other CSV with a header.

    A CSV row names an item's first garment by the fields of a request (``productId``, ``category``, …) and further
    ones by the same with a number behind (``productId2``).
    """
    rows = Rows()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        rows.problems.append(Problem(data[: error.start].count(b"\n") + 1, "is not UTF-8."))
        return rows
    if not text.strip():
        return rows
    is_json = text.lstrip().startswith("{")
    for number, value in _json_lines(text, rows.problems) if is_json else _csv_rows(text, rows.problems):
        try:
            rows.items.append((number, BackfillItem.model_validate(value)))
        except ValidationError as error:
            rows.problems += [Problem(number, sentence) for sentence in sentences_of(error)]
    return rows


def sentences_of(error: ValidationError) -> list[str]:
    """One for each field that is wrong, which it begins with."""
    complaints = complaints_of(error.errors(include_url=False, include_input=False))
    return [f"{name}: {said}" if name else said for name, said in complaints.items()]


def _json_lines(text: str, problems: list[Problem]) -> Iterator[tuple[int, object]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                problems.append(Problem(number, f"is not JSON ({error})."))


def _csv_rows(text: str, problems: list[Problem]) -> Iterator[tuple[int, object]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        header = [name.strip() for name in next(reader, [])]
        wrong = _wrong_columns(header)
        problems += [Problem(1, sentence) for sentence in wrong]
        for cells in reader if not wrong else ():
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) > len(header):
                problems.append(Problem(reader.line_num, f"has {len(cells)} cells for {len(header)} columns."))
                continue
            filled = {name: cell.strip() for name, cell in zip(header, cells, strict=False) if cell.strip()}
            yield reader.line_num, _item_of(filled)
    except csv.Error as error:
        problems.append(Problem(reader.line_num, f"is not CSV ({error})."))


def _wrong_columns(header: list[str]) -> list[str]:
    known = {*ITEM_COLUMNS, *GARMENT_COLUMNS}
    if not known.intersection(header):
        return [f"names none of the columns {', '.join((*ITEM_COLUMNS, *GARMENT_COLUMNS))}."]
    unknown = [name for name in header if name not in known and not _NUMBERED.fullmatch(name)]
    twice = sorted({name for name in header if header.count(name) > 1})
    return [f"{name or 'a column without a name'}: is not a known field." for name in unknown] + [
        f"{name}: appears twice." for name in twice if name not in unknown
    ]


def _item_of(filled: dict[str, str]) -> dict[str, object]:
    """A row's cells as the item that JSON would hold."""
    first = {name: value for name, value in filled.items() if name in GARMENT_COLUMNS}
    further: dict[str, dict[str, str]] = {}
    for name, value in filled.items():
        numbered = _NUMBERED.fullmatch(name)
        if numbered:
            further.setdefault(numbered[2], {})[numbered[1]] = value
    item: dict[str, object] = {name: filled[name] for name in ITEM_COLUMNS if name in filled}
    if not further:
        return item | first
    return item | {"garments": [first, *(further[number] for number in sorted(further))]}


def _delimiter(text: str) -> str:
    """Whichever parts the header into more names that are known."""
    first_line = text.partition("\n")[0]
    known = {*ITEM_COLUMNS, *GARMENT_COLUMNS}
    return max(DELIMITERS, key=lambda sign: sum(name.strip(' "\r') in known for name in first_line.split(sign)))
