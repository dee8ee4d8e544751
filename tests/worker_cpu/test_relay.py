from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from temporalio.client import Client

from runtime.database import Database
from runtime.settings import DatabaseSettings
from worker_cpu import relay


@pytest.mark.parametrize("host", ["127.0.0.1:1", "no-such-host.invalid"])
async def test_a_database_that_is_away_does_not_end_the_relay(
    idle_temporal: Client, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    monkeypatch.setattr(relay, "INTERVAL_SECONDS", 0.01)
    database = Database(DatabaseSettings(url=f"postgresql+asyncpg://nobody@{host}/nothing"))
    running = asyncio.create_task(relay.relay_forever(database, idle_temporal, timedelta(hours=1)))
    done, _ = await asyncio.wait([running], timeout=1)
    running.cancel()
    await database.close()
    assert not done
