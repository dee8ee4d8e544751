"""Importing a file in the browser, with a CPU worker behind it where rows are registered."""

from __future__ import annotations

import asyncio
import contextlib
import csv
import io
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import httpx
import pytest
from temporalio.client import Client
from temporalio.service import RPCError

from api.dashboard.forms import RULES
from api.products import imports as pages
from api.products.imports import ImportService
from domain import accounts
from gateway.calls import TemporalAwayError
from gateway.temporal import TemporalGateway
from tests.api.catalogue import SHOP, Catalogue, opened_catalogue
from tests.api.conftest import Api, OpenApi
from tests.api.dashboard.browser import Browser, signed_in, words
from tests.factories import create_caller
from tests.pictures import encoded, photo
from workflows.products.contracts import ImportProductsInput
from workflows.queues import import_workflow_id

HEADER = "externalId,name,category,garmentImageUrl,size"


def line(number: int, picture: int = 0, name: str = "Shirt") -> str:
    return f"SKU-{number},{name},upper_body,{SHOP}{picture}.jpg,M"


async def upload(browser: Browser, *lines: str, header: str = HEADER) -> httpx.Response:
    data = "\n".join([header, *lines]).encode()
    return await browser.post("/products/import", files={"file": ("spring.csv", data, "text/csv")})


async def report_of(browser: Browser, answer: httpx.Response) -> httpx.Response:
    """The report, once there is nothing left to do."""
    async with asyncio.timeout(120):
        while True:
            shown = await browser.follow(answer)
            assert shown.status_code == 200, shown.text
            if 'data-state="running"' not in shown.text:
                return shown
            await asyncio.sleep(0.1)


async def results(browser: Browser, answer: httpx.Response) -> dict[int, tuple[str, str, str]]:
    """Name, result and reason by row, out of the report as a file."""
    path = answer.headers["Location"].removeprefix("/dashboard")
    text = (await browser.get(f"{path}/report.csv")).content.decode("utf-8-sig")
    return {int(row[0]): (row[1], row[2], row[3]) for row in list(csv.reader(io.StringIO(text)))[1:]}


@pytest.fixture
async def catalogue(open_api: OpenApi, temporal: Client) -> AsyncIterator[Catalogue]:
    async with opened_catalogue(open_api, temporal) as opened:
        opened.shop.update({f"{SHOP}{seed}.jpg": encoded(photo(seed=seed)) for seed in range(3)})
        yield opened


async def test_rows_are_created_updated_and_left_alone(catalogue: Catalogue) -> None:
    browser = await signed_in(catalogue.api)
    count = 2 * 8 + 1  # three rounds
    answer = await upload(browser, *[line(number, number % 3) for number in range(count)])
    shown = await report_of(browser, answer)
    assert f"Done {count} of {count} rows imported. Created {count} Updated 0 Unchanged 0 Failed 0 Skipped 0" in words(
        shown
    )
    assert "spring.csv" in words(await browser.get("/products/import"))
    rows = [line(0), line(1, 2), line(2, 2, "Blouse"), line(3, 99), "SKU-4,,upper_body,x,M", *map(line, range(60, 63))]
    answer = await upload(browser, *rows)
    await report_of(browser, answer)
    assert await results(browser, answer) == {
        2: ("SKU-0", "unchanged", ""),
        3: ("SKU-1", "updated", ""),
        4: ("SKU-2", "updated", ""),
        5: ("SKU-3", "failed", "garmentImageUrl: The garment picture could not be downloaded."),
        6: ("SKU-4", "skipped", "name: required."),
        **{row: (f"SKU-{row + 53}", "created", "") for row in (7, 8, 9)},
    }
    path = answer.headers["Location"].removeprefix("/dashboard")
    problems = words(await browser.get(f"{path}?show=problems"))
    assert "could not be downloaded" in problems
    assert "SKU-60" not in problems
    assert len(await catalogue.ids(limit=100)) == count + 3


async def test_a_blocked_account_gets_no_further(catalogue: Catalogue) -> None:
    browser = await signed_in(catalogue.api)
    service = pages.ImportService(catalogue.api.parts, catalogue.api.caller.account_id)
    await catalogue.api.parts.database.write(
        accounts.block_account, account_id=catalogue.api.caller.account_id, reason="Unpaid.", now=datetime.now(UTC)
    )
    data = "\n".join([HEADER, line(0)]).encode()
    found = pages.read_product_file(data, catalogue.api.parts.limits)
    import_id = await service.begin(found, "x.csv")
    async with asyncio.timeout(60):
        while (standing := await service.find(import_id)) is None or standing.state == "running":
            await asyncio.sleep(0.1)
    assert (standing.state, standing.done) == ("stopped", 0)
    assert "Stopped 1 row was left" in words(await browser.get(f"/products/import/{import_id}"))


@pytest.fixture
async def waiting(api: Api) -> AsyncIterator[Browser]:
    """A browser where no worker registers anything; its imports are ended."""
    browser = await signed_in(api)
    yield browser
    await browser.client.aclose()
    handle = api.parts.temporal.client.get_workflow_handle(import_workflow_id(str(api.caller.account_id)))
    with contextlib.suppress(RPCError):  # it may have none, or one that is over
        await handle.terminate()


async def test_one_file_at_a_time(api: Api, waiting: Browser) -> None:
    first = await upload(waiting, line(0))
    shown = await waiting.follow(first)
    assert "Importing" in words(shown)
    kept = set(api.store.objects)
    second = await upload(waiting, line(1))
    assert (second.status_code, "Another file is being imported" in words(second)) == (409, True)
    assert set(api.store.objects) == kept, "nothing of it is left"


async def test_an_import_goes_on_while_another_file_is_tried(
    api: Api, waiting: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    await upload(waiting, line(0))
    service, start = ImportService(api.parts, api.caller.account_id), TemporalGateway.import_products
    states = dict[str, str]()

    async def looked_at(temporal: TemporalGateway, wanted: ImportProductsInput) -> None:
        states.update({import_id: (await service.find(import_id)).state for import_id, _ in await service.recent()})
        states[wanted.import_id] += ", and not begun"
        await start(temporal, wanted)

    monkeypatch.setattr(TemporalGateway, "import_products", looked_at)
    assert (await upload(waiting, line(1))).status_code == 409
    assert sorted(states.values()) == ["running", "stopped, and not begun"]


async def test_a_start_without_an_answer_is_no_refusal(
    api: Api, waiting: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run has begun: its rows stay, and the import is found among the recent ones."""

    start = TemporalGateway.import_products

    async def lost_start(temporal: TemporalGateway, wanted: ImportProductsInput) -> None:
        await start(temporal, wanted)
        raise TemporalAwayError("connection reset")

    monkeypatch.setattr(TemporalGateway, "import_products", lost_start)
    assert (await upload(waiting, line(0))).status_code == 503
    ((import_id, plan),) = await ImportService(api.parts, api.caller.account_id).recent()
    assert plan.rows == 1
    found = await ImportService(api.parts, api.caller.account_id).find(import_id)
    assert found is not None
    assert found.state == "running"


async def test_an_import_whose_run_is_gone_is_called_stopped(api: Api, waiting: Browser) -> None:
    answer = await upload(waiting, line(0))
    await api.parts.temporal.client.get_workflow_handle(import_workflow_id(str(api.caller.account_id))).terminate()
    assert "Stopped" in words(await waiting.follow(answer))
    assert (await upload(waiting, line(0))).status_code == 303


@pytest.mark.parametrize(
    ("header", "lines", "sentence"),
    [
        (HEADER, (), "None of the rows can be imported"),
        (HEADER, ("SKU-1,,upper_body,x,M",), "Row 2: name: required."),
        ("name,price", ("x,y",), "Missing columns: externalId, category, garmentImageUrl"),
        (HEADER, tuple(map(line, range(5001))), "The file has more than 5000 rows"),
        (HEADER, ("SKU-1,Shirt,feet,x,M",), "Row 2: category: must be upper_body, lower_body or full_body."),
        (HEADER, (line(1, name="x" * 201),), "Row 2: name: must have at most 200 characters."),
        ("%PDF-1.7", (), "The file is no text"),
    ],
)
async def test_a_file_of_which_nothing_comes_is_refused(
    api: Api, waiting: Browser, header: str, lines: tuple[str, ...], sentence: str
) -> None:
    answer = await upload(waiting, *lines, header=header)
    assert (answer.status_code, sentence in words(answer)) == (422, True)
    assert "Nothing was imported" in words(answer)
    assert api.store.objects == {}


async def test_no_file_and_one_that_is_too_large(waiting: Browser) -> None:
    for name in ("", "empty.csv"):
        answer = await waiting.post("/products/import", files={"file": (name, b"")})
        assert "Choose a file that is not empty." in words(answer)
    answer = await upload(waiting, "x" * pages.LARGEST_FILE_BYTES)
    assert answer.status_code == 413


async def test_the_page_says_what_each_column_may_hold(waiting: Browser) -> None:
    assert list(pages.COLUMN_NOTES)[: len(pages.NEEDED)] == pages.NEEDED
    assert set(pages.COLUMN_NOTES) == set(pages.COLUMNS)
    shown = words(await waiting.get("/products/import"))
    for name, note in pages.COLUMN_NOTES.items():
        assert f"{name} : {note}." in shown
        assert all(value in note for value, _ in RULES.get(name, {"choices": ()})["choices"])


async def test_the_template_can_be_imported_as_it_is(api: Api, waiting: Browser) -> None:
    answer = await waiting.get("/products/import/template.csv")
    assert answer.headers["Content-Type"].startswith("text/csv")
    found = pages.read_product_file(answer.content, api.parts.limits)
    assert (len(found.good), found.bad, found.ignored_columns) == (1, [], [])


async def test_reports_are_the_accounts_own(api: Api, waiting: Browser) -> None:
    path = (await upload(waiting, line(0))).headers["Location"].removeprefix("/dashboard")
    other = await create_caller(api.parts.database, api.parts.digester)
    neighbour = await signed_in(api, other.account_id)
    for address in (path, f"{path}/report.csv", "/products/import/x", "/products/import/..%2f..%2fplan.json"):
        assert (await neighbour.get(address)).status_code == 404
    assert "spring.csv" not in words(await neighbour.get("/products/import"))
    await neighbour.client.aclose()


def test_a_cell_of_the_report_is_no_formula() -> None:
    body = bytes(pages._csv("x.csv", [["=1+1", "-2", "SKU"]]).body)
    assert body.decode("utf-8-sig").strip() == "'=1+1,'-2,SKU"
