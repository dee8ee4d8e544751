"""Recording the metrics of the catalogue: over Temporal's SDK in workers, over ``prometheus-client`` in the API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, start_http_server
from prometheus_client.process_collector import ProcessCollector
from temporalio import activity
from temporalio.common import MetricGaugeFloat, MetricHistogramFloat, MetricMeter
from temporalio.runtime import PrometheusConfig, Runtime, TelemetryConfig

from runtime.metric_catalogue import CATALOGUE, JOB_SECONDS, JOBS, S3_SECONDS, Metric

TOTAL = "_total"
"""Ends a counter's name; both libraries append it themselves."""

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
        self._gauges: dict[str, MetricGaugeFloat] = {}
        self._histograms: dict[str, MetricHistogramFloat] = {}

    def add(self, metric: Metric, amount: int = 1, **labels: str) -> None:
        name = metric.name.removesuffix(TOTAL)
        self._meter.create_counter(name, metric.meaning).add(amount, labels)

    def record(self, metric: Metric, value: float, **labels: str) -> None:
        if metric.name not in self._histograms:
            self._histograms[metric.name] = self._meter.create_histogram_float(metric.name, metric.meaning)
        self._histograms[metric.name].record(value, labels)

    def set(self, metric: Metric, value: float, **labels: str) -> None:
        if metric.name not in self._gauges:
            self._gauges[metric.name] = self._meter.create_gauge_float(metric.name, metric.meaning)
        self._gauges[metric.name].set(value, labels)


def activity_meter() -> SdkMeter:
    """The meter of the activity that this is called in."""
    return SdkMeter(activity.metric_meter())


class PrometheusMeter:
    """`Meter` over a registry of this process, for processes without a Temporal worker.

    Args:
        process: Which metrics of the catalogue it has.
    """

    def __init__(self, process: str) -> None:
        # When a series began is of no use to Prometheus and would double their number.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        self._histograms: dict[str, Histogram] = {}
        for metric in CATALOGUE.values():
            if process in metric.processes:
                self._make(metric)

    def add(self, metric: Metric, amount: int = 1, **labels: str) -> None:
        counter = self._counters[metric.name]
        (counter.labels(**labels) if labels else counter).inc(amount)

    def record(self, metric: Metric, value: float, **labels: str) -> None:
        histogram = self._histograms[metric.name]
        (histogram.labels(**labels) if labels else histogram).observe(value)

    def set(self, metric: Metric, value: float, **labels: str) -> None:
        gauge = self._gauges[metric.name]
        (gauge.labels(**labels) if labels else gauge).set(value)

    def read(self, metric: Metric, reading: Callable[[], float]) -> None:
        """Ask for a gauge's value whenever somebody wants to see it."""
        self._gauges[metric.name].set_function(reading)

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

    def _make(self, metric: Metric) -> None:
        match metric.kind:
            case "counter":
                name = metric.name.removesuffix(TOTAL)
                self._counters[metric.name] = Counter(name, metric.meaning, metric.labels, registry=self.registry)
            case "gauge":
                self._gauges[metric.name] = Gauge(metric.name, metric.meaning, metric.labels, registry=self.registry)
            case "histogram":
                self._histograms[metric.name] = Histogram(
                    metric.name, metric.meaning, metric.labels, registry=self.registry, buckets=metric.buckets
                )


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
    """What is counted of a job that has ended."""

    kind: str
    mode: str
    outcome: str
    reason: str
    stage_seconds: Mapping[str, float]


def count_ended_jobs(meter: Meter, ended: Iterable[EndedJob], *, durations: bool) -> None:
    """Count jobs whose end was committed.

    Args:
        meter: Where.
        ended: The jobs.
        durations: Whether this kind of process records them too.
    """
    for job in ended:
        meter.add(JOBS, kind=job.kind, mode=job.mode, outcome=job.outcome, reason=job.reason)
        if durations and job.mode == "live":
            for stage, seconds in job.stage_seconds.items():
                meter.record(JOB_SECONDS, seconds, kind=job.kind, stage=stage)


def object_store_calls(meter: Meter) -> Callable[[str, str, float], None]:
    """What `runtime.object_store.S3ObjectStore` tells its calls to: operation, outcome, seconds."""

    def record(operation: str, outcome: str, seconds: float) -> None:
        meter.record(S3_SECONDS, seconds, op=operation, outcome=outcome)

    return record
