"""Calls counted in a real Valkey server."""

from __future__ import annotations

import asyncio
import socket
import time
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from api import rate_limit as limiter
from api.rate_limit import HIT_SECONDS, ValkeyRateLog, whole_seconds
from cli.diagnosis.findings import Case
from cli.diagnosis.stores import look_at_rate_limit
from domain.access.rates import RatePolicy
from domain.errors import TryOnError
from runtime.settings import Settings
from tests.servers.processes import free_port
from tests.servers.valkey import ValkeyMissingError, running_valkey

POLICY = RatePolicy("requests", requests=20, window_seconds=300)


@pytest.fixture(scope="module")
def valkey_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    try:
        with running_valkey(tmp_path_factory.mktemp("valkey")) as address:
            yield address
    except ValkeyMissingError as error:
        pytest.skip(str(error))


@pytest.fixture
async def log(valkey_address: str) -> AsyncIterator[ValkeyRateLog]:
    opened = ValkeyRateLog(valkey_address)
    yield opened
    await opened.close()


async def test_several_connections_together_let_exactly_twenty_calls_through(
    log: ValkeyRateLog, valkey_address: str
) -> None:
    key_id, other = uuid.uuid4(), ValkeyRateLog(valkey_address)
    states = await asyncio.gather(*(one.hit(key_id, POLICY) for one in (log, other) for _ in range(40)))
    await other.close()
    assert sum(state.admitted for state in states) == 20


async def test_the_doctor_asks_it(valkey_address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for address, level in ((valkey_address, "ok"), (f"valkey://:secret@127.0.0.1:{free_port()}/0", "error")):
        monkeypatch.setenv("TRYON_RATE_LIMIT_URL", address)
        found = [each async for each in look_at_rate_limit(Case(Settings()))]
        assert [each.level for each in found] == [level]
        assert "secret" not in found[0].sentence


async def test_what_is_left_is_told(log: ValkeyRateLog) -> None:
    key_id = uuid.uuid4()
    for number in range(20):
        state = await log.hit(key_id, POLICY)
        assert (state.admitted, state.remaining) == (True, 19 - number)
        assert whole_seconds(state) == 300
    state = await log.hit(key_id, POLICY)
    assert (state.admitted, state.remaining) == (False, 0)
    assert 295 <= whole_seconds(state) <= 300


async def test_another_rate_holds_from_the_next_call_on(log: ValkeyRateLog) -> None:
    key_id, slower = uuid.uuid4(), RatePolicy("requests", requests=2, window_seconds=60)
    for _ in range(20):
        assert (await log.hit(key_id, POLICY)).admitted
    states = [await log.hit(key_id, slower) for _ in range(3)]
    assert [(state.admitted, state.remaining) for state in states] == [(True, 1), (True, 0), (False, 0)]
    assert not (await log.hit(key_id, POLICY)).admitted


async def test_the_window_slides(log: ValkeyRateLog) -> None:
    key_id, policy = uuid.uuid4(), RatePolicy("short", requests=2, window_seconds=1)
    began = time.time()
    assert (await log.hit(key_id, policy)).admitted
    await asyncio.sleep(0.5)
    assert (await log.hit(key_id, policy)).admitted
    refused = await log.hit(key_id, policy)
    assert not refused.admitted
    await asyncio.sleep(began + 1.1 - time.time())
    assert (await log.hit(key_id, policy)).admitted
    assert not (await log.hit(key_id, policy)).admitted, "the second call is still within the window"


async def test_keys_and_policies_have_windows_of_their_own(log: ValkeyRateLog) -> None:
    one, other = uuid.uuid4(), uuid.uuid4()
    strict, lax = RatePolicy("requests", 1, 300), RatePolicy("management", 1, 300)
    assert (await log.hit(one, strict)).admitted
    assert not (await log.hit(one, strict)).admitted
    assert (await log.hit(other, strict)).admitted
    assert (await log.hit(one, lax)).admitted


async def test_the_scheme_of_redis_works_too(valkey_address: str) -> None:
    log = ValkeyRateLog(valkey_address.replace("valkey://", "redis://"))
    assert (await log.hit(uuid.uuid4(), POLICY)).remaining == 19
    await log.close()


async def test_a_server_that_is_away_is_503() -> None:
    log = ValkeyRateLog(f"valkey://127.0.0.1:{free_port()}/0")
    with pytest.raises(TryOnError, match="storage_unavailable"):
        await log.hit(uuid.uuid4(), POLICY)
    await log.close()


async def test_a_server_that_hangs_is_503_before_long() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        log = ValkeyRateLog(f"valkey://127.0.0.1:{silent.getsockname()[1]}/0")
        began = time.monotonic()
        with pytest.raises(TryOnError, match="storage_unavailable"):
            await log.hit(uuid.uuid4(), POLICY)
        assert time.monotonic() - began < HIT_SECONDS + 5
        await log.close()


async def test_a_server_that_was_started_again_is_used_again(tmp_path: Path) -> None:
    port = free_port()
    log = ValkeyRateLog(f"valkey://127.0.0.1:{port}/0")
    try:
        for _ in range(2):
            with running_valkey(tmp_path, port):
                assert (await log.hit(uuid.uuid4(), POLICY)).admitted
    except ValkeyMissingError as error:
        pytest.skip(str(error))
    await log.close()


@pytest.mark.parametrize("package", ["limits", "valkey"])
def test_an_address_without_the_packages_for_it_is_refused_at_the_start(
    package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limiter, "find_spec", lambda name: None if name == package else object())
    with pytest.raises(ValueError, match="needs the extra `valkey`"):
        ValkeyRateLog("valkey://127.0.0.1:6379/0")


@pytest.mark.parametrize("address", ["http://host:1", "host:6379", "valkey://:secret@host/0", "valkey://host:x/0"])
def test_an_address_that_cannot_be_used_is_refused_at_the_start_without_its_password(address: str) -> None:
    with pytest.raises(ValueError, match="TRYON_RATE_LIMIT_URL") as refusal:
        ValkeyRateLog(address)
    assert "secret" not in str(refusal.value)
