"""The service as real processes, each of which reaches the others through proxies, and customers that use it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import product
from pathlib import Path

import httpx

from cli.embedded import child_specs, choose_environment
from domain import migrations
from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms
from gateway.temporal import TemporalGateway
from runtime.database import Database
from runtime.embedded.record import ProcessIdentity, StackRecord, write_environment
from runtime.embedded.supervisor import Child, ChildSpec, Supervisor
from runtime.object_store import S3ObjectStore
from runtime.settings import EMBEDDED_FILE, Settings, without_tryon_variables
from tests.factories import create_caller
from tests.faults.proxy import Proxy, State
from tests.pictures import data_uri, encoded, photo
from tests.servers.processes import free_port

PROJECT = Path(__file__).parents[2]

API, CPU, GPU = "api", "worker-cpu", "worker-gpu"
TEMPORAL, STORE, DATABASE = "temporal", "object-store", "database"
OURS, SERVERS = (API, CPU, GPU), (TEMPORAL, STORE, DATABASE)

LINKS = [(part, server) for part, server in product(OURS, SERVERS) if (part, server) != (GPU, DATABASE)]
"""Who speaks with whom. The GPU worker has no database."""

DEADLINE_SECONDS = 240
"""Of a job: longer than any fault here lasts, with the work that lies before it."""

RESULT_SECONDS = 120

SMALL_PHOTO = data_uri(encoded(photo(256, 320)))
GARMENT = data_uri(encoded(photo(256, 256)))
SINGLE = {"customerPhotoBase64": SMALL_PHOTO, "garmentImageUrl": GARMENT, "category": "upper_body"}
COMBO = {
    "customerPhotoBase64": SMALL_PHOTO,
    "garments": [{"garmentImageUrl": GARMENT, "category": category} for category in ("upper_body", "lower_body")],
}

ASK_SECONDS = 1.0

PATIENCE_SECONDS = 360.0
"""How long a customer waits for the end of a job: its deadline, and the reconciler's round behind it."""


@dataclass(frozen=True)
class Call:
    """A call of a customer that was answered.

    Attributes:
        asked: Of the monotonic clock, in seconds, as is ``answered``.
        said: Status of the job; empty if it was refused.
    """

    method: str
    asked: float
    answered: float
    said: str


@dataclass
class Customer:
    """One job, from the first POST to the end of it, as a client with an ``Idempotency-Key`` has it.

    Attributes:
        combo: Two garments instead of one.
        answers: Statuses of the POSTs, 0 for none.
        calls: Those that were answered.
        end: ``completed`` or ``failed``; empty if there was none in time.
        picture: Digest of what came for one.
    """

    key: str
    combo: bool = False
    job_id: str | None = None
    answers: list[int] = field(default_factory=list)
    accepted: asyncio.Event = field(default_factory=asyncio.Event)
    calls: list[Call] = field(default_factory=list)
    end: str = ""
    error: str = ""
    picture: str = ""

    def note(self, asked: float, answer: httpx.Response) -> dict[str, str]:
        """Remember a call; returns what was told of the job, if anything was."""
        told: dict[str, str] = answer.json() if answer.is_success else {}
        method = answer.request.method
        self.calls.append(Call(method, asked, time.monotonic(), told.get("status", "")))
        return told


class World:
    """The parts of a service, and what can be done to them."""

    def __init__(self, data_dir: Path, variables: Mapping[str, str], *, clocks: bool) -> None:
        self.data_dir = data_dir
        self.variables = dict(variables)
        self.orders = data_dir / "orders"
        self.parts: dict[str, Child] = {}
        self.proxies: dict[tuple[str, str], Proxy] = {}
        self.settings = Settings(data_dir / EMBEDDED_FILE)
        self.database = Database(self.settings.database)
        self.store = S3ObjectStore(self.settings.object_store)
        self.client = httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{self.settings.api.port}", timeout=20, trust_env=False
        )
        self.clock = data_dir / "clock" if clocks and FAKETIME.exists() else None
        self.account_id = uuid.UUID(int=0)
        self.probes = set[uuid.UUID]()
        self.healing: asyncio.Task[float] | None = None
        self.over = asyncio.Event()

    def signal(self, part: str, number: signal.Signals) -> None:
        """Send a signal to a part, if it runs."""
        pid = self.parts[part].pid
        if pid is not None and self.parts[part].exit_code is None:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill_everything(self) -> None:
        """Kill every process at once; none is started again."""
        self.over.set()
        for part in self.parts:
            self.signal(part, signal.SIGKILL)

    async def change_release(self, part: str, tree: Path | None) -> None:
        """Stop a part, and start it from another tree, or from this one; returns once it is ready."""
        child = self.parts[part]
        own = {name: value for name, value in child.spec.environment.items() if name != "PYTHONSAFEPATH"}
        other = {"PYTHONPATH": str(tree), "PYTHONSAFEPATH": "1"} if tree else {"PYTHONPATH": str(PROJECT)}
        child.spec, before = replace(child.spec, environment={**own, **other}), child.pid
        self.signal(part, signal.SIGTERM)
        async with asyncio.timeout(60):
            while child.pid == before or child.exit_code is not None:
                await asyncio.sleep(0.1)
        await child.wait_ready(60)

    async def links(self, state: State, *, of: str | None = None, to: str | None = None) -> None:
        """Cut, silence or open the links of a part, to a server, or all."""
        chosen = [
            proxy for (part, server), proxy in self.proxies.items() if of in (None, part) and to in (None, server)
        ]
        assert chosen, (of, to)
        await asyncio.gather(*(proxy.become(state) for proxy in chosen))

    def order(self, what: str) -> None:
        """Have the next render do this."""
        (self.orders / what).touch()

    async def gateway(self) -> TemporalGateway:
        return await TemporalGateway.connect(self.settings.temporal)

    async def use(self, customer: Customer, headers: Mapping[str, str] | None = None) -> Customer:
        """Be this customer until the job has ended, or patience."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._use(customer, headers or {})
        return customer

    async def _use(self, customer: Customer, headers: Mapping[str, str]) -> None:
        path, body = ("/api/v1/tryon/combo", COMBO) if customer.combo else ("/api/v1/tryon", SINGLE)
        while customer.job_id is None:
            asked = time.monotonic()
            try:
                sent = {**headers, "Idempotency-Key": customer.key}
                answer = await self.client.post(path, json=body, headers=sent)
            except httpx.HTTPError:
                customer.answers.append(0)
            else:
                customer.answers.append(answer.status_code)
                told = customer.note(asked, answer)
                if answer.status_code == 202:
                    customer.job_id = told["jobId"]
                    break
            await asyncio.sleep(ASK_SECONDS)
        customer.accepted.set()
        while not customer.end:
            with suppress(httpx.HTTPError, ValueError):
                asked = time.monotonic()
                told = customer.note(asked, await self.client.get(f"/api/v1/tryon/{customer.job_id}"))
                customer.picture = digest_of(told.get("resultImageBase64", ""))
                customer.end = told.get("status", "").replace("processing", "")
                customer.error = told.get("error", "")
            await asyncio.sleep(ASK_SECONDS)

    async def mend(self) -> None:
        """Open all links, and begin to look how long it takes until all is well."""
        await self.links("open")
        self.healing = asyncio.create_task(self.until_healthy())

    @asynccontextmanager
    async def in_flight(self, number: int) -> AsyncIterator[list[Customer]]:
        """Customers whose jobs are all accepted when the block begins, and have ended behind it."""
        customers = [Customer(str(uuid.uuid4())) for _ in range(number)]
        using = [asyncio.create_task(self.use(each)) for each in customers]
        try:
            async with asyncio.timeout(60):
                await asyncio.gather(*(each.accepted.wait() for each in customers))
            yield customers
        finally:
            await self.mend()
            await asyncio.gather(*using)

    @asynccontextmanager
    async def arriving(self, number: int) -> AsyncIterator[list[Customer]]:
        """Customers who begin to send when the block begins, and whose jobs have ended behind it."""
        customers = [Customer(str(uuid.uuid4())) for _ in range(number)]
        using = [asyncio.create_task(self.use(each)) for each in customers]
        try:
            yield customers
        finally:
            await self.mend()
            await asyncio.gather(*using)

    async def until_healthy(self, seconds: float = 300.0) -> float:
        """How long it takes until a job goes through as if nothing had been."""
        began = time.monotonic()
        async with asyncio.timeout(seconds):
            while True:
                customer, asked = Customer(str(uuid.uuid4())), time.monotonic()
                await self.use(customer)
                if customer.job_id:
                    self.probes.add(uuid.UUID(customer.job_id))
                if customer.end == "completed" and time.monotonic() - asked < 5:
                    return round(asked - began, 1)


def digest_of(picture: str) -> str:
    """Of a picture as it is told of."""
    return sha256(picture.encode()).hexdigest() if picture else ""


def _broken_in(world: World, spec: ChildSpec) -> ChildSpec:
    """A process of ours that reaches the servers through its own proxies, and can be given orders and another time."""
    ports = {server: proxy.port for (part, server), proxy in world.proxies.items() if part == spec.name}
    own = {
        "TRYON_TEMPORAL_ADDRESS": f"127.0.0.1:{ports[TEMPORAL]}",
        "TRYON_S3_ENDPOINT": f"http://127.0.0.1:{ports[STORE]}",
    }
    if DATABASE in ports:
        name = world.settings.database.url.rpartition("/")[2]
        own["TRYON_DATABASE_URL"] = f"postgresql://tryon@127.0.0.1:{ports[DATABASE]}/{name}"
    command = spec.command
    if spec.name == GPU:
        command = [sys.executable, "-m", "tests.faults.engine", str(world.orders)]
    elif world.clock is not None:
        own |= _faked_clock(world.clock)
    return replace(spec, command=command, environment={**spec.environment, **own})


FAKETIME = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
"""Of Debian's package libfaketime."""


def _faked_clock(file: Path) -> dict[str, str]:
    """Have a process read the offset of its clock from a file, which may change at any time; it takes half a core.

    Not for the GPU worker: under this library Python cannot sleep, and its engine does.
    """
    file.write_text("+0\n")
    return {
        "LD_PRELOAD": str(FAKETIME),
        "FAKETIME_TIMESTAMP_FILE": str(file),
        "FAKETIME_CACHE_DURATION": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }


@asynccontextmanager
async def running_world(
    data_dir: Path,
    database_url: str | None,
    *,
    clocks: bool = False,
    prepare: Callable[[World], Awaitable[None]] | None = None,
    instead_of: World | None = None,
    **more: str,
) -> AsyncIterator[World]:
    """All parts, up and healthy; whatever is killed is started again, as systemd would.

    Args:
        data_dir: Where everything lies.
        database_url: A PostgreSQL database; SQLite without.
        clocks: Whether the clocks of our processes can be changed, where libfaketime is installed.
        prepare: Makes the tables, once the servers are up and before a process of ours is; migrates, if nothing else is
            said.
        instead_of: A world that is gone, with whose account this one goes on.
        more: Further variables of every part.
    """
    os.environ.clear()
    os.environ.update(_CLEAN)
    os.environ.update(
        TRYON_DATA_DIR=str(data_dir),
        TRYON_RATE_LIMIT_REQUESTS="10000",
        TRYON_RATE_LIMIT_WINDOW_SECONDS="1",
        TRYON_RATE_LIMIT_MANAGEMENT_REQUESTS="10000",
        TRYON_RATE_LIMIT_MANAGEMENT_WINDOW_SECONDS="1",
        TRYON_JOB_SINGLE_DEADLINE_SECONDS=str(DEADLINE_SECONDS),
        TRYON_JOB_COMBO_DEADLINE_SECONDS=str(DEADLINE_SECONDS),
        TRYON_JOB_RESULT_TTL_SECONDS=str(RESULT_SECONDS),
        TRYON_TEMPORAL_UI="false",
        **({"TRYON_DATABASE_URL": database_url} if database_url else {}),
    )
    os.environ.update(more)
    (data_dir / "logs").mkdir(parents=True, exist_ok=True)
    variables = choose_environment(Settings())
    write_environment(data_dir / EMBEDDED_FILE, variables)
    os.environ.update(variables)
    world = World(data_dir, variables, clocks=clocks)
    world.orders.mkdir(exist_ok=True)
    StackRecord(ProcessIdentity.of(os.getpid()), {}, {}).write(data_dir)  # commands see that it is up
    targets = {
        TEMPORAL: int(world.settings.temporal.address.rpartition(":")[2]),
        STORE: int(world.settings.object_store.endpoint.rpartition(":")[2]),
    }
    if database_url:
        targets[DATABASE] = int(database_url.rpartition("/")[0].rpartition(":")[2])
    world.proxies = {link: Proxy(free_port(), targets[link[1]]) for link in LINKS if link[1] in targets}
    for proxy in world.proxies.values():
        await proxy.start()
    specs = child_specs(world.settings, data_dir)
    supervisor = Supervisor(data_dir / "logs", lambda _running, _endings: None)
    try:
        for name, plain in specs.items():
            if name == API and prepare is None:
                await asyncio.to_thread(migrations.upgrade, world.database.engine)
            elif name == API and prepare is not None:
                await asyncio.gather(*(child.wait_ready(60) for child in world.parts.values()))
                await prepare(world)
            world.parts[name] = supervisor.start(_broken_in(world, plain) if name in OURS else plain)
        await asyncio.gather(*(child.wait_ready(60) for child in world.parts.values()))
        watching = asyncio.create_task(supervisor.watch(world.over))
        if instead_of is None:
            world.account_id, key = await asyncio.to_thread(_open_account, world)
            world.client.headers["Authorization"] = f"Bearer {key}"
        else:
            world.account_id = instead_of.account_id
            world.client.headers["Authorization"] = instead_of.client.headers["Authorization"]
        await world.until_healthy()
        yield world
    finally:
        world.over.set()
        with suppress(NameError):
            await watching
        await supervisor.stop()
        await world.client.aclose()
        for proxy in world.proxies.values():
            await proxy.close()
        world.database.close()


_CLEAN = without_tryon_variables()


def _open_account(world: World) -> tuple[uuid.UUID, str]:
    digester = KeyDigester(*world.settings.security.peppers())
    terms = OwnTerms(included=1_000_000, daily_cap=1_000_000)
    caller = asyncio.run(create_caller(world.database, digester, own_terms=terms))
    return caller.account_id, caller.key
