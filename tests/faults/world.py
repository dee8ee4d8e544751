"""The service as real processes, each of which reaches the others through proxies, and customers that use it."""

from __future__ import annotations

import asyncio
import base64
import io
import math
import os
import signal
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
from PIL import Image
from sqlalchemy import Select, func, select

from api.dashboard.visitor import SESSION, cookie_name
from cli.embedded import child_specs, choose_environment
from domain import migrations
from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms
from domain.authentication import sessions
from domain.jobs.jobs import COMPLETED, PROCESSING
from domain.tables import Job, LedgerEntry, Login
from gateway.temporal import TemporalGateway
from runtime.database import Database
from runtime.embedded.record import ProcessIdentity, StackRecord, write_environment
from runtime.embedded.supervisor import (
    FIRST_PAUSE_SECONDS,
    WATCH_SECONDS,
    Child,
    ChildFailedError,
    ChildSpec,
    Supervisor,
)
from runtime.object_store import S3ObjectStore
from runtime.settings import EMBEDDED_FILE, Settings, without_tryon_variables
from tests.factories import create_caller
from tests.faults.engine import HOLD, NOTES
from tests.faults.proxy import Proxy, State
from tests.pictures import data_uri, encoded, photo
from tests.servers.postgres import PostgresServer, running_server
from tests.servers.processes import free_port
from workflows.backfills.contracts import BackfillInput, BackfillItem

PROJECT = Path(__file__).parents[2]

API, CPU, GPU = "api", "worker-cpu", "worker-gpu"
TEMPORAL, STORE, DATABASE = "temporal", "object-store", "database"
OURS, SERVERS = (API, CPU, GPU), (TEMPORAL, STORE, DATABASE)

LINKS = [(part, server) for part, server in product(OURS, SERVERS) if (part, server) != (GPU, DATABASE)]
"""Who speaks with whom. The GPU worker has no database."""

DEADLINE_SECONDS = 240
"""Of a job: longer than any fault here lasts, with the work that lies before it."""

RESULT_SECONDS = 120

GARMENT = data_uri(encoded(photo(256, 256)))
BACKFILL_PICTURES = {"backfills/pictures/person.jpg": (256, 320), "backfills/pictures/garment.jpg": (256, 256)}
"""Keys and sizes."""

LIKE_THE_PHOTO = 10.0
"""Mean difference of 8-bit values up to which a result shows the photo that was sent: the engine gives that back. JPEG
twice, at 60 and more, changed it by less than 1; of 60 customers' photos any two were 49 or more apart."""

ASK_SECONDS, HOLD_SECONDS = 1.0, 1.0
"""Between two calls of a customer; how long renders are held back after a fault has begun."""

PATIENCE_SECONDS = 360.0
"""How long a customer waits for the end of a job: its deadline, and the reconciler's round behind it."""


@dataclass(frozen=True)
class Call:
    """A call of a customer.

    Attributes:
        asked: Of the monotonic clock, in seconds, as is ``answered``.
        status: Of HTTP; 0 where no answer came.
        said: Status of the job; empty if it was refused.
    """

    method: str
    asked: float
    answered: float
    status: int
    said: str


@dataclass
class Customer:
    """One job, from the first POST to the end of it, as a client with an ``Idempotency-Key`` has it.

    Attributes:
        combo: Two garments instead of one.
        end: ``completed`` or ``failed``; empty if there was none in time.
        picture: Digest of what came for one.
        without_picture: It is said to be completed, and none came.
        mixed_up: The picture that came is none of the photo that was sent.
    """

    key: str = field(default_factory=lambda: str(uuid.uuid4()))
    combo: bool = False
    job_id: str | None = None
    accepted: asyncio.Event = field(default_factory=asyncio.Event)
    calls: list[Call] = field(default_factory=list)
    end: str = ""
    error: str = ""
    picture: str = ""
    without_picture: bool = False
    mixed_up: bool = False

    @property
    def photo(self) -> Image.Image:
        """Of nobody else."""
        return photo(256, 320, seed=uuid.UUID(self.key).int)

    @property
    def body(self) -> dict[str, Any]:
        """Of the POST."""
        wanted: dict[str, Any] = {"customerPhotoBase64": data_uri(encoded(self.photo))}
        if self.combo:
            garments = [{"garmentImageUrl": GARMENT, "category": each} for each in ("upper_body", "lower_body")]
            return {**wanted, "garments": garments}
        return {**wanted, "garmentImageUrl": GARMENT, "category": "upper_body"}

    async def call(self, client: httpx.AsyncClient, method: str, path: str, **options: Any) -> dict[str, str]:
        """Ask, and remember it; returns what was told of the job, if anything was."""
        asked, status, told = time.monotonic(), 0, dict[str, str]()
        with suppress(httpx.HTTPError, ValueError):
            answer = await client.request(method, path, **options)
            status = answer.status_code
            told = answer.json() if answer.is_success else {}
        self.calls.append(Call(method, asked, time.monotonic(), status, told.get("status", "")))
        return told

    def end_with(self, told: Mapping[str, str]) -> None:
        """Look at what came of the job."""
        self.end, self.error = told["status"], told.get("error", "")
        picture = told.get("resultImageBase64")
        self.without_picture = self.end == COMPLETED and not picture
        if picture:
            self.picture = digest_of(picture)
            came = Image.open(io.BytesIO(base64.b64decode(picture.rpartition(",")[2]))).convert("RGB")
            both = [np.asarray(each.resize((8, 8)), np.float32) for each in (came, self.photo)]
            self.mixed_up = float(np.abs(both[0] - both[1]).mean()) > LIKE_THE_PHOTO


class World:
    """The parts of a service, and what can be done to them.

    Attributes:
        parts: Processes that a supervisor starts again.
        server: PostgreSQL, which is started again too; none where SQLite is the database.
        hits: How many processes were sent a signal, and how many connections a fault met when it began.
        figures: What else a fault has counted, for its row.
    """

    def __init__(self, data_dir: Path, variables: Mapping[str, str], server: PostgresServer | None) -> None:
        self.data_dir = data_dir
        self.server = server
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
        self.account_id = uuid.UUID(int=0)
        self.probes = set[uuid.UUID]()
        self.mended = 0.0
        self.quickest = math.inf
        self.over = asyncio.Event()
        self.forget()

    def forget(self) -> None:
        """Begin a fault: nothing was broken yet, and nothing is wrong."""
        self.in_progress: int | None = None
        self.complaints: list[str] = []
        self.hits = Counter[str]()
        self.figures: dict[str, int] = {}
        self.healing: asyncio.Task[float] | None = None
        for left in self.orders.glob("*"):
            left.unlink()

    def expect(self, right: bool, words: str) -> None:
        """Complain, unless it is right."""
        if not right:
            self.complaints.append(words)

    @property
    def killable(self) -> list[str]:
        """All parts that are processes."""
        return [*self.parts, *([DATABASE] if self.server else [])]

    def process(self, part: str) -> Child | PostgresServer:
        """That of a part."""
        if part == DATABASE:
            assert self.server is not None, "SQLite is no process"
            return self.server
        return self.parts[part]

    def send(self, part: str, number: signal.Signals) -> bool:
        """Send a signal to a part; says whether it ran."""
        process = self.process(part)
        if process.pid is None or process.exit_code is not None:
            return False
        # PostgreSQL has a process for each connection, and is all of them.
        others = psutil.Process(process.pid).children() if part == DATABASE else []
        for pid in (process.pid, *(each.pid for each in others)):
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        self.hits[f"{part} {number.name}"] += number != signal.SIGCONT
        return True

    async def ready(self, part: str, seconds: float = 90.0) -> None:
        """Wait until a part runs and can be used; it may be about to be started again."""
        async with asyncio.timeout(seconds):
            while True:
                with suppress(ChildFailedError):
                    await self.process(part).wait_ready(seconds)
                    return
                await asyncio.sleep(0.2)

    async def end(self, part: str, number: signal.Signals = signal.SIGKILL) -> None:
        """End a process, by this signal, and wait until it has ended."""
        process = self.process(part)
        pid = process.pid
        self.expect(self.send(part, number), f"{part} was not hit")
        async with asyncio.timeout(60):
            while process.pid == pid and process.exit_code is None:
                await asyncio.sleep(0.02)

    def kill_everything(self) -> None:
        """Kill every process at once; none is started again."""
        self.over.set()
        for part in self.parts:
            self.send(part, signal.SIGKILL)

    async def start_anew(self, part: str, environment: Mapping[str, str] | None = None) -> None:
        """Ask a part to stop, and start it again, in this environment if one is given; returns once it is ready."""
        if environment is not None:
            self.parts[part].spec = replace(self.parts[part].spec, environment=dict(environment))
        await self.end(part, signal.SIGTERM)
        await self.ready(part)

    async def change_release(self, part: str, tree: Path | None) -> None:
        """Stop a part, and start it from another tree, or from this one; returns once it is ready."""
        now = self.parts[part].spec.environment
        own = {name: value for name, value in now.items() if name != "PYTHONSAFEPATH"}
        other = {"PYTHONPATH": str(tree), "PYTHONSAFEPATH": "1"} if tree else {"PYTHONPATH": str(PROJECT)}
        await self.start_anew(part, {**own, **other})
        self.hits[f"{part} of {tree.name if tree else 'this commit'}"] += 1

    async def links(self, state: State, *, of: str | None = None, to: str | None = None) -> None:
        """Cut, silence or open the links of a part, to a server, or all."""
        chosen = [
            proxy for (part, server), proxy in self.proxies.items() if of in (None, part) and to in (None, server)
        ]
        assert chosen, (of, to)
        if state != "open":
            self.hits[f"{of or 'all'} to {to or 'all'} {state}"] += sum(proxy.connections for proxy in chosen)
        await asyncio.gather(*(proxy.become(state) for proxy in chosen))

    def order(self, what: str) -> None:
        """Have the next render do this, or every render wait: see `tests.faults.engine`."""
        (self.orders / what).touch()

    def noted(self, what: str) -> int:
        """How often the engine wrote this down: ``begun``, ``ended``, ``emptied``, or an order that it took."""
        notes = self.orders / NOTES
        return notes.read_text().split().count(what) if notes.exists() else 0

    async def count(self, statement: Select[Any]) -> int:
        """What the database counts."""
        return await self.database.read(lambda session: session.scalar(statement) or 0)

    async def billed(self, account_id: uuid.UUID) -> int:
        """How many pictures an account was billed."""
        return await self.count(
            select(func.count()).where(LedgerEntry.account_id == account_id, LedgerEntry.kind == "settle")
        )

    async def until(self, statement: Select[Any], number: int, seconds: float = 30.0) -> None:
        """Wait until the database counts so many, which are what is in progress when the fault begins."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while (found := await self.count(statement)) < number:
                    self.in_progress = found
                    await asyncio.sleep(0.05)
                self.in_progress = found

    async def open_account(self) -> tuple[uuid.UUID, str]:
        """One with all that it wants, and its key."""
        digester = KeyDigester(*self.settings.security.peppers())
        caller = await create_caller(self.database, digester, own_terms=OwnTerms(included=10**6, daily_cap=10**6))
        return caller.account_id, caller.key

    def sign_in(self, account_id: uuid.UUID) -> str:
        """A cookie of its owner's, who is an operator too."""
        now = datetime.now(UTC)
        with self.database.transaction() as session:
            session.merge(
                Login(account_id=account_id, password_hash=None, verified_at=now, operator=True, created_at=now)
            )
            about: dict[str, Any] = {"address": "127.0.0.1", "user_agent": "tests", "now": now}
            token = sessions.open_session(session, account_id=account_id, **about)
        return f"{cookie_name(SESSION, self.settings.dashboard)}={token}"

    async def put_backfill_pictures(self) -> None:
        """Of the person and the garment of every item."""
        for key, size in BACKFILL_PICTURES.items():
            await self.store.put(key, encoded(photo(*size)), "image/jpeg")

    async def start_backfill(self, name: str, account_id: uuid.UUID, number: int) -> None:
        """One of so many items, whose pictures are there."""
        person, garment = BACKFILL_PICTURES
        items = [
            BackfillItem(key=f"{name}-{each}", person=person, garment_image_url=garment, category="upper_body")
            for each in range(number)
        ]
        await (await self.gateway()).start_backfill(name, BackfillInput(account=str(account_id), items=items))

    async def gateway(self) -> TemporalGateway:
        return await TemporalGateway.connect(self.settings.temporal)

    async def use(self, customer: Customer, headers: Mapping[str, str] | None = None) -> Customer:
        """Be this customer until the job has ended, or patience."""
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._use(customer, headers or {})
        return customer

    async def _use(self, customer: Customer, headers: Mapping[str, str]) -> None:
        path = "/api/v1/tryon/combo" if customer.combo else "/api/v1/tryon"
        body, sent = customer.body, {**headers, "Idempotency-Key": customer.key}
        while customer.job_id is None:
            told = await customer.call(self.client, "POST", path, json=body, headers=sent)
            customer.job_id = told.get("jobId")
            if customer.job_id is None:
                await asyncio.sleep(ASK_SECONDS)
        customer.accepted.set()
        while not customer.end:
            told = await customer.call(self.client, "GET", f"/api/v1/tryon/{customer.job_id}")
            if told.get("status", "processing") != "processing":
                customer.end_with(told)
            await asyncio.sleep(ASK_SECONDS)

    async def mend(self) -> asyncio.Task[float]:
        """Open all links, and begin to look whether all is well."""
        (self.orders / HOLD).unlink(missing_ok=True)
        await self.links("open")
        self.mended = time.monotonic()
        self.healing = asyncio.create_task(self.until_healthy())
        return self.healing

    @asynccontextmanager
    async def arriving(self, number: int) -> AsyncIterator[list[Customer]]:
        """Customers who begin to send when the block begins, and whose jobs have ended behind it."""
        customers = [Customer() for _ in range(number)]
        using = [asyncio.create_task(self.use(each)) for each in customers]
        try:
            yield customers
        finally:
            await asyncio.gather(await self.mend(), *using)

    @asynccontextmanager
    async def in_flight(self, number: int, *, hold_seconds: float = HOLD_SECONDS) -> AsyncIterator[list[Customer]]:
        """Customers whose jobs are all in progress when the block begins, and one at least in the engine.

        Renders wait for the first seconds of the block.
        """
        self.order(HOLD)
        async with self.arriving(number) as customers:
            async with asyncio.timeout(60):
                await asyncio.gather(*(each.accepted.wait() for each in customers))
            await self.until(OPEN, number)
            async with asyncio.timeout(60):
                while not self.noted("begun"):
                    await asyncio.sleep(0.05)
            asyncio.get_running_loop().call_later(hold_seconds, (self.orders / HOLD).unlink, True)
            yield customers

    @asynccontextmanager
    async def busy(self, number: int) -> AsyncIterator[list[Customer]]:
        """That many customers at any time, for as long as the block runs; their jobs have ended behind it.

        Their first jobs are all in progress when it begins.
        """
        customers, over = list[Customer](), asyncio.Event()
        self.order(HOLD)

        async def buy() -> None:
            while not over.is_set():
                customers.append(Customer())
                await self.use(customers[-1])

        using = [asyncio.create_task(buy()) for _ in range(number)]
        try:
            await self.until(OPEN, number)
            (self.orders / HOLD).unlink()
            yield customers
        finally:
            over.set()
            await asyncio.gather(await self.mend(), *using)

    async def until_healthy(self, seconds: float = 300.0) -> float:
        """Wait until a job goes through as if nothing had been; returns for how many seconds."""
        began = time.monotonic()
        async with asyncio.timeout(seconds):
            while True:
                customer, asked = Customer(), time.monotonic()
                await self.use(customer)
                if customer.job_id:
                    self.probes.add(uuid.UUID(customer.job_id))
                spent = time.monotonic() - asked
                self.quickest = min(self.quickest, spent)
                if customer.end == COMPLETED and spent < max(LIKE_NOTHING_SECONDS, 3 * self.quickest):
                    return round(asked - began, 1)


OPEN = select(func.count()).where(Job.status == PROCESSING)
"""Jobs in progress."""

LIKE_NOTHING_SECONDS = 5.0
"""A job takes 2 s here, half of it until its customer asks again."""


def digest_of(picture: str) -> str:
    """Of a picture as it is told of."""
    return sha256(picture.encode()).hexdigest() if picture else ""


def _broken_in(world: World, spec: ChildSpec) -> ChildSpec:
    """A process of ours that reaches the servers through its own proxies, and can be given orders."""
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
    return replace(spec, command=command, environment={**spec.environment, **own})


@asynccontextmanager
async def running_world(
    data_dir: Path,
    server: PostgresServer | None,
    *,
    database: str = "postgres",
    prepare: Callable[[World], Awaitable[None]] | None = None,
    instead_of: World | None = None,
    variables: Mapping[str, str] = {},
) -> AsyncIterator[World]:
    """All parts, up and healthy; whatever is killed is started again, as systemd would.

    Args:
        data_dir: Where everything lies.
        server: PostgreSQL; SQLite without.
        database: Of the server.
        prepare: Makes the tables, once the servers are up and before a process of ours is; migrates, if nothing else is
            said.
        instead_of: A world that is gone, with whose account this one goes on.
        variables: Further ones, of every part.
    """
    database_url = server.url_of(database) if server else None
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
    os.environ.update(variables)
    (data_dir / "logs").mkdir(parents=True, exist_ok=True)
    chosen = choose_environment(Settings())
    write_environment(data_dir / EMBEDDED_FILE, chosen)
    os.environ.update(chosen)
    world = World(data_dir, chosen, server)
    world.orders.mkdir(exist_ok=True)
    StackRecord(ProcessIdentity.of(os.getpid()), {}, {}).write(data_dir)  # commands see that it is up
    targets = {
        TEMPORAL: int(world.settings.temporal.address.rpartition(":")[2]),
        STORE: int(world.settings.object_store.endpoint.rpartition(":")[2]),
    }
    if server:
        targets[DATABASE] = server.port
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
        watching = asyncio.gather(supervisor.watch(world.over), _keep(world))
        if instead_of is None:
            world.account_id, key = await world.open_account()
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


async def _keep(world: World) -> None:
    """Start PostgreSQL again where it was killed, after a second."""
    while (server := world.server) and not world.over.is_set():
        if server.exit_code is not None:
            world.expect(server.exit_code == -signal.SIGKILL, f"PostgreSQL ended with {server.exit_code}")
            await asyncio.sleep(FIRST_PAUSE_SECONDS)
            server.start()
        await asyncio.sleep(WATCH_SECONDS)


_CLEAN = without_tryon_variables()


@contextmanager
def place(database: str) -> Iterator[tuple[Path, PostgresServer | None]]:
    """A folder for everything, and a server of PostgreSQL; none for SQLite."""
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="tryon-faults-", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(temporary))
        yield folder, stack.enter_context(running_server()) if database == "postgresql" else None
