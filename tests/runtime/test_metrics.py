from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from runtime.metric_catalogue import API, CATALOGUE, CPU, GPU, S3_SECONDS, Metric
from runtime.metrics import MetricsAddressError, PrometheusMeter, host_and_port, sdk_runtime
from tests.servers.processes import free_port

PROJECT = Path(__file__).parents[2]


@pytest.mark.parametrize("metric", CATALOGUE.values(), ids=lambda metric: metric.name)
def test_a_name_says_what_it_counts(metric: Metric) -> None:
    assert metric.name.endswith("_total") == (metric.kind == "counter")
    assert bool(metric.buckets) == (metric.kind == "histogram")
    assert set(metric.processes) <= {API, CPU, GPU}
    assert metric.processes
    if metric.kind == "histogram":
        assert metric.name.endswith("_seconds")
        assert list(metric.buckets) == sorted(set(metric.buckets))


def test_the_apis_metrics_are_served_until_it_ends() -> None:
    meter, address = PrometheusMeter(API), f"127.0.0.1:{free_port()}"
    stop = meter.serve(address)
    meter.record(S3_SECONDS, 0.02, op="put", outcome="ok")
    with httpx.Client(trust_env=False) as client:
        text = client.get(f"http://{address}/metrics").text
        stop()
        with pytest.raises(httpx.ConnectError):
            client.get(f"http://{address}/metrics")
    assert 'tryon_s3_seconds_bucket{le="0.025",op="put",outcome="ok"} 1.0' in text
    assert "process_resident_memory_bytes" in text


def test_an_address_that_is_taken_is_refused_by_both() -> None:
    assert host_and_port("[::1]:9464") == ("::1", 9464)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(MetricsAddressError, match=address):
            PrometheusMeter(API).serve(address)
        with pytest.raises(MetricsAddressError, match=address):
            sdk_runtime(address)


@pytest.mark.parametrize(
    ("module", "setting"),
    [
        ("api.main", "TRYON_METRICS_API_ADDRESS"),
        ("worker_cpu.main", "TRYON_METRICS_WORKER_CPU_ADDRESS"),
        ("worker_gpu.main", "TRYON_METRICS_WORKER_GPU_ADDRESS"),
    ],
)
def test_a_process_that_cannot_serve_its_metrics_ends_with_one_sentence(
    monkeypatch: pytest.MonkeyPatch, module: str, setting: str
) -> None:
    monkeypatch.setenv("TRYON_S3_SECRET_KEY", "s" * 40)
    monkeypatch.setenv("TRYON_KEY_PEPPER", "p" * 40)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv(setting, f"127.0.0.1:{taken.getsockname()[1]}")
        ended = subprocess.run(
            [sys.executable, "-m", module], cwd=PROJECT, capture_output=True, text=True, timeout=60, check=False
        )
    assert ended.returncode == 1
    assert ended.stderr.count("\n") == 1
    assert "Metrics cannot be served at 127.0.0.1" in ended.stderr
