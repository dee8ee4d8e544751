"""What a worker process needs to be seen: the runtime that serves its metrics, a meter on it, and its traces."""

from __future__ import annotations

from dataclasses import dataclass

from temporalio.runtime import Runtime

from runtime.metrics import MetricsAddressError, SdkMeter, sdk_runtime
from runtime.settings import Settings
from runtime.tracing import Tracing, TracingUnavailable, start_tracing

UNUSABLE = (MetricsAddressError, TracingUnavailable)
"""What settings of metrics and traces can ask for in vain; a process says so in one sentence and ends."""


@dataclass(frozen=True)
class WorkerTelemetry:
    """Metrics and traces of one worker process.

    Attributes:
        runtime: Of its Temporal client.
        meter: For what is measured outside of activities.
        tracing: Its traces.
    """

    runtime: Runtime
    meter: SdkMeter
    tracing: Tracing


def start_worker_telemetry(settings: Settings, process: str, metrics_address: str | None) -> WorkerTelemetry:
    """Serve metrics and begin to trace, as far as the settings ask for it.

    Raises:
        MetricsAddressError: The address cannot be listened on.
        TracingUnavailable: The packages for traces are missing.
    """
    tracing = start_tracing(settings.tracing, process)
    runtime = sdk_runtime(metrics_address)
    return WorkerTelemetry(runtime, SdkMeter(runtime.metric_meter), tracing)
