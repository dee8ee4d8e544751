"""Fixtures that every folder shares. Servers are real ones, started once, and only when a test asks for them."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import structlog
from pydantic import SecretStr
from sqlalchemy import make_url
from temporalio.client import Client

from domain import migrations
from domain.access.keys import KeyDigester
from runtime.concern import Concern
from runtime.database import Database
from runtime.embedded.servers import check_weed
from runtime.object_store import S3ObjectStore
from runtime.settings import DatabaseSettings, ObjectStoreSettings
from tests.decoders import SharedDecoders
from tests.factories import Caller, create_caller
from tests.imaging.shop import make_certificate
from tests.servers.object_store import running_object_store
from tests.servers.postgres import PostgresMissingError, running_postgres, tell_server
from tests.servers.receiver import Receiver, running_receiver
from tests.servers.temporal import running_temporal
from tests.stack.stack import Stack, running_stack

hypothesis.settings.register_profile(
    "busy machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("busy machine")


def pytest_configure() -> None:
    """Nothing that is imported while tests are collected is garbage."""
    gc.disable()


def pytest_collection_finish() -> None:
    """What was collected stays: looking through it again and again took an eighth of the API's tests."""
    gc.freeze()
    gc.enable()


PEPPER = "a pepper for tests, longer than thirty-two characters"


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither the machine's environment nor a stack that runs beside the tests reaches them."""
    for name in list(os.environ):
        if name.startswith("TRYON_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("TRYON_DATA_DIR", str(tmp_path / "data"))


@pytest.fixture(scope="session", autouse=True)
def settings_read_once() -> Iterator[None]:
    """The same variables are the same settings: reading them for each test took a fifteenth of the API's tests."""
    load: Any = Concern.load.__func__  # type: ignore[attr-defined]
    known: dict[Any, Concern] = {}

    def once(cls: type[Concern], embedded_file: Path | None) -> Concern:
        if embedded_file is not None:
            read: Concern = load(cls, embedded_file)
            return read
        prefix = cls.model_config.get("env_prefix", "")
        given = sorted(each for each in os.environ.items() if each[0].startswith(prefix))
        key = (cls, Path.cwd(), *given)
        if key not in known:
            known[key] = load(cls, None)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Concern, "load", classmethod(once))
        yield


@pytest.fixture(scope="session")
def decoders_of_the_session() -> SharedDecoders:
    return SharedDecoders()


@pytest.fixture(autouse=True)
def shared_decoders(decoders_of_the_session: SharedDecoders, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests of the pools themselves set it back."""
    decoders_of_the_session.share(monkeypatch)


@pytest.fixture(scope="session", autouse=True)
def plain_tracebacks() -> None:
    """Without settings, structlog would draw every variable of every frame of a fault: seconds for each."""
    renderer = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[*structlog.get_config()["processors"][:-1], renderer])


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """For servers on loopback that speak TLS under the name shop.example: the files of certificate and key."""
    if shutil.which("openssl") is None:
        pytest.skip("the openssl program, which signs the test server's certificate, is not installed")
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
async def receiver(certificate: tuple[Path, Path]) -> AsyncIterator[Receiver]:
    """Of webhooks."""
    async with running_receiver(*certificate) as running:
        yield running


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
def postgres_url() -> Iterator[str]:
    try:
        with running_postgres() as url:
            yield url
    except PostgresMissingError as error:
        pytest.skip(str(error))


ON_SQLITE_ALONE = ("tests/api/", "tests/cli/", "tests/tryon_client/")
"""What is said of requests, pages and commands does not depend on the database; its rules are tested below them."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Tests run on both databases, those of `ON_SQLITE_ALONE` on the one; the mark ``databases`` says otherwise."""
    if "database_server" in metafunc.fixturenames:
        test = metafunc.definition
        default = ("sqlite",) if test.nodeid.startswith(ON_SQLITE_ALONE) else ("sqlite", "postgresql")
        marker = test.get_closest_marker("databases")
        metafunc.parametrize("database_server", marker.args if marker else default, indirect=True, scope="session")


@pytest.fixture(scope="session")
def database_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Address of an empty database of the kind that `pytest_generate_tests` names; others are made beside it."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path_factory.mktemp('sqlite')}/empty.db"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture(scope="session")
def migrated_database_url(database_server: str) -> str:
    """Address of a migrated database that nobody uses, to be copied."""
    url = new_database(database_server)
    database = Database(DatabaseSettings(url=url))
    migrations.upgrade(database.engine)
    database.close()
    return url


@pytest.fixture(scope="module")
def database_url(migrated_database_url: str) -> str:
    """Address of `database`."""
    return new_database(migrated_database_url, copied=True)


@pytest.fixture(scope="module")
def database(database_url: str) -> Iterator[Database]:
    """A migrated database of the module's own, whose tests keep apart by using accounts of their own.

    Hundreds of requests at once, beside other tests on the same cores, may wait for longer than a customer would.
    """
    with closing(Database(DatabaseSettings(url=database_url, busy_timeout_seconds=60))) as database:
        yield database


@pytest.fixture
async def caller(database: Database, digester: KeyDigester) -> Caller:
    """A new account with a key, in `database`."""
    return await create_caller(database, digester)


@pytest.fixture
def own_database_url(migrated_database_url: str) -> str:
    """Address of a migrated database that only this test uses."""
    return new_database(migrated_database_url, copied=True)


@pytest.fixture
def own_database(own_database_url: str) -> Iterator[Database]:
    """A migrated database where a test may leave whatever it likes."""
    with closing(Database(DatabaseSettings(url=own_database_url))) as database:
        yield database


@pytest.fixture
def empty_database_url(database_server: str) -> str:
    """Address of a database without tables that only this test uses."""
    return new_database(database_server)


def new_database(url: str, *, copied: bool = False) -> str:
    """Address of a database beside that of ``url``: empty, or a copy of it; it goes with its server or its folder."""
    address, name = make_url(url), f"own_{uuid.uuid4().hex}"
    if address.drivername.startswith("sqlite"):
        own = Path(str(address.database)).with_name(f"{name}.db")
        if copied:
            shutil.copy(str(address.database), own)
        else:
            own.touch()
        return f"sqlite:///{own}"
    tell_server(url, f"CREATE DATABASE {name}" + (f" TEMPLATE {address.database}" if copied else ""))
    return address.set(database=name).render_as_string(hide_password=False)


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


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """One ``tryon up`` for every test that leaves it healthy."""
    with running_stack(tmp_path_factory.mktemp("stack")) as running:
        yield running
