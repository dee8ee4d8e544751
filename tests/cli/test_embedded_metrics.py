from __future__ import annotations

import socket

import pytest

from cli.embedded import metrics_addresses, metrics_environment
from runtime.embedded.servers import PortInUseError
from runtime.settings import MetricsSettings


def test_every_process_has_a_port_of_its_own_on_loopback() -> None:
    chosen = metrics_environment(MetricsSettings())
    assert list(chosen) == [
        "TRYON_METRICS_API_ADDRESS",
        "TRYON_METRICS_WORKER_CPU_ADDRESS",
        "TRYON_METRICS_WORKER_GPU_ADDRESS",
    ]
    assert len(set(chosen.values())) == 3
    assert all(address.startswith("127.0.0.1:") for address in chosen.values())


def test_what_the_operator_says_is_done_or_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(PortInUseError, match="metrics"):
            metrics_environment(MetricsSettings(api_address=address))
    assert metrics_environment(MetricsSettings(api_address=address))["TRYON_METRICS_API_ADDRESS"] == address


def test_status_shows_where_they_are() -> None:
    settings = MetricsSettings(api_address="127.0.0.1:1", worker_cpu_address="127.0.0.1:2", worker_gpu_address="h:3")
    assert list(metrics_addresses(settings).values()) == [
        "http://127.0.0.1:1/metrics",
        "http://127.0.0.1:2/metrics",
        "http://h:3/metrics",
    ]
