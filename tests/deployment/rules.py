"""What has to hold of the compose file: each rule takes the file and returns its faults, one sentence each."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

from api.main import DRAIN_SECONDS
from cli.embedded import GPU_WORKER_STOP_SECONDS
from runtime.settings import JobSettings
from tests.deployment.compose import OURS, PROJECT, VARIABLE, Compose, Service, environment_of
from worker_cpu.main import GRACEFUL_SHUTDOWN as CPU_SHUTDOWN
from worker_gpu.main import GRACEFUL_SHUTDOWN as GPU_SHUTDOWN

Rule = Callable[[Compose], list[str]]

PUBLISHED = {"api", "object-store", "temporal-ui", "grafana"}
"""The API and the pages for people."""

EXACT_TAG = re.compile(r":(v?\d+\.\d+\.\d+(-[a-z]+)?|\d+\.\d+-[a-z]+|RELEASE\.[0-9TZ-]+)$")
SECRET = re.compile(r"PASSWORD|SECRET|PEPPER$|_PWD$")
"""Names of secrets; ``KEY_PEPPER_PREVIOUS`` is one that there may be none of."""
OF_OTHERS = {"MAIL_PASSWORD", "STRIPE_SECRET_KEY", "STRIPE_WEBHOOK_SECRET"}
"""Secrets of services outside, which a deployment may do without: they may be empty, and nothing else by default."""
SPARE = timedelta(seconds=5)
"""For what comes after the last step: closing connections, flushing logs."""

NEEDED_TO_STOP = {
    "api": timedelta(seconds=JobSettings().longest_wait_seconds + DRAIN_SECONDS),
    "worker-cpu": CPU_SHUTDOWN,
    "worker-warp": max(GPU_SHUTDOWN, timedelta(seconds=GPU_WORKER_STOP_SECONDS) - SPARE),
    "worker-gpu": max(GPU_SHUTDOWN, timedelta(seconds=GPU_WORKER_STOP_SECONDS) - SPARE),
}


def runs_once(service: Service) -> bool:
    return bool(service.get("restart") == "no")


def images(compose: Compose) -> list[str]:
    """Every image has an exact tag, and those of one product the same one."""
    faults, tags = [], {}
    for name, service in compose.services.items():
        image: str = service["image"]
        if not EXACT_TAG.search(image):
            faults.append(f"{name}: {image} has no exact tag")
        product, _, tag = image.rpartition(":")
        product = "temporal" if product in {"temporalio/server", "temporalio/admin-tools"} else product.split("/")[0]
        if tags.setdefault(product, tag) != tag:
            faults.append(f"{name}: {product} is {tag} here and {tags[product]} elsewhere")
    return faults


def publishing(compose: Compose) -> list[str]:
    """Nothing but the API and pages for people is published, and those on loopback."""
    faults = []
    for name, service in compose.services.items():
        for port in service.get("ports", []):
            if name not in PUBLISHED:
                faults.append(f"{name} publishes {port}")
            if not str(port).startswith("127.0.0.1:"):
                faults.append(f"{name} publishes {port} beyond this host")
        if service.get("network_mode") or service.get("privileged"):
            faults.append(f"{name} shares the host's network or rights")
        only_inside = service["networks"] == ["inside"]
        if name not in PUBLISHED | {"worker-cpu", "worker-gpu"} and not only_inside:
            faults.append(f"{name} has a way out")
    if not compose.document["networks"]["inside"].get("internal"):
        faults.append("the network inside is open")
    return faults


def stopping(compose: Compose) -> list[str]:
    """Docker waits longer than a process needs to finish what it does."""
    faults = []
    for name, service in compose.services.items():
        if runs_once(service):
            continue
        seconds = timedelta(seconds=int(service.get("stop_grace_period", "0s").removesuffix("s")))
        if seconds < NEEDED_TO_STOP.get(name, timedelta()) + SPARE:
            faults.append(f"{name} is killed after {seconds}")
    return faults


def volumes(compose: Compose) -> list[str]:
    """Data lies in named volumes, what is mounted from here exists and is read only, and no volume is left over."""
    faults, used = [], set()
    for name, service in compose.services.items():
        for mount in service.get("volumes", []):
            source, *rest = mount.split(":")
            if source.startswith("./"):
                if rest[-1] != "ro" or not (PROJECT / source).exists():
                    faults.append(f"{name}: {mount} is not there, or may be written")
            elif source not in compose.document["volumes"]:
                faults.append(f"{name}: {mount} has no named volume")
            used.add(source)
    return faults + [f"nothing uses the volume {name}" for name in compose.document["volumes"] if name not in used]


def health(compose: Compose) -> list[str]:
    """Whatever runs can be asked how it is, is started again, and keeps its log short."""
    faults = []
    for name, service in compose.services.items():
        if not runs_once(service) and (
            "healthcheck" not in service
            or service["healthcheck"].get("disable")
            or service.get("restart") != "unless-stopped"
        ):
            faults.append(f"{name} has no health check or is not started again")
        if "max-size" not in service.get("logging", {}).get("options", {}):
            faults.append(f"{name}'s log grows without end")
        if "no-new-privileges:true" not in service.get("security_opt", []):
            faults.append(f"{name} may gain rights")
        if name in OURS and not (service.get("read_only") and service.get("cap_drop") == ["ALL"]):
            faults.append(f"{name} may write its own files or has capabilities")
    return faults


def dependencies(compose: Compose) -> list[str]:
    """A service waits until what it needs is healthy or done, and needs nothing that its profile leaves out."""
    faults = []
    for name, service in compose.services.items():
        needed: dict[str, dict[str, str]] = service.get("depends_on", {})
        for other, how in needed.items():
            wanted = "service_completed_successfully" if runs_once(compose.services[other]) else "service_healthy"
            if how["condition"] != wanted:
                faults.append(f"{name} waits for {other} with {how['condition']}")
            if set(compose.services[other].get("profiles", service.get("profiles", []))) != set(
                service.get("profiles", [])
            ):
                faults.append(f"{name} needs {other}, which a profile may leave out")
        if name in OURS and not needed:
            faults.append(f"{name} waits for nothing")
    return faults


def secrets(compose: Compose) -> list[str]:
    """No secret is written down here or has a default."""
    faults = [
        f"{found['name']} has a default or none has to be given"
        for found in VARIABLE.finditer(compose.text)
        if SECRET.search(found["name"]) and not _has_no_default(found)
    ]
    for line in compose.text.splitlines():
        key, _, value = line.strip().partition(": ")
        if SECRET.search(key) and key.isupper() and not value.lstrip('"').startswith("${"):
            faults.append(f"{key} is written down")
    return faults


def _has_no_default(found: re.Match[str]) -> bool:
    if found["name"] in OF_OTHERS:
        return (found["kind"], found["rest"]) == (":-", "")
    return found["kind"] == ":?"


def environments(compose: Compose) -> list[str]:
    """Values are texts, so that nothing depends on how YAML reads them."""
    return [
        f"{name}: {key} is no text"
        for name, service in compose.services.items()
        for key, value in environment_of(service).items()
        if not isinstance(value, str)
    ]


RULES: dict[str, Rule] = {
    rule.__name__: rule for rule in (images, publishing, stopping, volumes, health, dependencies, secrets, environments)
}
