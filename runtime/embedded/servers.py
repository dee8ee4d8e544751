"""Command lines of the servers that PyPI packages carry: Temporal's dev server and SeaweedFS."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path

import httpx

from runtime.embedded.ports import LOOPBACK

GRPC_OFFSET = 10_000
PROBE_SECONDS = 2.0

WEED_PORTS = ("s3", "master", "volume", "filer", "admin")
"""SeaweedFS takes consecutive ports in this order, and for each the one 10000 above for gRPC."""

WEED_VOLUMES = 10_000
"""More than a disk holds, so that room on the disk is what counts.

By itself SeaweedFS counts at its start how many volumes of full length (up to 1 GB) would still fit. The bucket takes
seven at once; where few are left its own log gets none, and then it does not end when asked to.
"""

WEED_OFFSETS = tuple(base + position for base in (0, GRPC_OFFSET) for position in range(len(WEED_PORTS)))


def find_program(name: str) -> str:
    """A program of this environment, whether or not it is activated.

    Raises:
        FileNotFoundError: Its package is not installed.
    """
    beside_python = Path(sys.executable).parent / name
    found = str(beside_python) if beside_python.exists() else shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"{name} was not found; install the project with its dependencies")
    return found


def temporal_command(
    database: Path, *, port: int, ui_port: int, namespace: str, search_attributes: Iterable[str]
) -> list[str]:
    """Temporal's dev server with its UI, on a SQLite file.

    The server polls its history queues 20 times a second by default, which adds 50 ms to every step of every job;
    these limits take that away. The write-ahead log doubles its throughput.
    """
    dynamic = [f"history.{queue}ProcessorMaxPollRPS=2000" for queue in ("transfer", "timer", "visibility")] + [
        "matching.enableFairness=true"
    ]
    return [
        find_program("temporal"),
        *("server", "start-dev", "--ip", LOOPBACK, "--port", str(port), "--ui-port", str(ui_port)),
        *("--db-filename", str(database), "--namespace", namespace, "--log-level", "warn"),
        "--ui-disable-news-fetch",
        *("--sqlite-pragma", "journal_mode=WAL", "--sqlite-pragma", "synchronous=NORMAL"),
        *(word for value in dynamic for word in ("--dynamic-config-value", value)),
        *(word for name in search_attributes for word in ("--search-attribute", f"{name}=Keyword")),
    ]


class VolumesMissingError(Exception):
    """SeaweedFS answers, and has nowhere to put an object yet."""


async def check_weed_volumes(s3_port: int) -> None:
    """Raise unless the server can take objects.

    Its volume server sometimes asks its master for admission a moment too early and then waits five seconds; an
    object that is put meanwhile is held up for as long as twenty.
    """
    master = f"http://{LOOPBACK}:{s3_port + WEED_PORTS.index('master')}"
    async with httpx.AsyncClient(timeout=PROBE_SECONDS, trust_env=False) as client:
        topology = (await client.get(f"{master}/dir/status")).json()["Topology"]
    racks = [rack for center in topology["DataCenters"] or [] for rack in center["Racks"] or []]
    if not any(rack["DataNodes"] for rack in racks):
        raise VolumesMissingError


def write_weed_credentials(path: Path, *, access_key: str, secret_key: str) -> None:
    """The one identity that may read and write; only its owner may read the file."""
    identity = {
        "name": "tryon",
        "credentials": [{"accessKey": access_key, "secretKey": secret_key}],
        "actions": ["Admin", "Read", "List", "Tagging", "Write"],
    }
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(json.dumps({"identities": [identity]}))


def weed_command(folder: Path, *, s3_port: int, credentials: Path) -> list[str]:
    """SeaweedFS in one process.

    Everything is bound to loopback (its filer serves every object without a key, and its default is every
    address), and its usage reports are switched off.
    """
    ports = []
    for position, name in enumerate(WEED_PORTS):
        ports += [f"-{name}.port={s3_port + position}", f"-{name}.port.grpc={s3_port + position + GRPC_OFFSET}"]
    return [
        find_program("weed"),
        "-logtostderr=true",
        "mini",
        f"-dir={folder}",
        *(f"-ip={LOOPBACK}", f"-ip.bind={LOOPBACK}"),
        *ports,
        f"-s3.config={credentials}",
        *("-s3.port.iceberg=0", "-s3.port.lance=0", "-webdav=false", "-admin.ui=false"),
        f"-volume.max={WEED_VOLUMES}",
        "-master.telemetry=false",
    ]
