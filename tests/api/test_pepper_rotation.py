"""Callers while peppers are changed."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from sqlalchemy.exc import OperationalError

from domain.access import keys
from domain.access.keys import KeyDigester
from domain.tables import ApiKey
from tests.api.conftest import Api
from tests.conftest import PEPPER

NEW = "n" * 40


async def digest_of(api: Api) -> str:
    with api.parts.database.reading() as session:
        return session.get_one(ApiKey, api.caller.key_id).digest


def with_peppers(api: Api, pepper: str, *previous: str) -> None:
    api.app.state.parts = replace(api.parts, digester=KeyDigester(pepper, previous))


async def test_a_key_moves_at_its_first_use_and_stays_valid_when_the_old_pepper_goes(api: Api) -> None:
    await api.poll("x")  # its last use is written, and not again within the minute
    with_peppers(api, NEW, PEPPER)
    assert {answer.status_code for answer in await asyncio.gather(*(api.poll("x") for _ in range(8)))} == {404}
    assert await digest_of(api) == KeyDigester(NEW, [PEPPER]).digest(api.caller.key)
    with_peppers(api, NEW)
    assert (await api.poll("x")).status_code == 404
    with_peppers(api, PEPPER)
    assert (await api.poll("x")).status_code == 401


async def test_a_key_that_has_moved_is_not_written_again(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    with_peppers(api, NEW, PEPPER)
    await api.poll("x")
    written: list[object] = []
    monkeypatch.setattr(keys, "renew_digest", lambda *_, **__: written.append(1))
    assert (await api.poll("x")).status_code == 404
    assert written == []


async def test_no_call_fails_because_a_key_cannot_be_moved(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OperationalError("", {}, Exception("database is locked"))

    before = await digest_of(api)
    monkeypatch.setattr(keys, "renew_digest", fail)
    with_peppers(api, NEW, PEPPER)
    assert (await api.poll("x")).status_code == 404
    assert await digest_of(api) == before
