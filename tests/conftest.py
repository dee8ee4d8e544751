"""Fixtures that every folder shares. Servers are real ones, started once, and only when a test asks for them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import structlog
from pydantic import SecretStr
from temporalio.client import Client

from domain import migrations
from domain.access.keys import KeyDigester
from runtime.database import Database
from runtime.embedded.store import check_weed
from runtime.object_store import S3ObjectStore
from runtime.settings import DatabaseSettings, ObjectStoreSettings
from tests.servers.object_store import running_object_store
from tests.servers.postgres import PostgresMissingError, running_postgres
from tests.servers.temporal import running_temporal

PEPPER = "a pepper for tests, longer than thirty-two characters"


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither the machine's environment nor a stack that runs beside the tests reaches them."""
    import os

    for name in list(os.environ):
        if name.startswith("TRYON_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("TRYON_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture(scope="session", autouse=True)
def plain_tracebacks() -> None:
    """Without settings, structlog would draw every variable of every frame of a fault: seconds for each."""
    renderer = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], renderer])


@pytest.fixture(scope="session")
def samples() -> Path:
    """The folder of sample pictures beside the project."""
    folder = Path(__file__).parents[2] / "shared" / "samples"
    if not folder.is_dir():
        pytest.skip("the sample pictures are not beside this checkout")
    return folder


@pytest.fixture(scope="session")
def digester() -> KeyDigester:
    return KeyDigester(PEPPER)


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        with running_postgres(tmp_path_factory.mktemp("postgres")) as url:
            yield url
    except PostgresMissingError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Every test that asks for it runs on both databases."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('sqlite')}/tryon.db"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture(scope="session")
async def database(database_url: str) -> AsyncIterator[Database]:
    """A migrated database; tests keep apart by using accounts of their own.

    Hundreds of requests at once, beside other tests on the same cores, may wait for longer than a customer would.
    """
    database = Database(DatabaseSettings(url=database_url, busy_timeout_seconds=60))
    migrations.upgrade(database.engine)
    yield database
    database.close()


@pytest.fixture(scope="session")
def object_store_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its data folder."""
    return tmp_path_factory.mktemp("objects")


@pytest.fixture(scope="session")
def object_store_settings(object_store_folder: Path) -> Iterator[ObjectStoreSettings]:
    with running_object_store(object_store_folder) as (endpoint, access_key, secret_key):
        yield ObjectStoreSettings(endpoint=endpoint, access_key=access_key, secret_key=SecretStr(secret_key))


@pytest.fixture(scope="session")
async def object_store(object_store_settings: ObjectStoreSettings, object_store_folder: Path) -> S3ObjectStore:
    """The real object store, with its bucket."""
    store = S3ObjectStore(object_store_settings)
    async with asyncio.timeout(30):
        while True:
            try:
                await check_weed(object_store_folder, int(object_store_settings.endpoint.rpartition(":")[2]))
                await store.ensure_bucket()
            except Exception:
                await asyncio.sleep(0.05)
            else:
                return store


@pytest.fixture(scope="session")
async def temporal() -> AsyncIterator[Client]:
    """The real Temporal server; a test that starts workflows ends them."""
    async with running_temporal() as client:
        yield client


@pytest.fixture(scope="session")
async def idle_temporal() -> AsyncIterator[Client]:
    """A second server, where no worker polls: what is started there stays as it is."""
    async with running_temporal() as client:
        yield client
