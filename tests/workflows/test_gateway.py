from __future__ import annotations

import pytest
from structlog.testing import capture_logs
from temporalio.client import Client

from gateway.calls import TemporalAwayError
from gateway.temporal import TemporalGateway
from runtime.settings import TemporalSettings


async def test_a_worker_waits_for_temporal_and_says_so_once(temporal: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = TemporalSettings(address=temporal.service_client.config.target_host, namespace=temporal.namespace)
    connect, refusals = TemporalGateway.connect, iter([TemporalAwayError("refused")] * 3)

    async def at_first_refused(*arguments: object, **more: object) -> TemporalGateway:
        for refusal in refusals:
            raise refusal
        return await connect(*arguments, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(TemporalGateway, "connect", at_first_refused)
    monkeypatch.setattr("gateway.temporal.ARRIVAL_SECONDS", 0.0)
    with capture_logs() as said:
        gateway = await TemporalGateway.connect_once_there(settings)
    await gateway.check()
    assert [line["event"] for line in said] == ["waiting for Temporal"]


async def test_a_namespace_that_is_not_there_yet_is_waited_for(
    temporal: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = TemporalSettings(address=temporal.service_client.config.target_host, namespace="not-made-yet")

    async def made_meanwhile(_seconds: float) -> None:
        object.__setattr__(settings, "namespace", temporal.namespace)

    monkeypatch.setattr("gateway.temporal.asyncio.sleep", made_meanwhile)
    gateway = await TemporalGateway.connect_once_there(settings)
    assert gateway.client.namespace == temporal.namespace
