"""Items of a backfill: read from JSONL or from a spreadsheet's CSV, and made whole.

A whole item has the defaults filled in, every field checked, and a key.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError

from domain.object_keys import BACKFILLS, PICTURES, folder_of
from engines.catalogue import ENGINES, OFFERED
from imaging.errors import ImageError
from imaging.remote_url import check_remote_url
from intake.complaints import complaints_of
from intake.job import SentGarment
from workflows.backfills.contracts import BackfillItem, ItemDefaults, ItemGarment
from workflows.contracts import MAX_GARMENTS, GarmentHints, ObjectRef

DELIMITERS = ",;\t"
GARMENT_COLUMNS = tuple(str(item.alias) for item in ItemGarment.model_fields.values())
ITEM_COLUMNS = ("key", "person", "engine")
_KNOWN = {*ITEM_COLUMNS, *GARMENT_COLUMNS}
_NUMBERED = re.compile(rf"({'|'.join(GARMENT_COLUMNS)})([2-{MAX_GARMENTS}])")
"""``productId2`` is the product of an item's second garment."""

DERIVED_KEY_DIGITS = 24

OWN_PICTURES = re.compile(rf"{BACKFILLS}[^/]+/{PICTURES}")

# fmt: off
FIRST_FIELDS = (
    "productId", "garmentImageUrl", "garmentBackImageUrl", "category", "garmentCategory", "size", "customerSize",
    "garmentState", "tuckState", "viewAngle",
)
# fmt: on
"""The fields of the first version's keys, in this order, whether given or not. Later fields count only if they are
given: an item that was done under an older version is not done again under a newer one."""

PICTURE_FIELDS = {"garment_image_url": "garmentImageUrl", "garment_back_image_url": "garmentBackImageUrl"}

WHICH_GARMENT = ("product_id", *PICTURE_FIELDS)
"""Defaults that count only if an item does not name its garment at all."""


@dataclass(frozen=True)
class Problem:
    """An error in a row, or in one of its fields.

    Attributes:
        row: Its number in an editor or a spreadsheet, or among the items of the input, from 1.
    """

    row: int
    sentence: str

    def __str__(self) -> str:
        return f"row {self.row}: {self.sentence}"


@dataclass
class Rows:
    """The items of a file, and the rows that are none."""

    items: list[tuple[int, BackfillItem]] = field(default_factory=list)  # each with the number of its row
    problems: list[Problem] = field(default_factory=list)


def read_rows(data: bytes) -> Rows:
    """Read a manifest in UTF-8: JSONL if it begins with a brace, else CSV with a header.

    Only the form is checked. A CSV row names an item's first garment by the fields of a request (``productId``,
    ``category``, …) and further ones by the same with a number behind (``productId2``).
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
    """A sentence for each wrong field, which it begins with."""
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
    # The one that splits the header into the most known names.
    names = text.partition("\n")[0]
    delimiter = max(DELIMITERS, key=lambda sign: sum(name.strip(' "\r') in _KNOWN for name in names.split(sign)))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
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
    if not _KNOWN.intersection(header):
        return [f"names none of the columns {', '.join((*ITEM_COLUMNS, *GARMENT_COLUMNS))}."]
    unknown = [name for name in header if name not in _KNOWN and not _NUMBERED.fullmatch(name)]
    twice = sorted({name for name in header if header.count(name) > 1})
    return [f"{name or 'a column without a name'}: is not a known field." for name in unknown] + [
        f"{name}: appears twice." for name in twice if name not in unknown
    ]


def _item_of(filled: dict[str, str]) -> dict[str, object]:
    """A row's cells as the item that JSON would hold."""
    item: dict[str, object] = {name: filled[name] for name in ITEM_COLUMNS if name in filled}
    first = {name: value for name, value in filled.items() if name in GARMENT_COLUMNS}
    further: dict[str, dict[str, str]] = {}
    for name, value in filled.items():
        if numbered := _NUMBERED.fullmatch(name):
            further.setdefault(numbered[2], {})[numbered[1]] = value
    return item | ({"garments": [first, *(further[number] for number in sorted(further))]} if further else first)


@dataclass
class WholeItems:
    """Items that can be carried out, and the problems of the others."""

    items: list[BackfillItem] = field(default_factory=list)
    """Each with a key, a person and at least one garment in ``garments``."""
    problems: list[Problem] = field(default_factory=list)


def whole_items(rows: Sequence[tuple[int, BackfillItem]], defaults: ItemDefaults) -> WholeItems:
    """Fill every item with the defaults and check it."""
    found = WholeItems()
    seen: dict[str, int] = {}
    for row, item in rows:
        try:
            made = _whole(item, defaults)
            key = made.key or ""
            if (earlier := seen.setdefault(key, row)) != row:
                like = "has the key of" if item.key else "is the same as"
                raise ValueError(f"key: {like} row {earlier}.")
        except ValueError as error:
            found.problems.append(Problem(row, str(error)))
        else:
            found.items.append(made)
    return found


def stored_pictures(items: Iterable[BackfillItem]) -> dict[str, str]:
    """Every object that items name, with the field that first does."""
    keys: dict[str, str] = {}
    for item in items:
        keys.setdefault(item.person or "", "person")
        for garment in item.garments:
            for name, alias in PICTURE_FIELDS.items():
                value: str | None = getattr(garment, name)
                if value is not None and value.startswith(BACKFILLS):
                    keys.setdefault(value, alias)
    return keys


def folders_used(items: Iterable[BackfillItem]) -> set[str]:
    """Ids of the backfills, or names of the folders, that hold pictures of the items."""
    return {folder_of(key, 1) for key in stored_pictures(items)}


def sent_garment(garment: ItemGarment, prefix: str, stored: dict[str, ObjectRef]) -> SentGarment:
    """A garment of a whole item as any caller would describe it; ``stored`` lies under the keys that it names."""
    front, back = (
        None if value is None else stored.get(value, value)
        for value in (garment.garment_image_url, garment.garment_back_image_url)
    )
    hints = GarmentHints.model_validate(garment, from_attributes=True)
    return SentGarment(garment.product_id, garment.category, hints, front, back, prefix)


def _whole(item: BackfillItem, defaults: ItemDefaults) -> BackfillItem:
    own = ItemGarment.model_validate(item.model_dump(include=set(ItemGarment.model_fields), by_alias=False))
    if item.garments and own != ItemGarment():
        raise ValueError("garments: stand beside fields of a single garment.")
    person = _own_object("person", item.person or defaults.person)
    engine = item.engine or defaults.engine
    if engine is not None and engine not in ENGINES:
        raise ValueError(f"engine: must be one of {', '.join(OFFERED)}, not {engine[:40]!r}.")
    garments = [
        _whole_garment(f"garments[{index}]." if item.garments else "", garment, defaults)
        for index, garment in enumerate(item.garments or [own])
    ]
    whole = BackfillItem(key=item.key, person=person, engine=engine, garments=garments)
    return whole if whole.key else whole.model_copy(update={"key": _derived_key(whole)})


def _whole_garment(prefix: str, garment: ItemGarment, defaults: ItemDefaults) -> ItemGarment:
    named = garment.product_id is not None or garment.garment_image_url is not None
    gaps = {
        name: getattr(defaults, name)
        for name in ItemGarment.model_fields
        if getattr(garment, name) is None and not (named and name in WHICH_GARMENT)
    }
    whole = garment.model_copy(update=gaps)
    if whole.product_id is None:
        for name, value in (("garmentImageUrl", whole.garment_image_url), ("category", whole.category)):
            if value is None:
                raise ValueError(f"{prefix}{name}: is needed unless productId is given.")
    given = {name: value for name in PICTURE_FIELDS if (value := getattr(whole, name)) is not None}
    pictures = {name: _stored_or_remote(f"{prefix}{PICTURE_FIELDS[name]}", value) for name, value in given.items()}
    return whole.model_copy(update=pictures)


def _stored_or_remote(name: str, value: str) -> str:
    if not value.startswith("https:"):
        return _own_object(name, value, "an https:// address or ")
    try:
        return check_remote_url(value)
    except ImageError as error:
        raise ValueError(f"{name}: {error.detail}.") from None


def _own_object(name: str, key: str | None, otherwise: str = "") -> str:
    if key is None:
        raise ValueError(f"{name}: is missing.")
    if not key.startswith(BACKFILLS) or ".." in key.split("/"):
        raise ValueError(f"{name}: must be {otherwise}the key of an object below {BACKFILLS}, not {key[:80]!r}.")
    return key


def _derived_key(item: BackfillItem) -> str:
    """A hash of the item's content; of an uploaded picture the name counts, not the backfill it was uploaded for."""
    garments = [dict.fromkeys(FIRST_FIELDS) | garment.model_dump(exclude_none=True) for garment in item.garments]
    fields = {**dict.fromkeys(FIRST_FIELDS), "person": item.person, "key": None, "garments": garments}
    fields |= {"engine": item.engine} if item.engine else {}
    content = OWN_PICTURES.sub("", json.dumps(fields, ensure_ascii=False, separators=(",", ":")))
    return "item-" + hashlib.sha256(content.encode()).hexdigest()[:DERIVED_KEY_DIGITS]
