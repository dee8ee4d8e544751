"""``/healthz`` and ``/readyz``."""

from __future__ import annotations

import asyncio
import shutil
import time
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from api import health
from api.health import Readiness, local_folders
from runtime.settings import EMBEDDED_FILE, Settings
from tests.api.conftest import Api, OpenApi, single
from tests.api.test_polling import accepted
from tests.servers.unwilling_store import every_thread_is_free, unwilling_store


async def test_health_needs_no_key(api: Api) -> None:
    api.client.headers.pop("Authorization")
    assert (await api.client.get("/healthz")).json() == {"status": "ok"}
    ready = await api.client.get("/readyz")
    assert ready.status_code == 200
    assert ready.json()["parts"] == health.PARTS_WELL


async def test_a_process_that_leaves_is_not_ready(api: Api) -> None:
    api.app.state.readiness.leave()
    answer = await api.client.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (503, "unavailable")
    assert (await api.client.get("/healthz")).status_code == 200


async def test_the_parts_are_asked_once_a_second_by_one_at_a_time(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0

    async def slow_ping() -> None:
        nonlocal asked
        asked += 1
        await asyncio.sleep(0.05)

    monkeypatch.setattr(api.store, "ping", slow_ping)
    monkeypatch.setattr(health, "ASK_SECONDS", 60)
    for _ in range(3):
        answers = await asyncio.gather(*(api.client.get("/readyz") for _ in range(20)))
        assert {answer.status_code for answer in answers} == {200}
    assert asked == 1
    monkeypatch.setattr(health, "ASK_SECONDS", 0)
    await api.client.get("/readyz")
    assert asked == 2


async def test_whoever_asked_first_may_go_before_the_answer(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api.store, "ping", lambda: asyncio.sleep(0.2))
    first = asyncio.create_task(api.client.get("/readyz"))
    await asyncio.sleep(0.05)
    second = asyncio.create_task(api.client.get("/readyz"))
    await asyncio.sleep(0.05)
    first.cancel()
    assert (await second).status_code == 200


async def test_a_full_disk_is_not_ready_and_tells_no_folder(
    api: Api, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    settings = Settings()
    settings.database = settings.database.model_copy(update={"url": f"sqlite:///{tmp_path}/tryon.db"})
    api.app.state.readiness = Readiness(replace(api.parts, settings=settings))
    monkeypatch.setattr(shutil, "disk_usage", lambda _folder: Mock(free=9, total=1000))
    answer = await api.client.get("/readyz")
    assert (answer.status_code, answer.json()["parts"]["disk"]) == (503, "full")
    assert "/" not in answer.text


def test_the_disk_of_the_embedded_stack_counts_and_that_of_a_server_elsewhere_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = Settings()
    settings.database = settings.database.model_copy(update={"url": "postgresql://db/tryon"})
    assert local_folders(settings) == []
    settings.stack.data_dir.mkdir()
    (settings.stack.data_dir / EMBEDDED_FILE).touch()
    assert local_folders(settings) == [settings.stack.data_dir]


async def test_a_store_that_is_stopped_holds_no_thread_of_the_check(api: Api) -> None:
    async with unwilling_store() as stopped:
        store = stopped.client()
        readiness = Readiness(replace(api.parts, store=store))
        began = time.monotonic()
        standing = await readiness.standing()
        assert standing.object_store.startswith("unreachable")
        assert time.monotonic() - began < health.PROBE_SECONDS + 2
        assert await every_thread_is_free(store)


async def test_a_request_waits_for_a_stopped_store_once_whatever_it_asks_of_it(
    open_api: OpenApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRYON_API_STORE_TIMEOUT_SECONDS", "1")
    async with open_api(Settings()) as api, unwilling_store() as stopped:
        job_id = await accepted(api)
        await api.complete(job_id)
        store = stopped.client()
        api.app.state.parts = replace(api.parts, store=store)
        for call in (lambda: api.post(single()), lambda: api.poll(job_id)):
            began = time.monotonic()
            answer = await call()
            assert (answer.status_code, answer.headers["X-Error-Code"]) == (503, "storage_unavailable")
            assert time.monotonic() - began < 5
        assert await every_thread_is_free(store)
