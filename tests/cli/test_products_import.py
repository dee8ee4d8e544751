"""``tryon products``, against a real Temporal server and the CPU worker."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from temporalio.client import Client
from typer.testing import CliRunner

from cli.main import app
from domain.access.keys import KeyDigester
from gateway.temporal import TemporalGateway
from runtime.database import Database
from runtime.settings import Settings
from tests.api.catalogue import SHOP, ShopFetcher
from tests.factories import Caller, create_caller
from tests.memory_store import MemoryObjectStore
from tests.pictures import encoded, photo
from worker_cpu.main import build_worker

HEADER = "externalId;name;category;garmentImageUrl;size"
GONE = SHOP + "gone.jpg"


@dataclass
class Commands:
    """Runs commands in a thread, as they start event loops of their own."""

    caller: Caller
    shop: dict[str, Any]
    file: Path
    store: MemoryObjectStore

    async def run(self, *words: str) -> Result:
        command = ["products", *words, "--account", str(self.caller.account_id)]
        return await asyncio.to_thread(CliRunner().invoke, app, command)

    async def imported(self, *rows: str, options: tuple[str, ...] = (), code: int = 0) -> dict[str, Any]:
        self.file.write_text("\n".join([HEADER, *rows]))
        result = await self.run("import", str(self.file), "--json", *options)
        assert result.exit_code == code, result.output
        report: dict[str, Any] = json.loads(result.stdout)
        return report

    async def listed(self, *options: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads((await self.run("list", "--json", *options)).stdout)
        return found


@pytest.fixture
def settings(database_url: str, temporal: Client, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """What the commands find in their environment."""
    for name, value in {
        "TRYON_DATABASE_URL": database_url,
        "TRYON_TEMPORAL_ADDRESS": temporal.service_client.config.target_host,
        "TRYON_TEMPORAL_NAMESPACE": temporal.namespace,
    }.items():
        monkeypatch.setenv(name, value)
    return Settings()


@pytest.fixture
async def commands(
    settings: Settings, database: Database, digester: KeyDigester, temporal: Client, tmp_path: Path
) -> AsyncIterator[Commands]:
    shop: dict[str, Any] = {f"{SHOP}{seed}.jpg": encoded(photo(seed=seed)) for seed in range(6)}
    store = MemoryObjectStore()
    async with build_worker(TemporalGateway(temporal), database, store, ShopFetcher(shop), settings):
        yield Commands(await create_caller(database, digester), shop, tmp_path / "products.csv", store)


def line(number: int, name: str = "Shirt", size: str = "M", url: str | None = None) -> str:
    return f"SKU-{number};{name};upper_body;{url or f'{SHOP}{number}.jpg'};{size}"


async def test_a_file_is_registered_and_registering_it_again_does_no_harm(commands: Commands) -> None:
    rows = [line(number) for number in range(6)]
    nothing = {"rows": 6, "created": 0, "updated": 0, "unchanged": 0, "failed": [], "skipped": []}
    assert await commands.imported(*rows) == {**nothing, "created": 6}
    products = await commands.listed()
    assert {one["externalId"] for one in products} == {f"SKU-{number}" for number in range(6)}
    assert {(one["size"], one["revision"]) for one in products} == {("M", 1)}
    assert await commands.imported(*rows) == {**nothing, "unchanged": 6}
    assert await commands.listed() == products
    assert len(commands.store.objects) == 6


async def test_only_what_differs_counts_up(commands: Commands) -> None:
    await commands.imported(*[line(number) for number in range(3)])
    commands.shop[f"{SHOP}1.jpg"] = encoded(photo(seed=9))
    report = await commands.imported(line(0, size=""), line(1), line(2), line(3))
    assert (report["created"], report["updated"], report["unchanged"]) == (1, 2, 1)
    found = {one["externalId"]: (one["revision"], one["size"]) for one in await commands.listed()}
    assert found == {"SKU-0": (2, None), "SKU-1": (2, "M"), "SKU-2": (1, "M"), "SKU-3": (1, "M")}


async def test_a_row_that_fails_does_not_hold_up_the_others(commands: Commands) -> None:
    report = await commands.imported(line(0), line(1, url=GONE), line(2), code=1)
    assert report["created"] == 2
    assert report["failed"] == [{"row": 3, "error": "garmentImageUrl: The garment picture could not be downloaded."}]


async def test_one_bad_row_keeps_every_row_out(commands: Commands) -> None:
    report = await commands.imported(line(0), line(1, url="http://shop.example/1.jpg"), code=1)
    assert [row["row"] for row in report["skipped"]] == [3]
    assert await commands.listed() == []


async def test_bad_rows_can_be_skipped(commands: Commands) -> None:
    report = await commands.imported(line(0), ";;;;M", line(2), options=("--skip-bad",))
    assert (report["created"], report["skipped"]) == (
        2,
        [{"row": 3, "error": "externalId: required. name: required. category: required. garmentImageUrl: required."}],
    )
    assert len(await commands.listed()) == 2


@pytest.mark.parametrize(("rows", "code"), [((line(0), line(1)), 0), ((line(0), ";;;;M"), 1)])
async def test_a_dry_run_registers_nothing(commands: Commands, rows: tuple[str, ...], code: int) -> None:
    report = await commands.imported(*rows, options=("--dry-run",), code=code)
    assert (report["rows"], len(report["skipped"])) == (2, code)
    assert await commands.listed() == []


async def test_people_are_told_what_happened(commands: Commands) -> None:
    commands.file.write_text("\n".join([HEADER + ";price", line(0) + ";9", line(1, url=GONE) + ";9"]))
    result = await commands.run("import", str(commands.file))
    assert result.exit_code == 1
    assert result.stdout.splitlines()[-1] == "1 added, 0 updated, 0 unchanged, 1 failed, 0 skipped."
    assert "row 3: garmentImageUrl: The garment picture could not be downloaded." in result.stderr
    assert "price" in result.stderr
    listed = (await commands.run("list")).stdout
    assert "SKU-0" in listed
    assert listed.endswith("1 products\n")


async def test_archived_products_are_listed_on_demand(commands: Commands, database: Database) -> None:
    from domain.products import archive_product, parse_public_id

    await commands.imported(line(0), line(1))
    first = (await commands.listed())[0]
    product_id = parse_public_id(first["id"])
    assert product_id is not None
    await database.write(archive_product, account_id=commands.caller.account_id, product_id=product_id)
    assert [one["id"] for one in await commands.listed("--status", "archived")] == [first["id"]]
    assert len(await commands.listed()) == 1
    assert len(await commands.listed("--status", "all")) == 2


async def test_a_file_that_is_none_and_an_account_that_is_none(commands: Commands) -> None:
    commands.file.write_text("name;price\n")
    result = await commands.run("import", str(commands.file))
    assert (result.exit_code, "externalId" in result.stderr) == (1, True)
    result = await asyncio.to_thread(CliRunner().invoke, app, ["products", "list", "--account", "nobody@example.com"])
    assert (result.exit_code, "nobody@example.com" in result.stderr) == (1, True)


async def test_without_temporal_nothing_is_registered(commands: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRYON_TEMPORAL_ADDRESS", "127.0.0.1:1")
    commands.file.write_text("\n".join([HEADER, line(0)]))
    result = await commands.run("import", str(commands.file))
    assert result.exit_code == 1
    assert "Temporal cannot be reached" in result.stderr
    assert await commands.listed() == []
