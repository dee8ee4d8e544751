"""Which servers `tryon up` starts, and with which settings."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from cli.embedded import addresses_of, child_specs, choose_environment, metrics_environment
from runtime.embedded.servers import PortInUseError
from runtime.settings import MetricsSettings, Settings


@pytest.mark.parametrize("wanted", [True, False])
def test_the_temporal_ui_can_be_left_away(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, wanted: bool) -> None:
    monkeypatch.setenv("TRYON_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("TRYON_TEMPORAL_UI", str(wanted))
    for name, value in choose_environment(Settings()).items():
        monkeypatch.setenv(name, value)
    settings = Settings()
    command = child_specs(settings, tmp_path)["temporal"].command
    assert ("--headless" in command, "--ui-port" in command) == (not wanted, wanted)
    assert ("Temporal UI" in addresses_of(settings)) is wanted
    assert bool(settings.temporal.run_url("tryon-1")) is wanted


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
    settings = Settings()
    settings.metrics = MetricsSettings(
        api_address="127.0.0.1:1", worker_cpu_address="127.0.0.1:2", worker_gpu_address="h:3"
    )
    assert list(addresses_of(settings).values())[-3:] == [
        "http://127.0.0.1:1/metrics",
        "http://127.0.0.1:2/metrics",
        "http://h:3/metrics",
    ]
