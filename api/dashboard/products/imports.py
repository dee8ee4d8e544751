"""The pages of importing a file of products: transport only."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from fastapi import APIRouter, Request, Response

from api.dashboard.forms import PRODUCT_HINTS, RULES, PageRefused, read_form
from api.dashboard.rendering import page, query_with, redirect
from api.dashboard.visitor import visitor_of
from api.parts import parts_of
from api.products.imports import (
    COLUMNS,
    MOST_ROWS,
    NEEDED,
    Import,
    ImportService,
    read_product_file,
)
from api.routes import RoutePolicy
from gateway.calls import AlreadyRunningError
from imaging.decoder_pool import DecoderPool
from intake.pages import SkippedRow

LARGEST_FILE_BYTES = 5 * 1024 * 1024
"""`MOST_ROWS` rows of a thousand characters."""

PAGE_ROWS = 100
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
SHOWN = {"": "All rows", "problems": "Failed and skipped"}

router = APIRouter()


@router.get("/products/import")
async def show_import(request: Request) -> Response:
    """Choose a file, and what became of those of late."""
    return await _import_page(request)


@router.get("/products/import/template.csv")
async def download_template() -> Response:
    """A file with every column and one row as an example."""
    order = [*NEEDED, *(name for name in COLUMNS if name not in NEEDED)]
    return _csv("products.csv", [order, [EXAMPLE.get(name, "") for name in order]])


@router.post("/products/import")
@RoutePolicy(body_bytes=LARGEST_FILE_BYTES)
async def import_file(request: Request) -> Response:
    """Judge every row, and have the good ones registered."""
    form, parts = await read_form(request), parts_of(request)
    upload = form.file("file")
    if upload is None:
        return await _import_page(request, "Choose a file that is not empty.")
    try:
        decoders: DecoderPool = request.app.state.page_decoders
        found = await decoders.in_thread(
            visitor_of(request).account_id, read_product_file, upload.data, parts.limits, MOST_ROWS
        )
    except ValueError as error:
        sentence = str(error)
        return await _import_page(request, f"{sentence[:1].upper()}{sentence[1:]}.")
    if not found.good:
        return await _import_page(request, "None of the rows can be imported.", bad=found.bad)
    try:
        import_id = await _service(request).begin(found, upload.filename)
    except AlreadyRunningError:
        return await _import_page(request, "Another file is being imported. Wait until it has finished.", status=409)
    return redirect(f"/products/import/{import_id}")


@router.get("/products/import/{importId}")
async def show_report(request: Request, importId: str) -> Response:
    """How far an import is, and what became of each row."""
    found = await _found(request, importId)
    query = request.query_params
    problems = query.get("show") == "problems"
    rows = [row for row in found.rows if row.status in PROBLEMS] if problems else found.rows
    first = _number(query.get("from", ""))
    return page(
        request,
        "products/report.html",
        found=found,
        counts=found.counts,
        imported=sum(found.counts[status] for status in ("created", "updated", "unchanged")),
        rows=rows[first : first + PAGE_ROWS],
        problems=problems,
        earlier=query_with(query, **{"from": max(0, first - PAGE_ROWS)}) if first else None,
        later=query_with(query, **{"from": first + PAGE_ROWS}) if len(rows) > first + PAGE_ROWS else None,
    )


@router.get("/products/import/{importId}/report.csv")
async def download_report(request: Request, importId: str) -> Response:
    """The same as a file."""
    found = await _found(request, importId)
    rows = [[row.number, row.external_id, row.status, row.sentence] for row in found.rows]
    return _csv("import-report.csv", [["row", "externalId", "result", "reason"], *rows])


async def _import_page(
    request: Request, error: str = "", *, bad: list[SkippedRow] | None = None, status: int = 422
) -> Response:
    return page(
        request,
        "products/import.html",
        status if error else 200,
        error=error,
        bad=(bad or [])[:MOST_PROBLEMS],
        more=max(0, len(bad or []) - MOST_PROBLEMS),
        recent=await _service(request).recent(),
        most_rows=MOST_ROWS,
        largest=LARGEST_FILE_BYTES,
        columns=COLUMN_NOTES,
        needed=NEEDED,
    )


async def _found(request: Request, import_id: str) -> Import:
    found = await _service(request).find(import_id)
    if found is None:
        raise PageRefused(404, "There is no such import. Reports are kept for seven days.")
    return found


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


def _service(request: Request) -> ImportService:
    return ImportService(parts_of(request), visitor_of(request).account_id)
