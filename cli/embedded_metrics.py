"""Where the processes of the embedded stack serve their metrics: on loopback, unless the operator says otherwise."""

from __future__ import annotations

from runtime.embedded.ports import LOOPBACK, choose_port
from runtime.metrics import host_and_port
from runtime.settings import MetricsSettings

FIRST_PORT = 9464
"""The API's; those of the workers follow. OpenTelemetry's own choice for what Prometheus reads."""

FIELDS = {"api_address": "Metrics", "worker_cpu_address": "… CPU worker", "worker_gpu_address": "… GPU worker"}
"""Settings, and what they are called among the addresses of the stack."""


def metrics_environment(wanted: MetricsSettings) -> dict[str, str]:
    """The ``TRYON_METRICS_…`` variables of this stack's processes.

    They are for these processes alone: in the file that other commands read, a second worker would find a port that
    is taken.

    Raises:
        PortInUseError: A port that the operator named is taken.
    """
    chosen, free_from = {}, FIRST_PORT
    for field in FIELDS:
        address = getattr(wanted, field)
        what = f"metrics ({field})"
        if address is not None:
            host, port = host_and_port(address)
            choose_port(port, named=True, host=host, what=what)
        else:
            port = choose_port(free_from, named=False, what=what)
            address, free_from = f"{LOOPBACK}:{port}", port + 1
        chosen[f"TRYON_METRICS_{field.upper()}"] = address
    return chosen


def metrics_addresses(settings: MetricsSettings) -> dict[str, str]:
    """What Prometheus asks, by name."""
    return {name: f"http://{getattr(settings, field)}/metrics" for field, name in FIELDS.items()}
