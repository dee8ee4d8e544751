"""Importing a file of products: the CSV file, the import that goes on in the background, and its pages.

Every row is judged before anything is registered.
"""

from __future__ import annotations

import asyncio
import csv
import io
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, cast

import structlog
from fastapi import APIRouter, Depends, Request, Response
from pydantic import ValidationError

from api.dashboard.forms import PRODUCT_HINTS, RULES, SentForm
from api.dashboard.rendering import as_sentence, page, query_with, redirect
from api.errors import PageRefused
from api.json_body import PictureReader, refusal
from api.parts import ApiParts, PageDecoders, Parts
from api.products.schemas import CreateProduct
from api.products.service import read_product, refusal_named
from api.routes import AccountId, RoutePolicy
from domain.errors import TryOnError
from domain.object_keys import import_page_key, import_plan_key, import_prefix, imports_prefix
from domain.products import LONGEST_EXTERNAL_ID, began_at, new_registration_id
from gateway.calls import AlreadyRunningError, TemporalAwayError
from imaging.data_uri import is_data_uri
from imaging.limits import ImageLimits
from intake.pages import CONTENT_TYPE, PAGE_ROWS, ImportPlan, SkippedRow, pages_of, read_outcomes
from runtime.object_store import ObjectMissingError, ObjectStoreUnavailableError
from workflows.contracts import BACK, FRONT
from workflows.products.contracts import ImportProductsInput, ImportRow, RowOutcome

EXTERNAL_ID = "externalId"

COLUMNS = [str(item.alias) for item in CreateProduct.model_fields.values()]

NEEDED = [EXTERNAL_ID, "name", "category", FRONT]

DELIMITERS = ",;"

HOW_TO_SAVE = "in Excel choose Save as, then CSV UTF-8"

UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")

NO_TEXTS = (b"%PDF-", b"PK\x03\x04", b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"RIFF")
"""How PDF files, workbooks and pictures begin."""

MOST_ROWS = 5000
"""Of one file; a larger one is imported in parts."""

MOST_TOLD = 5
"""Imports of late that an owner is reminded of."""

log = structlog.get_logger(__name__)


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
    """The one of comma and semicolon that parts the header into more names that are known."""
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


@dataclass(frozen=True)
class Row:
    """A row of a file and what became of it.

    Attributes:
        status: ``created``, ``updated``, ``unchanged``, ``failed`` or ``skipped``.
        sentence: Why it failed or was skipped; else empty.
    """

    number: int
    external_id: str
    status: str
    sentence: str = ""


@dataclass(frozen=True)
class Import:
    """An import as it stands.

    Attributes:
        done: Rows that it has been through, of those that can be registered.
        state: ``running``, ``done``, or ``stopped`` before its end.
        rows: Every row that it has been through, and those that were skipped, in the file's order.
    """

    import_id: str
    plan: ImportPlan
    done: int
    state: str
    rows: list[Row]

    @property
    def counts(self) -> Counter[str]:
        """How many rows came to what."""
        return Counter(row.status for row in self.rows)


class ImportService:
    """The rules of importing, for one account."""

    def __init__(self, parts: ApiParts, account_id: uuid.UUID) -> None:
        self.account_id = account_id
        self.limits = parts.limits
        self._parts = parts
        self._account = str(account_id)

    async def begin(self, file: ProductFile, name: str) -> str:
        """Store the rows and have them registered; those that are bad are left out and told about.

        Returns:
            The import's id.

        Raises:
            AlreadyRunningError: Another one is under way; nothing was begun.
            TryOnError: ``storage_unavailable``; the import may have begun, and is among the recent ones then.
        """
        import_id, store = new_registration_id(), self._parts.store
        plan = ImportPlan(
            name=name[:200],
            created_at=datetime.now(UTC),
            rows=len(file.good),
            skipped=file.bad,
            ignored_columns=file.ignored_columns,
        )
        plan_key = import_plan_key(self._account, import_id)
        try:
            for number, rows in enumerate(pages_of(file.good, PAGE_ROWS)):
                await store.put(import_page_key(self._account, import_id, "rows", number), rows, CONTENT_TYPE)
            await store.put(plan_key, plan.model_dump_json().encode(), "application/json")
        except BaseException:
            await self._forget(import_id)
            raise
        wanted = ImportProductsInput(account_id=self._account, import_id=import_id, rows=len(file.good))
        try:
            await self._parts.temporal.import_products(wanted)
        except AlreadyRunningError:
            # No other end of it says that nothing was begun, and a run that was needs its rows.
            await self._forget(import_id)
            raise
        except TemporalAwayError as error:
            log.warning("an import cannot be started", reason=str(error)[:200])
            raise TryOnError("storage_unavailable") from error
        return import_id

    async def find(self, import_id: str) -> Import:
        """An import of the last days.

        Raises:
            PageRefused: It is unknown, forgotten or another account's.
        """
        try:
            plan = await self._plan(import_id) if began_at(import_id) else None
        except ObjectMissingError:
            plan = None
        if plan is None:
            raise PageRefused(404, "There is no such import. Reports are kept for seven days.")
        pages = range((plan.rows + PAGE_ROWS - 1) // PAGE_ROWS)
        read = await asyncio.gather(*(self._rows_done(import_id, number) for number in pages))
        rows = [row for of_page in read for row in of_page]
        done = len(rows)
        rows += [Row(row.number, row.external_id, "skipped", row.sentence) for row in plan.skipped]
        state = await self._state(import_id, whole=done >= plan.rows)
        return Import(import_id, plan, done, state, sorted(rows, key=lambda row: row.number))

    async def recent(self) -> list[tuple[str, ImportPlan]]:
        """Imports of late by id, the newest first."""
        plans = []
        for import_id in (await self._ids())[:MOST_TOLD]:
            try:
                plans.append((import_id, await self._plan(import_id)))
            except ObjectMissingError:
                continue  # just forgotten
        return plans

    async def _forget(self, import_id: str) -> None:
        """What was not begun leaves nothing behind."""
        try:
            await self._parts.store.delete_prefix(import_prefix(self._account, import_id))
        except ObjectStoreUnavailableError:
            log.warning("rows of a refused import are left behind", import_id=import_id)

    async def _ids(self) -> list[str]:
        prefix = imports_prefix(self._account)
        keys = await self._parts.store.list_keys(prefix)
        return sorted({key.removeprefix(prefix).partition("/")[0] for key in keys}, reverse=True)

    async def _plan(self, import_id: str) -> ImportPlan:
        return ImportPlan.model_validate_json(await self._parts.store.get(import_plan_key(self._account, import_id)))

    async def _rows_done(self, import_id: str, page: int) -> list[Row]:
        try:
            data = await self._parts.store.get(import_page_key(self._account, import_id, "outcomes", page))
        except ObjectMissingError:
            return []
        return [
            Row(
                outcome.number,
                outcome.external_id or "",
                outcome.status,
                refusal_named(outcome.error_code, outcome.field).sentence if outcome.status == "failed" else "",
            )
            for outcome in read_outcomes(data, RowOutcome).values()
        ]

    async def _state(self, import_id: str, *, whole: bool) -> str:
        """Whether an import goes on. Its run ends a moment after its last row; until then another file is refused."""
        try:
            under_way = await self._parts.temporal.running_import(self._account)
            running = under_way == import_id or (under_way == "" and not whole)
        except TemporalAwayError:
            running = not whole
        if running:
            return "running"
        return "done" if whole else "stopped"


LARGEST_FILE_BYTES = 5 * 1024 * 1024
"""`MOST_ROWS` rows of a thousand characters."""

ROWS_SHOWN = 100
MOST_PROBLEMS = 50
"""Bad rows that are shown of a file of which nothing can be registered; more than anybody mends at once."""

EXAMPLE = {
    "externalId": "SKU-1001",
    "name": "Linen shirt",
    "category": "upper_body",
    "garmentCategory": "shirt",
    "garmentImageUrl": "https://shop.example.com/linen-shirt-front.jpg",
    "garmentBackImageUrl": "https://shop.example.com/linen-shirt-back.jpg",
    "size": "M",
}

SUCH_AS = {"garmentCategory": "its kind, such as t-shirt or jeans; ", "size": "such as M, 38 or W32/L34; "}


def _note(hint: str) -> str:
    values = [value for value, _ in RULES[hint]["choices"]]
    return " or ".join(values) or f"{SUCH_AS.get(hint, '')}at most {RULES[hint]['longest']} characters"


COLUMN_NOTES = {
    "externalId": "your own name for it, such as a SKU; at most 128 characters, one of a kind",
    "name": "for people; at most 200 characters",
    "category": "what it covers: upper_body, lower_body or full_body",
    "garmentImageUrl": "picture of the front: an https:// address",
    "garmentBackImageUrl": "picture of the back: an https:// address",
    **{name: _note(name) for name in PRODUCT_HINTS},
}
"""What each column of a file may hold, the needed ones first."""

PROBLEMS = ("failed", "skipped")


async def _imports(parts: Parts, account_id: AccountId) -> ImportService:
    return ImportService(parts, account_id)


Imports = Annotated[ImportService, Depends(_imports)]

router = APIRouter()


@router.get("/products/import")
async def show_import(request: Request, imports: Imports) -> Response:
    """Choose a file, and what became of those of late."""
    return await _import_page(request, imports)


@router.get("/products/import/template.csv")
async def download_template() -> Response:
    """A file with every column and one row as an example."""
    order = [*NEEDED, *(name for name in COLUMNS if name not in NEEDED)]
    return _csv("products.csv", [order, [EXAMPLE.get(name, "") for name in order]])


@router.post("/products/import")
@RoutePolicy(body_bytes=LARGEST_FILE_BYTES)
async def import_file(request: Request, form: SentForm, decoders: PageDecoders, imports: Imports) -> Response:
    """Judge every row, and have the good ones registered."""
    upload = form.file("file")
    if upload is None:
        return await _import_page(request, imports, "Choose a file that is not empty.")
    try:
        found = await decoders.in_thread(imports.account_id, read_product_file, upload.data, imports.limits, MOST_ROWS)
    except ValueError as error:
        return await _import_page(request, imports, as_sentence(error))
    if not found.good:
        return await _import_page(request, imports, "None of the rows can be imported.", bad=found.bad)
    try:
        import_id = await imports.begin(found, upload.filename)
    except AlreadyRunningError:
        sentence = "Another file is being imported. Wait until it has finished."
        return await _import_page(request, imports, sentence, status=409)
    return redirect(f"/products/import/{import_id}")


@router.get("/products/import/{importId}")
async def show_report(request: Request, imports: Imports, importId: str) -> Response:
    """How far an import is, and what became of each row."""
    found = await imports.find(importId)
    query, path = request.query_params, f"/products/import/{importId}"
    problems = query.get("show") == "problems"
    rows = [row for row in found.rows if row.status in PROBLEMS] if problems else found.rows
    first = _number(query.get("from", ""))
    return page(
        request,
        "products/report.html",
        found=found,
        counts=found.counts,
        imported=sum(found.counts[status] for status in ("created", "updated", "unchanged")),
        rows=rows[first : first + ROWS_SHOWN],
        problems=problems,
        earlier=query_with(query, path, **{"from": max(0, first - ROWS_SHOWN)}) if first else None,
        later=query_with(query, path, **{"from": first + ROWS_SHOWN}) if len(rows) > first + ROWS_SHOWN else None,
    )


@router.get("/products/import/{importId}/report.csv")
async def download_report(imports: Imports, importId: str) -> Response:
    """The same as a file."""
    found = await imports.find(importId)
    rows = [[row.number, row.external_id, row.status, row.sentence] for row in found.rows]
    return _csv("import-report.csv", [["row", "externalId", "result", "reason"], *rows])


async def _import_page(
    request: Request,
    imports: ImportService,
    error: str = "",
    *,
    bad: Sequence[SkippedRow] = (),
    status: int = 422,
) -> Response:
    return page(
        request,
        "products/import.html",
        status if error else 200,
        error=error,
        bad=bad[:MOST_PROBLEMS],
        more=max(0, len(bad) - MOST_PROBLEMS),
        recent=await imports.recent(),
        most_rows=MOST_ROWS,
        largest=LARGEST_FILE_BYTES,
        columns=COLUMN_NOTES,
        needed=NEEDED,
    )


def _csv(name: str, rows: Iterable[Iterable[object]]) -> Response:
    """A file that spreadsheets open as it is meant: with a byte order mark, and no cell that would be a formula."""
    text = io.StringIO()
    csv.writer(text).writerows([[_plain(cell) for cell in row] for row in rows])
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text.getvalue().encode("utf-8-sig"), media_type="text/csv", headers=headers)


def _plain(cell: object) -> str:
    text = str(cell)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _number(text: str) -> int:
    return min(int(text), MOST_ROWS * 2) if text.isascii() and text.isdecimal() and len(text) < 9 else 0
