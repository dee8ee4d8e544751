"""The catalogue and what the processes really serve are the same."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from runtime.metric_catalogue import API, CATALOGUE, CPU, GPU, SDK_LABELS, Metric
from tests.observability.conftest import Played

OF_HISTOGRAMS = ("_bucket", "_sum", "_count", "_created")
LIBRARIES = ("temporal_", "process_")
SERVED_BY_TRAGEDY = {
    "temporal_workflow_task_execution_failed_total",
    "temporal_activity_execution_failed_total",
    "temporal_request_failure_total",
}
"""Metrics of the SDK that a run without faults never serves."""

FORBIDDEN_IN_LABELS = ("vto_", "@", "://", "data:")


def samples(text: str) -> dict[str, set[frozenset[str]]]:
    """Names of samples with the label sets under which they are served."""
    found: dict[str, set[frozenset[str]]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, set()).add(frozenset(sample.labels) - {"le"})
    return found


def text_of(played: Played, process: str) -> str:
    return {API: played.api, CPU: played.cpu, GPU: played.gpu}[process]


def metric_of(sample: str) -> Metric | None:
    if sample in CATALOGUE:
        return CATALOGUE[sample]
    for suffix in OF_HISTOGRAMS:
        if sample.removesuffix(suffix) in CATALOGUE:
            return CATALOGUE[sample.removesuffix(suffix)]
    return None


@pytest.mark.parametrize("process", [API, CPU, GPU])
async def test_every_metric_of_the_catalogue_is_served_with_its_labels(played: Played, process: str) -> None:
    served = samples(text_of(played, process))
    for metric in CATALOGUE.values():
        name = f"{metric.name}_count" if metric.kind == "histogram" else metric.name
        if process in metric.processes:
            assert name in served, name
            labels = {found - SDK_LABELS for found in served[name]}
            assert labels == {frozenset(metric.labels)}, name
        else:
            assert name not in served, name


@pytest.mark.parametrize("process", [API, CPU, GPU])
async def test_nothing_is_served_that_the_catalogue_does_not_know(played: Played, process: str) -> None:
    unknown = [
        name for name in samples(text_of(played, process)) if metric_of(name) is None and not name.startswith(LIBRARIES)
    ]
    assert unknown == []


@pytest.mark.parametrize("process", [API, CPU, GPU])
async def test_no_label_tells_whose_request_it_was(played: Played, process: str) -> None:
    caller = played.scene.caller
    for family in text_string_to_metric_families(text_of(played, process)):
        for sample in family.samples:
            for value in sample.labels.values():
                assert not any(mark in value for mark in FORBIDDEN_IN_LABELS), (sample.name, value)
                assert str(caller.account_id) not in value
                assert str(caller.key_id) not in value


def value(text: str, name: str, **labels: str) -> float:
    """The sum of the samples that carry these labels."""
    return sum(
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


async def test_what_was_played_is_what_was_counted(played: Played) -> None:
    api, cpu, gpu = played.api, played.cpu, played.gpu
    assert played.answers["completed"].json()["status"] == "completed"
    assert played.answers["refused by the engine's side"].json()["status"] == "failed"
    ended = lambda **labels: value(cpu, "tryon_jobs_total", **labels) + value(api, "tryon_jobs_total", **labels)  # noqa: E731
    assert ended(outcome="completed", mode="test") == 1
    assert ended(outcome="failed", reason="garment_url_refused") == 1
    assert ended(outcome="failed", reason="timed_out") == value(cpu, "tryon_reconciled_total", action="timed_out") == 1
    assert ended() == 5
    assert value(cpu, "tryon_ssrf_blocked_total", reason="address") == 1
    assert value(api, "tryon_ssrf_blocked_total", reason="address") == 1
    assert value(api, "tryon_image_rejected_total", reason="image_not_readable") == 1
    assert value(api, "tryon_rate_limited_total") == 1
    assert value(api, "tryon_quota_refused_total", code="volume_exhausted") == 1
    assert value(api, "tryon_refused_total", code="unauthorized") == 1
    assert value(api, "http_server_request_duration_seconds_count", route="(none)", status="404") == 1
    assert value(api, "http_server_request_duration_seconds_count", route="/api/v1/tryon/{jobId}", held="yes") == 3
    assert value(api, "http_server_request_duration_seconds_count", route="/api/v1/tryon/{jobId}", status="429") == 1
    assert value(api, "http_server_active_requests") == value(api, "tryon_body_bytes_in_flight") == 0
    assert value(cpu, "tryon_results_expired_total") >= 2
    assert value(cpu, "tryon_ledger_disagreements") == 0
    for waiting in ("tryon_mails_waiting", "tryon_orders_open", "tryon_erasures_open", "tryon_webhooks_late"):
        assert value(cpu, waiting) == 1
    assert value(cpu, "tryon_mail_oldest_seconds") > 100
    assert value(gpu, "tryon_device_seconds_count", step="segment") >= 2
    assert value(gpu, "tryon_render_second_tries_total") >= 1


async def test_durations_are_seconds(played: Played) -> None:
    """A millisecond that is taken for a second would make the whole scene last for hours."""
    assert 0 < value(played.cpu, "tryon_job_duration_seconds_sum", stage="total") < 120
    assert value(played.cpu, "temporal_activity_execution_latency_sum") < 120
    assert 'le="0.05"' in played.cpu
