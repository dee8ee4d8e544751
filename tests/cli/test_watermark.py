"""``tryon watermark``, against real servers and the CPU worker."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result
from PIL import Image
from temporalio.client import Client
from typer.testing import CliRunner

from cli.main import app
from domain.access.keys import KeyDigester
from domain.object_keys import logo_key, logo_prefix
from gateway.temporal import TemporalGateway
from runtime.database import Database
from runtime.object_store import S3ObjectStore
from runtime.settings import ObjectStoreSettings, Settings
from tests.factories import Caller, create_caller
from tests.logos import LOGO_URL, ORANGE, OneLogo, logo_file
from tests.pictures import encoded
from worker_cpu.main import build_worker


@dataclass
class Commands:
    """Runs commands in a thread, as they start event loops of their own."""

    caller: Caller
    store: S3ObjectStore

    async def run(self, *words: str) -> Result:
        command = ["watermark", words[0], "--account", str(self.caller.account_id), *words[1:]]
        return await asyncio.to_thread(CliRunner().invoke, app, command)

    async def told(self, *words: str) -> str:
        result = await self.run(*words)
        assert result.exit_code == 0, result.output
        return result.stdout

    async def shown(self) -> dict[str, Any]:
        rows: dict[str, Any] = json.loads(await self.told("show", "--json"))
        return rows

    async def logos(self) -> list[str]:
        return await self.store.list_keys(logo_prefix(str(self.caller.account_id)))


@pytest.fixture
def settings(
    database_url: str,
    object_store_settings: ObjectStoreSettings,
    temporal: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> Settings:
    """What the commands find in their environment."""
    for name, value in {
        "TRYON_DATABASE_URL": database_url,
        "TRYON_S3_ENDPOINT": object_store_settings.endpoint,
        "TRYON_S3_ACCESS_KEY": object_store_settings.access_key,
        "TRYON_S3_SECRET_KEY": object_store_settings.secret_key.get_secret_value(),
        "TRYON_TEMPORAL_ADDRESS": temporal.service_client.config.target_host,
        "TRYON_TEMPORAL_NAMESPACE": temporal.namespace,
    }.items():
        monkeypatch.setenv(name, value)
    return Settings()


@pytest.fixture
async def commands(
    settings: Settings, database: Database, digester: KeyDigester, object_store: S3ObjectStore, temporal: Client
) -> AsyncIterator[Commands]:
    async with build_worker(TemporalGateway(temporal), database, object_store, OneLogo(), settings):
        yield Commands(await create_caller(database, digester), object_store)


async def test_from_nothing_to_a_logo_and_back(commands: Commands) -> None:
    assert await commands.told("show") == "There is no logo yet.\n"
    assert "200 x 200 pixels; it is on" in await commands.told("set", "--logo", LOGO_URL)
    shown = await commands.shown()
    assert (shown["enabled"], shown["logoUrl"]) == (True, LOGO_URL)
    assert await commands.logos() == [shown["keptCopy"]]
    for state, enabled in (("off", False), ("on", True)):
        assert await commands.told(state) == f"The watermark is {state}.\n"
        assert (await commands.shown())["enabled"] is enabled
    assert await commands.told("remove") == "The logo is deleted.\n"
    assert await commands.shown() == {"enabled": False, "logoUrl": None}
    assert await commands.logos() == []
    assert await commands.told("remove") == "There was no logo.\n"


async def test_a_logo_that_is_being_set_outlives_the_removal_of_the_one_before(commands: Commands) -> None:
    await commands.told("set", "--logo", LOGO_URL)
    fresh = logo_key(str(commands.caller.account_id), "0" * 64)
    await commands.store.put(fresh, logo_file(), "image/png")  # its row is about to be written
    assert await commands.told("remove") == "The logo is deleted.\n"
    assert await commands.logos() == [fresh]


async def test_without_the_object_store_the_logo_that_stays_is_named(
    commands: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    await commands.told("set", "--logo", LOGO_URL)
    (key,) = await commands.logos()
    monkeypatch.setenv("TRYON_S3_ENDPOINT", "http://127.0.0.1:1")
    result = await commands.run("remove")
    assert result.exit_code == 1
    assert key in result.stderr
    assert await commands.told("show") == "There is no logo yet.\n"


async def test_it_can_be_fetched_and_left_off(commands: Commands) -> None:
    setting = json.loads(await commands.told("set", "--logo", LOGO_URL, "--off", "--json"))
    assert (setting["enabled"], setting["logo"]["width"]) == (False, 200)
    assert (await commands.shown())["enabled"] is False


async def test_it_cannot_be_switched_on_without_a_logo(commands: Commands) -> None:
    result = await commands.run("on")
    assert result.exit_code == 1
    assert result.stderr == "the watermark cannot be switched on until a logo was fetched\n"


@pytest.mark.parametrize("address", ["http://shop.example/logo.png", "logo.png", "https://10.0.0.1/logo.png"])
async def test_what_is_no_public_address_is_not_even_asked_for(commands: Commands, address: str) -> None:
    result = await commands.run("set", "--logo", address)
    assert result.exit_code == 1
    assert result.stderr == "The logo URL must be a public https:// address.\n"


async def test_a_logo_that_is_not_there_changes_nothing(commands: Commands) -> None:
    await commands.told("set", "--logo", LOGO_URL)
    before = await commands.shown()
    result = await commands.run("set", "--logo", "https://shop.example/other.png")
    assert result.exit_code == 1
    assert result.stderr == (
        "The logo could not be downloaded from its address. What was set before stays as it was.\n"
    )
    assert await commands.shown() == before


async def test_a_preview_shows_it_on_a_picture_of_ones_own(commands: Commands, tmp_path: Path) -> None:
    photo, out = tmp_path / "photo.png", tmp_path / "new" / "out.jpg"
    photo.write_bytes(encoded(Image.new("RGB", (400, 600), (60, 60, 60)), "PNG"))
    refused = await commands.run("preview", str(photo), str(out))
    assert (refused.exit_code, out.exists()) == (1, False)
    await commands.told("set", "--logo", LOGO_URL, "--off")
    assert "The watermark is off." in await commands.told("preview", str(photo), str(out))
    stamped = np.asarray(Image.open(io.BytesIO(out.read_bytes()))).astype(int)
    assert stamped.shape == (600, 400, 3)
    assert np.abs(stamped[600 - 12 - 36, 400 - 12 - 36] - ORANGE).max() < 20
    photo.write_bytes(b"no picture")
    assert "could not be read" in (await commands.run("preview", str(photo), str(out))).stderr


async def test_an_unknown_account_is_a_message(commands: Commands) -> None:
    result = await asyncio.to_thread(CliRunner().invoke, app, ["watermark", "show", "--account", "nobody@example.com"])
    assert (result.exit_code, result.stderr) == (1, "there is no account nobody@example.com\n")
