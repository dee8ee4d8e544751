"""The embedded stack, put together: which servers and processes, with which settings and metrics, in which order."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

from cli.health import all_checks
from domain import migrations
from domain.operation import operators
from imaging.provenance import make_certificate
from runtime.database import Database
from runtime.embedded.record import (
    Endings,
    ProcessIdentity,
    StackRecord,
    keep_secrets,
    marked_environment,
    sole_use,
    stack_secrets,
    stop_leftovers,
    write_environment,
    write_privately,
)
from runtime.embedded.servers import (
    LOOPBACK,
    OBJECTS,
    WEED_GARBAGE_PERCENT,
    WEED_OFFSETS,
    RoomRegained,
    check_room,
    choose_port,
    prepare_weed,
    temporal_command,
)
from runtime.embedded.supervisor import Child, ChildSpec, Supervisor
from runtime.metrics import host_and_port
from runtime.object_store import ObjectStore, S3ObjectStore
from runtime.process import stop_event
from runtime.settings import EMBEDDED_FILE, MetricsSettings, Settings
from workflows.queues import SEARCH_ATTRIBUTES

FIRST_PORT = 9464  # The API's; those of the workers follow. OpenTelemetry's default port for Prometheus.
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


READY_SECONDS = 60.0  # longest time for one part to come up; a cold disk on a busy machine takes a few seconds
GPU_WORKER_READY_SECONDS = 1800.0
"""It loads gigabytes of weights, may compile, and measures a step of its network: that takes minutes on a CPU."""
GPU_WORKER_STOP_SECONDS = 75.0  # longer than its own graceful shutdown
STOP_SECONDS = 40.0

NO_OPERATOR = "  No operator yet, so nobody can approve orders: sign up, then run tryon operator add you@example.com"

OUR_PROCESSES = {"api": "api.main", "worker-cpu": "worker_cpu.main", "worker-gpu": "worker_gpu.main"}


def choose_environment(wanted: Settings) -> dict[str, str]:
    """The ``TRYON_…`` variables of this stack: free ports, its own secrets, and the operator's own settings.

    Raises:
        PortInUseError: A port that the operator named is taken.
    """
    named = wanted.stack.model_fields_set
    temporal_port = choose_port(wanted.stack.temporal_port, named="temporal_port" in named, what="Temporal")
    ui_port = choose_port(wanted.stack.temporal_ui_port, named="temporal_ui_port" in named, what="the Temporal UI")
    s3_port = choose_port(wanted.stack.s3_port, named="s3_port" in named, offsets=WEED_OFFSETS, what="the object store")
    api_port = choose_port(
        wanted.api.port, named="port" in wanted.api.model_fields_set, host=wanted.api.host, what="the API"
    )
    # The embedded servers listen at these addresses, so no setting overrides them.
    return kept_environment(wanted) | {
        "TRYON_S3_ENDPOINT": f"http://127.0.0.1:{s3_port}",
        "TRYON_TEMPORAL_ADDRESS": f"127.0.0.1:{temporal_port}",
        "TRYON_TEMPORAL_UI_URL": f"http://127.0.0.1:{ui_port}" if wanted.stack.temporal_ui else "",
        "TRYON_API_HOST": wanted.api.host,
        "TRYON_API_PORT": str(api_port),
    }


def kept_environment(wanted: Settings) -> dict[str, str]:
    """The part of `choose_environment` that is the same at every start: the database and the secrets."""
    data_dir = wanted.stack.data_dir.resolve()
    kept = stack_secrets(data_dir)
    variables = {
        "TRYON_DATABASE_URL": f"sqlite:///{data_dir / 'tryon.db'}",
        "TRYON_S3_ACCESS_KEY": wanted.object_store.access_key,
        "TRYON_S3_SECRET_KEY": kept["s3_secret_key"],
        "TRYON_KEY_PEPPER": kept["key_pepper"],
        "TRYON_KEY_PEPPER_PREVIOUS": kept.get("key_pepper_previous", ""),
    }
    variables |= signing_environment(wanted, data_dir)
    return variables | {name: os.environ[name] for name in variables if name in os.environ}


def signing_environment(wanted: Settings, data_dir: Path) -> dict[str, str]:
    """What pictures of this stack are signed with: a certificate of its own, unless the operator names another.

    It is kept among the stack's secrets, which backups have, and written to files anew.
    """
    if wanted.signing.certificates is not None or wanted.signing.key is not None:
        return {}
    kept = stack_secrets(data_dir)
    if "signing_key" not in kept:
        kept["signing_certificates"], kept["signing_key"] = make_certificate(wanted.dashboard.name)
        keep_secrets(data_dir, kept)
    names = [name for name in ("signing_certificates", "signing_key", "signing_earlier") if name in kept]
    files = {name: data_dir / f"{name.replace('_', '-')}.pem" for name in names}
    for name, file in files.items():
        write_privately(file, kept[name])
    return {f"TRYON_{name.upper()}": str(file) for name, file in files.items()}


def addresses_of(settings: Settings) -> dict[str, str]:
    """Addresses for people to open, by name."""
    api = f"http://{settings.api.host}:{settings.api.port}"
    dashboard = f"{settings.dashboard.base_url(settings.api)}/dashboard/"
    pages = {"Dashboard": dashboard, "API": api, "API docs": f"{api}/docs"}
    if settings.temporal.ui_url:
        pages["Temporal UI"] = settings.temporal.ui_url
    return pages | {name: f"http://{getattr(settings.metrics, field)}/metrics" for field, name in FIELDS.items()}


def child_specs(settings: Settings, data_dir: Path) -> dict[str, ChildSpec]:
    """Every process of the stack by name, in the order in which they start."""
    checks = all_checks(settings, data_dir)
    temporal = temporal_command(
        data_dir / "temporal.db",
        port=_port(settings.temporal.address),
        ui_port=_port(settings.temporal.ui_url) if settings.temporal.ui_url else None,
        namespace=settings.temporal.namespace,
        search_attributes=[key.name for key in SEARCH_ATTRIBUTES],
    )
    store = prepare_weed(
        data_dir,
        s3_port=_port(settings.object_store.endpoint),
        access_key=settings.object_store.access_key,
        secret_key=settings.object_store.secret_key.get_secret_value(),
    )
    variables = marked_environment(data_dir)
    of_the_store = {"GOGC": WEED_GARBAGE_PERCENT, **variables}
    commands = {"temporal": temporal, "object-store": store}
    commands |= {name: [sys.executable, "-m", module] for name, module in OUR_PROCESSES.items()}
    return {
        name: ChildSpec(
            name,
            command,
            checks[name],
            environment=of_the_store if name == "object-store" else variables,
            stop_seconds=GPU_WORKER_STOP_SECONDS if name == "worker-gpu" else STOP_SECONDS,
            stops_last=name not in OUR_PROCESSES,
            wants_restart=RoomRegained(data_dir / OBJECTS) if name == "object-store" else lambda: False,
        )
        for name, command in commands.items()
    }


@asynccontextmanager
async def store_alone(settings: Settings, data_dir: Path) -> AsyncIterator[ObjectStore]:
    """Run the object store of a stack that is down for the length of a block, on a free port.

    The caller has sole use of the data folder.

    Raises:
        ChildFailedError: It did not come up.
    """
    port = choose_port(settings.stack.s3_port, named=False, offsets=WEED_OFFSETS, what="the object store")
    settings.object_store = settings.object_store.model_copy(update={"endpoint": f"http://{LOOPBACK}:{port}"})
    child = Child(child_specs(settings, data_dir)["object-store"], data_dir / "logs" / "object-store.log")
    child.start()
    try:
        await child.wait_ready(READY_SECONDS)
        yield S3ObjectStore(settings.object_store)
    finally:
        await child.stop()


def has_operator(settings: Settings) -> bool:
    """Whether anybody sees the admin pages."""
    with closing(Database(settings.database)) as database, database.reading() as session:
        return bool(operators.list_operators(session))


def _port(address: str) -> int:
    return int(address.rpartition(":")[2])


class EmbeddedStack:
    """One run of ``tryon up``."""

    def __init__(self, wanted: Settings, say: Callable[[str], None]) -> None:
        """Prepare a run with settings from the environment alone; ``say`` prints a line for people."""
        self._data_dir = wanted.stack.data_dir.resolve()
        self._wanted = wanted
        self._say = say

    async def run(self) -> None:
        """Start everything, watch over it, and stop it all when a signal comes.

        Raises:
            FolderInUseError: Another stack, or a restore, is at work in the data folder; nothing was started.
            PortInUseError: A named port is taken; nothing was started.
            DiskFullError: The object store could not take pictures; nothing was started.
            ChildFailedError: A part did not come up; everything was stopped again.
        """
        with sole_use(self._data_dir):
            stop = stop_event()
            for name in stop_leftovers(self._data_dir, StackRecord.read(self._data_dir)):
                self._say(f"  stopped {name}, left over from a run that was killed")
            StackRecord.remove(self._data_dir)
            await self._run(stop)

    async def _run(self, stop: asyncio.Event) -> None:
        check_room(self._data_dir)
        embedded_file = self._data_dir / EMBEDDED_FILE
        variables = choose_environment(self._wanted)
        write_environment(embedded_file, variables)
        os.environ.update(variables, TRYON_DATA_DIR=str(self._data_dir))
        os.environ.update(metrics_environment(self._wanted.metrics))
        settings = Settings(embedded_file)
        record = StackRecord(ProcessIdentity.of(os.getpid()), {}, addresses_of(settings))

        def remember(children: dict[str, ProcessIdentity], endings: dict[str, Endings]) -> None:
            StackRecord(record.supervisor, children, record.addresses, endings).write(self._data_dir)

        supervisor = Supervisor(self._data_dir / "logs", remember)
        try:
            starting = asyncio.create_task(self._start(supervisor, settings))
            stopping = asyncio.create_task(stop.wait())
            await asyncio.wait([starting, stopping], return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            if not starting.done():
                starting.cancel()
                return
            starting.result()
            for name, address in record.addresses.items():
                self._say(f"  {name:<12} {address}")
            if not has_operator(settings):
                self._say(NO_OPERATOR)
            self._say("Ready. Ctrl-C stops everything.")
            await supervisor.watch(stop)
        finally:
            self._say("Stopping …")
            await supervisor.stop()
            StackRecord.remove(self._data_dir)
            self._say("Stopped.")

    async def _start(self, supervisor: Supervisor, settings: Settings) -> None:
        specs = child_specs(settings, self._data_dir)
        servers = [supervisor.start(specs[name]) for name in specs if name not in OUR_PROCESSES]
        with closing(Database(settings.database)) as database:
            await asyncio.to_thread(migrations.upgrade, database.engine)
        # They load for longer than the servers start, and wait for these.
        ours = [supervisor.start(specs[name]) for name in OUR_PROCESSES]
        for wave in (servers, ours):
            await asyncio.gather(*(self._wait(child) for child in wave))

    async def _wait(self, child: Child) -> None:
        longest = GPU_WORKER_READY_SECONDS if child.spec.name == "worker-gpu" else READY_SECONDS
        await child.wait_ready(longest)
        self._say(f"  {child.spec.name} is up")
