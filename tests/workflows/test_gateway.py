from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from structlog.testing import capture_logs
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from gateway.calls import TemporalAwayError, temporal_calls
from gateway.temporal import TemporalGateway
from runtime.settings import TemporalSettings
from tests.workflows.backfill_scene import Scene


async def test_a_worker_waits_for_temporal_and_says_so_once(temporal: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = TemporalSettings(address=temporal.service_client.config.target_host, namespace=temporal.namespace)
    connect, refusals = TemporalGateway.connect, iter([TemporalAwayError("refused")] * 3)

    async def at_first_refused(*arguments: object, **more: object) -> TemporalGateway:
        for refusal in refusals:
            raise refusal
        return await connect(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(TemporalGateway, "connect", at_first_refused)
    with capture_logs() as said:
        gateway = await TemporalGateway.connect_once_there(settings)
    await gateway.check()
    assert [line["event"] for line in said] == ["waiting for Temporal"]


async def test_a_refusal_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(*_arguments: object, **_more: object) -> TemporalGateway:
        with temporal_calls():
            raise RPCError("the key is not valid", RPCStatusCode.UNAUTHENTICATED, b"")

    monkeypatch.setattr(TemporalGateway, "connect", refused)
    with pytest.raises(TemporalAwayError, match="the key is not valid"):
        await TemporalGateway.connect_once_there(TemporalSettings())


async def test_without_a_worker_the_window_of_a_backfill_is_not_waited_for(
    temporal: Client, scene: Callable[..., Scene]
) -> None:
    play = scene(1)
    await play.start()
    gateway = TemporalGateway(temporal, TemporalSettings(start_timeout_seconds=0.5))
    async with asyncio.timeout(10) as ours:
        with pytest.raises(TemporalAwayError, match="is a CPU worker running"):
            await gateway.set_backfill_concurrency(play.id, 3)
    assert not ours.expired()  # the SDK makes the same error of any cancellation
