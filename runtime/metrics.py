"""Recording the metrics of the catalogue: over Temporal's SDK in workers, over ``prometheus-client`` in the API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, start_http_server
from prometheus_client.process_collector import ProcessCollector
from temporalio import activity
from temporalio.common import MetricMeter
from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig

from runtime.metric_catalogue import CATALOGUE, JOB_SECONDS, JOBS, S3_SECONDS, Metric

TOTAL = "_total"  # ends a counter's name; both libraries append it themselves

SDK_BUCKETS: dict[str, tuple[float, ...]] = dict.fromkeys(
    ("temporal_activity_schedule_to_start_latency", "temporal_workflow_task_schedule_to_start_latency"),
    (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0),
)
"""Seconds; the SDK's own go from 10 to 100, which says little about a wait of a minute."""


class MetricsAddressError(Exception):
    """The address for metrics cannot be listened on."""


class Meter(Protocol):
    """Records metrics of the catalogue."""

    def add(self, metric: Metric, amount: int = 1, **labels: str) -> None:
        """Count."""

    def record(self, metric: Metric, value: float, **labels: str) -> None:
        """Put a value into a histogram."""

    def set(self, metric: Metric, value: float, **labels: str) -> None:
        """Set a gauge."""


class SdkMeter:
    """`Meter` over Temporal's SDK, which serves it with its own."""

    def __init__(self, meter: MetricMeter) -> None:
        self._meter = meter
        self._made: dict[str, Any] = {}

    def add(self, metric: Metric, amount: int = 1, **labels: str) -> None:
        self._instrument(metric, self._meter.create_counter).add(amount, labels)

    def record(self, metric: Metric, value: float, **labels: str) -> None:
        self._instrument(metric, self._meter.create_histogram_float).record(value, labels)

    def set(self, metric: Metric, value: float, **labels: str) -> None:
        self._instrument(metric, self._meter.create_gauge_float).set(value, labels)

    def _instrument(self, metric: Metric, create: Callable[[str, str], Any]) -> Any:
        if metric.name not in self._made:
            self._made[metric.name] = create(metric.name.removesuffix(TOTAL), metric.meaning)
        return self._made[metric.name]


def activity_meter() -> SdkMeter:
    """The meter of the activity that this is called in."""
    return SdkMeter(activity.metric_meter())


class PrometheusMeter:
    """`Meter` over a registry of this process, for processes without a Temporal worker."""

    def __init__(self, process: str) -> None:
        """Make the metrics that the catalogue has for this process."""
        # When a series began is of no use to Prometheus and would double their number.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        kinds: dict[str, Callable[..., Any]] = {"counter": Counter, "gauge": Gauge, "histogram": Histogram}
        self._made: dict[str, Any] = {
            metric.name: kinds[metric.kind](
                metric.name,
                metric.meaning,
                metric.labels,
                registry=self.registry,
                **({"buckets": metric.buckets} if metric.buckets else {}),
            )
            for metric in CATALOGUE.values()
            if process in metric.processes
        }

    def add(self, metric: Metric, amount: int = 1, **labels: str) -> None:
        self._series(metric, labels).inc(amount)

    def record(self, metric: Metric, value: float, **labels: str) -> None:
        self._series(metric, labels).observe(value)

    def set(self, metric: Metric, value: float, **labels: str) -> None:
        self._series(metric, labels).set(value)

    def _series(self, metric: Metric, labels: Mapping[str, str]) -> Any:
        made = self._made[metric.name]
        return made.labels(**labels) if labels else made

    def read(self, metric: Metric, reading: Callable[[], float]) -> None:
        """Ask for a gauge's value whenever it is read."""
        self._made[metric.name].set_function(reading)

    def serve(self, address: str) -> Callable[[], None]:
        """Serve ``/metrics`` from a thread until the function is called that this returns.

        Raises:
            MetricsAddressError: The address cannot be listened on.
        """
        host, port = host_and_port(address)
        try:
            server, thread = start_http_server(port, host, self.registry)
        except OSError as error:
            raise _unusable(address, error) from error

        def stop() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return stop


def sdk_runtime(address: str | None) -> Runtime:
    """The runtime of a process's Temporal client, serving metrics at this address if there is one.

    Raises:
        MetricsAddressError: The address cannot be listened on.
    """
    if address is None:
        return Runtime.default()
    buckets = {metric.name: metric.buckets for metric in CATALOGUE.values() if metric.buckets}
    prometheus = PrometheusConfig(
        bind_address=address,
        counters_total_suffix=True,
        durations_as_seconds=True,
        histogram_bucket_overrides={**SDK_BUCKETS, **buckets},
    )
    try:
        # Who serves is told by Prometheus's own labels `job` and `instance`.
        return Runtime(telemetry=TelemetryConfig(metrics=prometheus, attach_service_name=False))
    except ValueError as error:
        raise _unusable(address, error) from error


def host_and_port(address: str) -> tuple[str, int]:
    """The parts of an address such as ``127.0.0.1:9464`` or ``[::1]:9464``."""
    host, _, port = address.rpartition(":")
    return host.strip("[]"), int(port)


def _unusable(address: str, error: Exception) -> MetricsAddressError:
    return MetricsAddressError(
        f"Metrics cannot be served at {address}: {error}. Each process needs a port of its own; see TRYON_METRICS_… ."
    )


class EndedJob(Protocol):
    """The facts of an ended job that are counted."""

    kind: str
    mode: str
    outcome: str
    reason: str
    stage_seconds: Mapping[str, float]


def count_ended_jobs(meter: Meter, ended: Iterable[EndedJob], *, durations: bool) -> None:
    """Count jobs whose end was committed, with how long each stage took if this kind of process records that."""
    for job in ended:
        meter.add(JOBS, kind=job.kind, mode=job.mode, outcome=job.outcome, reason=job.reason)
        if durations and job.mode == "live":
            for stage, seconds in job.stage_seconds.items():
                meter.record(JOB_SECONDS, seconds, kind=job.kind, stage=stage)


def object_store_calls(meter: Meter) -> Callable[[str, str, float], None]:
    """The ``on_call`` of `runtime.object_store.S3ObjectStore`, recording to this meter."""

    def record(operation: str, outcome: str, seconds: float) -> None:
        meter.record(S3_SECONDS, seconds, op=operation, outcome=outcome)

    return record
