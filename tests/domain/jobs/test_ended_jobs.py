"""A job that has ended is told once, and only once its end is committed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from domain import migrations
from domain.access.keys import KeyDigester
from domain.jobs import jobs
from domain.jobs.jobs import ENDED, EndedJob
from runtime.database import Database
from runtime.settings import DatabaseSettings
from tests.factories import create_caller, create_job


async def test_of_two_who_end_a_job_one_is_told_and_a_rollback_tells_nothing(
    tmp_path: Path, digester: KeyDigester
) -> None:
    told: list[EndedJob] = []

    def on_commit(info: Mapping[Any, Any]) -> None:
        told.extend(info.get(ENDED, ()))

    database = Database(DatabaseSettings(url=f"sqlite:///{tmp_path}/tryon.db"), on_commit=on_commit)
    migrations.upgrade(database.engine)
    job_id = await create_job(database, await create_caller(database, digester))
    now, keep = datetime.now(UTC), timedelta(hours=1)
    with pytest.raises(KeyError), database.transaction() as session:
        assert jobs.fail_job(session, job_id=job_id, error_code="cancelled", keep=keep, now=now)
        raise KeyError
    assert told == []
    report = {"timingsMs": {"paint": 9, "stage_rendering": 1500}}
    for _ in range(2):
        await database.write(
            jobs.complete_job, job_id=job_id, result_key="key", engine="warp", report=report, keep=keep, now=now
        )
    database.close()
    (ended,) = told
    assert (ended.kind, ended.mode, ended.outcome, ended.reason) == ("single", "live", "completed", "")
    assert ended.stage_seconds["rendering"] == 1.5
    assert set(ended.stage_seconds) == {"rendering", "total"}
