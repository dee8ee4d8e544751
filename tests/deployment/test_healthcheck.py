"""The health check of the containers, against a real server on loopback."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from tests.deployment.compose import PROJECT
from tests.servers.processes import free_port

METRICS = """\
# HELP temporal_num_pollers Current number of active pollers per queue type
# TYPE temporal_num_pollers gauge
temporal_num_pollers{poller_type="sticky_workflow_task",task_queue="tryon-cpu"} 0
temporal_num_pollers{poller_type="activity_task",task_queue="tryon-cpu"} %s
temporal_num_pollers_of_others 5
"""


@contextmanager
def serving(status: int, text: str) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *arguments: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{server.server_port}/metrics"
        finally:
            server.shutdown()


def check(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-S", "deployment/healthcheck.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=PROJECT)


def test_an_answer_of_200_is_enough_where_no_metric_is_named() -> None:
    with serving(200, "{}") as address:
        assert check(address).returncode == 0


@pytest.mark.parametrize(("value", "healthy"), [("5", True), ("0", False), ("1.0", True)])
def test_a_worker_is_healthy_while_something_polls(value: str, healthy: bool) -> None:
    with serving(200, METRICS % value) as address:
        done = check(address, "temporal_num_pollers")
    assert (done.returncode == 0) is healthy, done.stderr
    assert healthy or "no sample of temporal_num_pollers is above zero" in done.stderr


@pytest.mark.parametrize(("used", "healthy"), [("2", True), ("0", False)])
def test_any_of_several_metrics_will_do(used: str, healthy: bool) -> None:
    busy = f'temporal_worker_task_slots_used{{task_queue="tryon-gpu",worker_type="ActivityWorker"}} {used}\n'
    with serving(200, METRICS % 0 + busy) as address:
        done = check(address, "temporal_num_pollers", "temporal_worker_task_slots_used")
    assert (done.returncode == 0) is healthy, done.stderr
    assert healthy or "temporal_num_pollers or temporal_worker_task_slots_used is above zero" in done.stderr


def test_an_unready_service_is_not_healthy() -> None:
    with serving(503, "") as address:
        done = check(address)
    assert done.returncode == 1
    assert "503" in done.stderr


def test_a_service_that_is_away_is_not_healthy() -> None:
    done = check(f"127.0.0.1:{free_port()}/readyz")
    assert done.returncode == 1
    assert "refused" in done.stderr
