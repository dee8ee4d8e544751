"""When a key was last used."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.exc import OperationalError

from domain.access import keys
from domain.tables import ApiKey
from runtime.database import Database
from tests.api.conftest import Api
from tests.factories import Caller

pytestmark = pytest.mark.databases("sqlite", "postgresql")


async def last_used_at(database: Database, caller: Caller) -> datetime | None:
    with database.reading() as session:
        return session.get_one(ApiKey, caller.key_id).last_used_at


async def test_the_last_use_of_a_key_is_told_to_the_minute(api: Api) -> None:
    assert await last_used_at(api.parts.database, api.caller) is None
    await api.poll("x")
    first = await last_used_at(api.parts.database, api.caller)
    assert first is not None
    assert abs(datetime.now(UTC) - first) < timedelta(seconds=20)
    await api.poll("x")
    assert await last_used_at(api.parts.database, api.caller) == first
    long_ago = first - timedelta(seconds=61)
    await api.parts.database.write(lambda session: keys.note_use(session, key_id=api.caller.key_id, now=long_ago))
    await api.poll("x")
    later = await last_used_at(api.parts.database, api.caller)
    assert later is not None
    assert later >= first


async def test_no_call_fails_because_the_last_use_cannot_be_written(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OperationalError("", {}, Exception("database is locked"))

    monkeypatch.setattr(keys, "note_use", fail)
    assert (await api.poll("x")).status_code == 404
    assert await last_used_at(api.parts.database, api.caller) is None
