from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlalchemy import make_url, text
from sqlalchemy.ext.asyncio import create_async_engine

from domain import migrations
from runtime.database import Database
from runtime.settings import DatabaseSettings


@pytest.fixture
async def empty_database_url(database_url: str, tmp_path: Path) -> str:
    """Address of a database without tables that only this test uses; it goes with its server or its folder."""
    if database_url.startswith("sqlite"):
        return f"sqlite+aiosqlite:///{tmp_path}/own.db"
    name = f"own_{uuid.uuid4().hex}"
    server = create_async_engine(database_url, isolation_level="AUTOCOMMIT")
    async with server.connect() as connection:
        await connection.execute(text(f"CREATE DATABASE {name}"))
    await server.dispose()
    return make_url(database_url).set(database=name).render_as_string(hide_password=False)


@pytest.fixture
async def own_database_url(empty_database_url: str) -> str:
    """Address of a migrated database that only this test uses."""
    database = Database(DatabaseSettings(url=empty_database_url))
    await migrations.upgrade(database.engine)
    await database.close()
    return empty_database_url


@pytest.fixture
async def own_database(own_database_url: str) -> AsyncIterator[Database]:
    """A migrated database where a test may leave whatever it likes."""
    database = Database(DatabaseSettings(url=own_database_url))
    yield database
    await database.close()
