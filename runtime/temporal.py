"""The Temporal client, the same for every process."""

from __future__ import annotations

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig

from runtime.settings import TemporalSettings


async def connect_temporal(
    settings: TemporalSettings, *, lazy: bool = False, metrics_address: str | None = None
) -> Client:
    """Connect to Temporal.

    Args:
        settings: Address and credentials.
        lazy: Connect at the first call instead, so that a process can start while Temporal is away.
        metrics_address: Host and port where Prometheus finds the metrics of this process's workers.
    """
    telemetry = TelemetryConfig(metrics=PrometheusConfig(bind_address=metrics_address)) if metrics_address else None
    return await Client.connect(
        settings.address,
        namespace=settings.namespace,
        data_converter=pydantic_data_converter,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        tls=settings.tls or settings.api_key is not None,
        lazy=lazy,
        runtime=Runtime(telemetry=telemetry) if telemetry else None,
    )
