from __future__ import annotations

import uuid
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from domain import watermarks
from domain.access.keys import KeyDigester
from domain.tables import Watermark
from runtime.database import Database
from tests.factories import create_caller
from tests.meanwhile import outcome_beside

NOW = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
LOGO = {"key": "accounts/a/logo/1.png"}


@pytest.fixture
async def account_id(database: Database, digester: KeyDigester) -> uuid.UUID:
    return (await create_caller(database, digester)).account_id


async def save(database: Database, account_id: uuid.UUID, **fields: Any) -> None:
    values = {"logo_url": "https://shop.example/1.png", "logo": LOGO, "enabled": True, "now": NOW, **fields}
    await database.write(watermarks.save_watermark, account_id=account_id, **values)


async def found(database: Database, account_id: uuid.UUID) -> Watermark | None:
    return await database.read(watermarks.find_watermark, account_id=account_id)


async def switch(database: Database, account_id: uuid.UUID, *, enabled: bool) -> None:
    await database.write(watermarks.switch_watermark, account_id=account_id, enabled=enabled)


async def test_what_was_saved_is_found(database: Database, account_id: uuid.UUID) -> None:
    await save(database, account_id)
    row = await found(database, account_id)
    assert row is not None
    assert (row.enabled, row.logo_url, row.logo, row.fetched_at) == (True, "https://shop.example/1.png", LOGO, NOW)


async def test_another_logo_takes_the_place_of_the_first(database: Database, account_id: uuid.UUID) -> None:
    await save(database, account_id)
    await save(database, account_id, logo_url="https://shop.example/2.png", logo={"key": "2"}, enabled=False)
    row = await found(database, account_id)
    assert row is not None
    assert (row.enabled, row.logo_url, row.logo) == (False, "https://shop.example/2.png", {"key": "2"})


async def test_saving_twice_is_saving_once(database: Database, account_id: uuid.UUID) -> None:
    await save(database, account_id)
    await save(database, account_id)
    assert await found(database, account_id) is not None


async def test_an_unknown_account_gets_none(database: Database) -> None:
    with pytest.raises(ValueError, match="no account"):
        await save(database, uuid.uuid4())


async def test_it_is_switched_off_and_on_with_its_logo_kept(database: Database, account_id: uuid.UUID) -> None:
    await save(database, account_id)
    for enabled in (False, True):
        await switch(database, account_id, enabled=enabled)
        row = await found(database, account_id)
        assert row is not None
        assert (row.enabled, row.logo) == (enabled, LOGO)


@pytest.mark.parametrize(
    ("enabled", "sentence"), [(True, "cannot be switched on until a logo was fetched"), (False, "no watermark")]
)
async def test_without_a_logo_there_is_nothing_to_switch(
    database: Database, account_id: uuid.UUID, enabled: bool, sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        await switch(database, account_id, enabled=enabled)
    assert await found(database, account_id) is None


async def test_once_removed_it_has_to_be_fetched_again(database: Database, account_id: uuid.UUID) -> None:
    await save(database, account_id)
    for expected in (LOGO, None):
        with database.transaction() as session:
            assert watermarks.remove_watermark(session, account_id=account_id) == expected
    with pytest.raises(ValueError, match="until a logo was fetched"):
        await switch(database, account_id, enabled=True)


async def test_another_account_is_not_touched(database: Database, digester: KeyDigester, account_id: uuid.UUID) -> None:
    other = (await create_caller(database, digester)).account_id
    await save(database, account_id)
    await save(database, other, logo={"key": "other"})
    await database.write(watermarks.remove_watermark, account_id=account_id)
    row = await found(database, other)
    assert row is not None
    assert row.logo == {"key": "other"}


@pytest.mark.databases("postgresql")
async def test_one_that_is_being_removed_is_not_switched(database: Database, account_id: uuid.UUID) -> None:
    await save(database, account_id)
    remove = partial(watermarks.remove_watermark, account_id=account_id)
    with pytest.raises(ValueError, match="until a logo was fetched"):
        await outcome_beside(
            database, remove, partial(watermarks.switch_watermark, account_id=account_id, enabled=True)
        )


@pytest.mark.databases("postgresql")
async def test_the_logo_that_is_removed_is_the_last_that_was_set(database: Database, account_id: uuid.UUID) -> None:
    await save(database, account_id)
    another: dict[str, Any] = {"logo_url": "https://shop.example/2.png", "logo": {"key": "2"}, "enabled": True}
    save_another = partial(watermarks.save_watermark, account_id=account_id, now=NOW, **another)
    remove = partial(watermarks.remove_watermark, account_id=account_id)
    removed = await outcome_beside(database, save_another, remove)
    assert removed == {"key": "2"}
    assert await found(database, account_id) is None
