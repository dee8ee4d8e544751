from __future__ import annotations

from domain import migrations
from runtime.database import Database


async def test_the_tables_in_the_code_are_those_of_the_migrations(database: Database) -> None:
    assert await migrations.differences(database.engine) == []


async def test_upgrading_again_changes_nothing(database: Database) -> None:
    await migrations.upgrade(database.engine)
    assert await migrations.is_current(database.engine)
