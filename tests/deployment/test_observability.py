"""The profile `observability`: Prometheus asks where our processes answer, under the names that the rules expect."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.deployment import dockerfile
from tests.deployment.compose import PROJECT, Compose

PORTS = {
    "tryon-api": ({"api"}, "TRYON_METRICS_API_ADDRESS"),
    "tryon-worker-cpu": ({"worker-cpu"}, "TRYON_METRICS_WORKER_CPU_ADDRESS"),
    "tryon-worker-gpu": ({"worker-warp", "worker-gpu"}, "TRYON_METRICS_WORKER_GPU_ADDRESS"),
}


@pytest.fixture(scope="module")
def jobs() -> dict[str, dict[str, object]]:
    config = yaml.safe_load((PROJECT / "deployment" / "observability" / "prometheus.yml").read_text())
    return {job["job_name"]: job["dns_sd_configs"][0] for job in config["scrape_configs"]}


def test_our_processes_are_asked_where_they_answer(jobs: dict[str, dict[str, object]]) -> None:
    images = dockerfile.read(dockerfile.FILE.read_text())
    for name, (services, variable) in PORTS.items():
        assert set(jobs[name]["names"]) == services  # type: ignore[call-overload]
        for service in services:
            assert images.environment(service)[variable] == f"0.0.0.0:{jobs[name]['port']}"


def test_temporal_is_asked_where_it_answers(jobs: dict[str, dict[str, object]], compose: Compose) -> None:
    answers = compose.services["temporal"]["environment"]["PROMETHEUS_ENDPOINT"]
    assert answers == f"0.0.0.0:{jobs['temporal']['port']}"


def test_the_jobs_have_the_names_of_one_machine(jobs: dict[str, dict[str, object]]) -> None:
    one_machine = yaml.safe_load((PROJECT / "observability" / "prometheus.yml").read_text())
    assert {job["job_name"] for job in one_machine["scrape_configs"]} == set(jobs) - {"temporal"}


def test_prometheus_finds_its_rules(compose: Compose) -> None:
    mounted = dict(volume.split(":")[:2] for volume in compose.services["prometheus"]["volumes"])
    config = Path(mounted["./deployment/observability/prometheus.yml"])
    named = yaml.safe_load((PROJECT / "deployment" / "observability" / "prometheus.yml").read_text())["rule_files"]
    assert [str(config.parent / name) for name in named] == [mounted["./observability/alerts.yml"]]


def test_grafana_is_told_where_prometheus_is_and_where_the_dashboards_lie(compose: Compose) -> None:
    source = yaml.safe_load((PROJECT / "deployment" / "observability" / "grafana.yml").read_text())["datasources"][0]
    assert source["url"] == "http://prometheus:9090"
    assert "prometheus" in compose.services
    folder = yaml.safe_load((PROJECT / "deployment" / "observability" / "dashboards.yml").read_text())["providers"][0]
    mounted = dict(reversed(volume.split(":")[:2]) for volume in compose.services["grafana"]["volumes"])
    assert mounted[folder["options"]["path"]] == "./observability/grafana"
