"""The faults: each a function that does its worst to a world in which jobs are in flight."""

from __future__ import annotations

import asyncio
import io
import random
import signal
import sqlite3
import subprocess
import tarfile
import time
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import structlog

from domain import accounts
from runtime.embedded.supervisor import ChildFailedError
from tests.faults.proxy import State
from tests.faults.world import API, CPU, DATABASE, GPU, LINKS, OURS, PROJECT, STORE, TEMPORAL, Customer, World

log = structlog.get_logger(__name__)

AWAY_SECONDS = 8.0
"""How long something is away: longer than any single call waits for it."""

Fault = Callable[[World, int], Awaitable[list[Customer]]]
"""Takes the number of jobs; returns the customers once all is mended and their jobs have ended."""


EVERY, POSTGRESQL = ("sqlite", "postgresql"), ("postgresql",)
"""Databases."""


@dataclass(frozen=True)
class Listed:
    """A fault of the list.

    Attributes:
        name: For the table.
        promise: What the service says that happens then.
        run: Does it.
        may_fail: Whether jobs may end without a picture, unbilled.
        databases: Where there is such a fault.
    """

    name: str
    promise: str
    run: Fault
    may_fail: bool = False
    databases: tuple[str, ...] = EVERY


def _killed(part: str, *, kills: int = 1, number: signal.Signals = signal.SIGKILL) -> Fault:
    async def run(world: World, jobs: int) -> list[Customer]:
        async with world.in_flight(jobs) as customers:
            for _ in range(kills):
                await asyncio.sleep(0.7)
                world.signal(part, number)
        return customers

    return run


def _away(
    to: str, *, of: str | None = None, state: State = "cut", arriving: bool = False, seconds: float = AWAY_SECONDS
) -> Fault:
    async def run(world: World, jobs: int) -> list[Customer]:
        async with world.arriving(jobs) if arriving else world.in_flight(jobs) as customers:
            await world.links(state, of=of, to=to)
            await asyncio.sleep(seconds)
        return customers

    return run


def _frozen(part: str) -> Fault:
    async def run(world: World, jobs: int) -> list[Customer]:
        async with world.in_flight(jobs) as customers:
            world.signal(part, signal.SIGSTOP)
            await asyncio.sleep(AWAY_SECONDS)
            world.signal(part, signal.SIGCONT)
        return customers

    return run


def _ordered(what: str, times: int = 1) -> Fault:
    async def run(world: World, jobs: int) -> list[Customer]:
        async with world.in_flight(jobs) as customers:
            for _ in range(times):
                world.order(what)
                await asyncio.sleep(1)
        return customers

    return run


def _api_killed_while(to: str, after_s: float) -> Fault:
    """Killed while every POST waits for this server."""

    async def run(world: World, jobs: int) -> list[Customer]:
        await world.links("silent", of=API, to=to)
        async with world.arriving(jobs) as customers:
            await asyncio.sleep(after_s)
            world.signal(API, signal.SIGKILL)
            await world.links("open")
        return customers

    return run


async def api_killed_at_random(world: World, jobs: int) -> list[Customer]:
    async with world.arriving(jobs) as customers:
        for _ in range(5):
            await asyncio.sleep(random.uniform(0.05, 0.5))
            world.signal(API, signal.SIGKILL)
            await asyncio.sleep(2)
    return customers


async def database_locked(world: World, jobs: int) -> list[Customer]:
    async with world.in_flight(jobs) as customers:
        await asyncio.to_thread(_hold_the_database, world)
    return customers


def _hold_the_database(world: World) -> None:
    file = world.settings.database.file()
    if file is not None:
        with sqlite3.connect(file, isolation_level=None, timeout=30) as held:
            held.execute("BEGIN IMMEDIATE")
            time.sleep(AWAY_SECONDS)
            held.execute("ROLLBACK")
        held.close()
        return
    with psycopg.connect(world.settings.database.url) as held, held.transaction(force_rollback=True):
        held.execute("LOCK TABLE account, job, ledger IN ACCESS EXCLUSIVE MODE")
        time.sleep(AWAY_SECONDS)


async def temporal_loses_everything(world: World, jobs: int) -> list[Customer]:
    """Its server is killed, and starts with an empty database. Workers are started anew, as docs/temporal.md says."""
    async with world.in_flight(jobs) as customers:
        await world.links("cut", to=TEMPORAL)
        for name in ("temporal.db", "temporal.db-wal", "temporal.db-shm"):
            (world.data_dir / name).unlink(missing_ok=True)
        world.signal(TEMPORAL, signal.SIGKILL)
        while True:
            try:
                await world.parts[TEMPORAL].wait_ready(60)
                break
            except ChildFailedError:  # not started again yet
                await asyncio.sleep(0.5)
        for part in (CPU, GPU):
            world.signal(part, signal.SIGKILL)
        await world.links("open")
    return customers


async def slow_clients(world: World, jobs: int) -> list[Customer]:
    """Sixty connections that send a byte a second."""
    port = world.settings.api.port

    async def trickle() -> None:
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            for byte in b"POST /api/v1/tryon HTTP/1.1\r\nHost: 127.0.0.1\r\n":
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.5)
            writer.close()

    tricklers = [asyncio.create_task(trickle()) for _ in range(60)]
    async with world.in_flight(jobs) as customers:
        await asyncio.sleep(AWAY_SECONDS)
    for each in tricklers:
        each.cancel()
    return customers


async def everything_sent_three_times(world: World, jobs: int) -> list[Customer]:
    customers = [Customer(str(uuid.uuid4())) for _ in range(jobs)]
    again = [Customer(each.key) for each in customers for _ in range(2)]
    await asyncio.gather(*(world.use(each) for each in (*customers, *again)))
    assert {each.job_id for each in again} == {each.job_id for each in customers}
    return customers


async def account_blocked(world: World, jobs: int) -> list[Customer]:
    """Jobs that were accepted go on to their end and are billed; polls are refused until it is unblocked."""
    async with world.in_flight(jobs) as customers:
        block = {"account_id": world.account_id, "now": datetime.now(UTC)}
        await world.database.write(accounts.block_account, reason="A test.", **block)
        try:
            await asyncio.sleep(AWAY_SECONDS)
        finally:
            await world.database.write(accounts.unblock_account, account_id=world.account_id)
    return customers


async def deployed(world: World, jobs: int) -> list[Customer]:
    """Every process of ours is asked to stop, one after the other, and starts anew."""
    async with world.in_flight(jobs) as customers:
        for part in OURS:
            world.signal(part, signal.SIGTERM)
            await asyncio.sleep(4)
    return customers


async def another_release(world: World, jobs: int) -> list[Customer]:
    """Back to the release before the newest tables and forward again, in the order of docs/versions.md."""
    tree = await asyncio.to_thread(_older_tree, world.data_dir / "older")
    async with world.in_flight(jobs) as customers:
        for part in (API, CPU, GPU):
            await world.change_release(part, tree)
        between = [Customer(str(uuid.uuid4())) for _ in range(jobs)]
        using = [asyncio.create_task(world.use(each)) for each in between]
        await asyncio.wait_for(asyncio.gather(*(each.accepted.wait() for each in between)), 60)
        for part in (GPU, CPU, API):
            await world.change_release(part, None)
    await asyncio.gather(*using)
    return [*customers, *between]


def _older_tree(folder: Path) -> Path:
    """The last commit before the newest migration, with the engine of these tests."""
    git = ["git", "-C", str(PROJECT)]
    newest = subprocess.check_output([*git, "log", "-1", "--format=%H", "--", "domain/migrations/versions"], text=True)
    folder.mkdir()
    packed = subprocess.check_output([*git, "archive", f"{newest.strip()}^"])
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(folder, filter="data")
    here = folder / "tests" / "faults"
    here.mkdir(exist_ok=True)
    for name in ("__init__.py", "engine.py"):
        (here / name).write_bytes((PROJECT / "tests" / "faults" / name).read_bytes())
    return folder


async def clock_jumps(world: World, jobs: int) -> list[Customer]:
    """The clocks of our processes go an hour ahead, then back."""
    assert world.clock is not None, "libfaketime is not installed"
    async with world.in_flight(jobs) as customers:
        for offset in ("+3600", "-3600", "+0"):
            world.clock.write_text(f"{offset}\n")
            await asyncio.sleep(3)
    return customers


async def many_at_once(world: World, jobs: int) -> list[Customer]:
    """Ten faults drawn by lot within half a minute, several of them at the same time."""
    async with world.in_flight(jobs) as customers:
        await asyncio.gather(*(_something(world) for _ in range(10)))
    return customers


async def _something(world: World) -> None:
    await asyncio.sleep(random.uniform(0, 25))
    part, (of, to) = random.choice([*OURS, TEMPORAL, STORE]), random.choice(list(world.proxies))
    kind, seconds = random.choice(["kill", "freeze", "cut", "silent"]), random.uniform(1, 6)
    log.warning("fault", kind=kind, seconds=round(seconds, 1), of=part if kind in ("kill", "freeze") else (of, to))
    if kind == "kill":
        world.signal(part, signal.SIGKILL)
    elif kind == "freeze":
        world.signal(part, signal.SIGSTOP)
        await asyncio.sleep(seconds)
        world.signal(part, signal.SIGCONT)
    else:
        await world.links("cut" if kind == "cut" else "silent", of=of, to=to)
        await asyncio.sleep(seconds)
        await world.links("open", of=of, to=to)


def _partitions() -> list[Listed]:
    found = []
    for of, to in LINKS:
        databases = POSTGRESQL if to == DATABASE else EVERY
        for state, words in (("cut", "refuses"), ("silent", "swallows")):
            promise = "Jobs wait for it, and go on."
            run = _away(to, of=of, state=state)  # type: ignore[arg-type]
            found.append(Listed(f"the network between {of} and {to} {words}", promise, run, databases=databases))
    return found


FAULTS = [
    Listed(
        "API killed before it commits",
        "No job, nothing set aside; the repeated POST is the job.",
        _api_killed_while(STORE, 1.0),
    ),
    Listed(
        "API killed between commit and start", "The relay starts what was committed.", _api_killed_while(TEMPORAL, 0.6)
    ),
    Listed(
        "API killed five times at any moment", "A repeated POST under its key is the same job.", api_killed_at_random
    ),
    Listed("GPU worker killed in mid-render", "The render is made again, billed once.", _killed(GPU)),
    Listed("GPU worker killed three times", "The same.", _killed(GPU, kills=3)),
    Listed("GPU worker asked to stop", "It finishes its render first.", _killed(GPU, number=signal.SIGTERM)),
    Listed("a render hangs in the device", "The worker starts anew; the render is made again.", _ordered("hang")),
    Listed("the device's memory runs out", "It is emptied, and the render made again.", _ordered("exhausted")),
    Listed("the device is gone", "The worker starts anew; the render is made again.", _ordered("broken")),
    Listed("CPU worker killed", "Another process goes on where it was.", _killed(CPU)),
    Listed("CPU worker killed three times", "The same.", _killed(CPU, kills=3)),
    Listed(
        "Temporal away at the POST", "202 all the same; jobs start once it is back.", _away(TEMPORAL, arriving=True)
    ),
    Listed("Temporal killed", "Runs go on where they were.", _killed(TEMPORAL)),
    Listed("Temporal frozen", "The same.", _frozen(TEMPORAL)),
    Listed(
        "store away at the POST",
        "503, nothing set aside; the repeated POST is the job.",
        _away(STORE, of=API, arriving=True),
    ),
    Listed("store killed", "Steps are tried again.", _killed(STORE)),
    Listed("store frozen", "The same; polls answer 503 meanwhile.", _frozen(STORE)),
    Listed("store away for a minute", "The same.", _away(STORE, seconds=60)),
    Listed(
        "database locked for eight seconds", "503 where nothing can wait; all else is tried again.", database_locked
    ),
    Listed("database away", "The same.", _away(DATABASE), databases=POSTGRESQL),
    Listed("database away for a minute", "The same.", _away(DATABASE, seconds=60), databases=POSTGRESQL),
    Listed("sixty slow clients", "Others do not feel them.", slow_clients),
    Listed("every POST sent three times at once", "One job each.", everything_sent_three_times),
    Listed("account blocked with jobs in flight", "They end and are billed; polls are refused.", account_blocked),
    Listed("every process started anew, in turn", "A deploy: requests and jobs go on.", deployed),
    Listed("the release before, and back again", "A roll-back: requests and jobs go on.", another_release),
    Listed("the clock an hour ahead, and back", "Nothing is billed twice.", clock_jumps, may_fail=True),
    *_partitions(),
    Listed("ten faults at once", "All of the above.", many_at_once),
    Listed(
        "Temporal loses its database",
        "Jobs fail at their deadline, unbilled.",
        temporal_loses_everything,
        may_fail=True,
    ),
]
"""In the order in which they happen to one world."""

NOT_HERE = {
    "disk full": "tests/stack/test_full_disk.py does it with a file system of its own",
    "API out of memory": "killed by the kernel, as above; bodies have a budget: tests/api/test_body_limit.py",
    "logo host down": "a logo is fetched once, when it is set: tests/activities/test_logos.py",
    "workers of two builds side by side": "tests/workflows/test_versions.py has them, on a real server",
}
"""Faults of the usual list that are tried elsewhere."""
