from __future__ import annotations

import shutil
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import make_url

from domain import migrations
from runtime.database import Database
from runtime.settings import DatabaseSettings
from tests.servers.postgres import tell_server


@pytest.fixture
async def empty_database_url(database_url: str, tmp_path: Path) -> str:
    """Address of a database without tables that only this test uses; it goes with its server or its folder."""
    return await _new_database(database_url, tmp_path)


@pytest.fixture(scope="session")
async def migrated_database_url(database_url: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Address of a migrated database that nobody uses, to be copied."""
    url = await _new_database(database_url, tmp_path_factory.mktemp("migrated"))
    database = Database(DatabaseSettings(url=url))
    migrations.upgrade(database.engine)
    database.close()
    return url


@pytest.fixture
async def own_database_url(migrated_database_url: str, tmp_path: Path) -> str:
    """Address of a migrated database that only this test uses."""
    return await _new_database(migrated_database_url, tmp_path, copied=True)


async def _new_database(url: str, folder: Path, *, copied: bool = False) -> str:
    """Address of a database in a folder or on the server of ``url``: empty, or a copy of that one."""
    address = make_url(url)
    if address.drivername.startswith("sqlite"):
        own = folder / "own.db"
        if copied:
            shutil.copy(str(address.database), own)
        return f"sqlite:///{own}"
    name = f"own_{uuid.uuid4().hex}"
    tell_server(url, f"CREATE DATABASE {name}" + (f" TEMPLATE {address.database}" if copied else ""))
    return address.set(database=name).render_as_string(hide_password=False)


@pytest.fixture
async def own_database(own_database_url: str) -> AsyncIterator[Database]:
    """A migrated database where a test may leave whatever it likes."""
    database = Database(DatabaseSettings(url=own_database_url))
    yield database
    database.close()
