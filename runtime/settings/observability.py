"""What a process tells about itself: logs, metrics, traces."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import SettingsConfigDict

from runtime.settings.concern import Concern, HostAndPort, WebAddress


class LogSettings(Concern):
    """Logs."""

    model_config = SettingsConfigDict(env_prefix="TRYON_LOG_")
    title = "Logs"

    level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severity that is written."""

    format: Literal["json", "text"] = "json"
    """One JSON object a line, or text for people."""


class MetricsSettings(Concern):
    """Prometheus metrics: [observability.md](observability.md). Serve them to your own network alone."""

    model_config = SettingsConfigDict(env_prefix="TRYON_METRICS_")
    title = "Metrics"

    api_address: HostAndPort | None = None
    """Host and port where the API serves ``/metrics``, apart from its public port; None serves none. ``tryon up``
    serves the metrics of all three processes on loopback."""

    worker_cpu_address: HostAndPort | None = None
    """The same of the CPU worker: Temporal's SDK, the jobs, and the state of the database."""

    worker_gpu_address: HostAndPort | None = None
    """The same of the GPU worker. Each process of a host needs a port of its own."""

    state_interval_seconds: float = Field(default=15.0, ge=1.0, le=3600)
    """How often each CPU worker reads the state (jobs, outbox, reservations, queues); some milliseconds of the
    database each time. As often as Prometheus asks is often enough."""


class TracingSettings(Concern):
    """OpenTelemetry traces, from the request through the workflow to the engine. Need the extra ``tracing``."""

    model_config = SettingsConfigDict(env_prefix="TRYON_TRACING_")
    title = "Traces"

    endpoint: WebAddress | None = None
    """Base address of an OTLP collector that is spoken to over HTTP, such as ``http://127.0.0.1:4318``; None makes no
    traces."""

    headers: SecretStr | None = None
    """Headers for the collector, ``name=value`` with commas between, where it wants a key."""

    sample_ratio: float = Field(default=1.0, ge=0.0, le=1.0)
    """Share of requests that are traced, whole: 0.1 is every tenth."""

    continue_incoming: bool = False
    """Go on with the trace that a request's ``traceparent`` names. Only behind a proxy of your own that sets it: who
    may choose it decides what is traced."""
