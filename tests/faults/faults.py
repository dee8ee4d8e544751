"""The faults: each a function that does its worst to a world in which jobs are in flight."""

from __future__ import annotations

import asyncio
import io
import random
import shutil
import signal
import sqlite3
import subprocess
import tarfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import structlog
from sqlalchemy import Select, func, select

from api.administration import blocking
from domain.errors import CATALOGUE
from domain.jobs.jobs import FAILED, PROCESSING
from domain.tables import IdempotencyKey, Job
from tests.faults.proxy import State
from tests.faults.record import p95
from tests.faults.referee import of_jobs, of_no_job, purge
from tests.faults.world import (
    API,
    CPU,
    DATABASE,
    GPU,
    LINKS,
    OURS,
    PROJECT,
    RESULT_SECONDS,
    STORE,
    TEMPORAL,
    Customer,
    World,
)

JOBS_IN_FLIGHT = 20

SLOWER = 2.0
"""The largest ratio of a p95 to that of quiet times that nobody feels."""

TOO_LATE = CATALOGUE["timed_out"].sentence
"""What the customer of a job hears whose deadline has passed."""

log = structlog.get_logger(__name__)

AWAY_SECONDS, SILENT_SECONDS = 8.0, 25.0
"""How long something refuses, and how long it is silent: longer than any single call waits for an answer of Temporal or
the store (20 s). A PostgreSQL that is silent is waited for."""

CLOCK_SECONDS = 3.0
"""How long a clock is wrong."""

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
        also: Answers to customers that are right here and nowhere else.
        leaves_nothing: Whether no object of a job may be left to the purge: it touches neither the CPU worker and the
            API, which delete them, nor what these need for that, and nobody can write one late.
    """

    name: str
    promise: str
    run: Fault
    may_fail: bool = False
    databases: tuple[str, ...] = EVERY
    also: frozenset[str] = frozenset()
    leaves_nothing: bool = False


class NotHereError(Exception):
    """The fault cannot be tried on this machine."""


def answered(customers: list[Customer], how: str) -> int:
    """How many calls were answered so: a method and a status, 0 for no answer."""
    return sum(f"{call.method} {call.status}" == how for each in customers for call in each.calls)


def _killed(part: str, *, kills: int = 1) -> Fault:
    async def run(world: World, jobs: int) -> list[Customer]:
        async with world.in_flight(jobs) as customers:
            for _ in range(kills):
                await world.ready(part)
                await world.end(part)
        if part == GPU:
            world.expect(world.noted("begun") > world.noted("ended"), "no render was cut off")
        return customers

    return run


async def gpu_worker_stopped(world: World, jobs: int) -> list[Customer]:
    async with world.in_flight(jobs) as customers:
        await world.end(GPU, signal.SIGTERM)
    world.expect(world.noted("begun") == world.noted("ended"), "a render was cut off")
    return customers


def _away(
    to: str,
    *,
    of: str | None = None,
    state: State = "cut",
    arriving: bool = False,
    seconds: float = AWAY_SECONDS,
    seen: str = "",
    unseen: str = "",
) -> Fault:
    """A server is away, to one part or to all, and calls of customers are answered so, or not so."""

    async def run(world: World, jobs: int) -> list[Customer]:
        async with world.arriving(jobs) if arriving else world.in_flight(jobs) as customers:
            await world.links(state, of=of, to=to)
            await asyncio.sleep(seconds)
        world.expect(any(world.hits.values()), "it met no connection")
        if seen:
            world.expect(answered(customers, seen) > 0, f"no call was answered {seen}")
        if unseen:
            world.expect(answered(customers, unseen) == 0, f"a call was answered {unseen}")
        return customers

    return run


def _frozen(part: str) -> Fault:
    async def run(world: World, jobs: int) -> list[Customer]:
        async with world.in_flight(jobs) as customers:
            world.expect(world.send(part, signal.SIGSTOP), f"{part} was not hit")
            await asyncio.sleep(SILENT_SECONDS)
            world.send(part, signal.SIGCONT)
        return customers

    return run


def _ordered(what: str, *, emptied: bool = False) -> Fault:
    async def run(world: World, jobs: int) -> list[Customer]:
        async with world.in_flight(jobs) as customers:
            world.order(what)
        world.expect(world.noted(what) == 1, f"the engine was not told: {what}")
        world.expect(not emptied or world.noted("emptied") > 0, "its memory was not emptied")
        return customers

    return run


CLAIMED = select(func.count()).where(IdempotencyKey.job_id.is_(None))
"""POSTs that are being accepted."""

UNSTARTED = select(func.count()).where(Job.status == PROCESSING, Job.started_at.is_(None))
"""Jobs that are committed and not handed over to Temporal."""


def _api_killed_while(waits_for: str, reached: Select[Any]) -> Fault:
    """Killed while POSTs wait for a server that is silent, once all have got so far."""

    async def run(world: World, jobs: int) -> list[Customer]:
        await world.links("silent", to=waits_for)  # to the relay too, which would go on with the jobs
        async with world.arriving(jobs) as customers:
            await world.until(reached, jobs)
            await world.end(API)
            await world.links("open")
        world.expect(answered(customers, "POST 0") > 0, "no POST was cut off")
        return customers

    return run


def _killed_at_random(part: str) -> Fault:
    async def run(world: World, jobs: int) -> list[Customer]:
        async with world.busy(jobs) as customers:
            for _ in range(5):
                await world.ready(part)
                await asyncio.sleep(random.uniform(0.05, 2))
                await world.end(part)
        return customers

    return run


async def database_locked(world: World, jobs: int) -> list[Customer]:
    """Renders end under the lock, and as many customers arrive."""
    late = [Customer() for _ in range(jobs)]
    async with world.in_flight(jobs) as customers:
        holding = asyncio.create_task(asyncio.to_thread(_hold_the_database, world))
        using = [asyncio.create_task(world.use(each)) for each in late]
        began, ended = await holding
    await asyncio.gather(*using)
    posts = [call for each in late for call in each.calls if call.method == "POST" and began < call.asked < ended]
    world.expect(bool(posts), "no POST was sent under the lock")
    world.expect(all(call.answered > ended or call.status != 202 for call in posts), "a POST was done under the lock")
    return [*customers, *late]


def _hold_the_database(world: World) -> tuple[float, float]:
    """For eight seconds; returns its first and last moment."""
    file = world.settings.database.file()
    with closing(
        psycopg.connect(world.settings.database.url) if file is None else sqlite3.connect(file, timeout=30)
    ) as lock:
        lock.execute("LOCK TABLE account, job, ledger IN ACCESS EXCLUSIVE MODE" if file is None else "BEGIN IMMEDIATE")
        began = time.monotonic()
        time.sleep(AWAY_SECONDS)
        ended = time.monotonic()
        lock.rollback()
    return began, ended


async def temporal_loses_everything(world: World, jobs: int) -> list[Customer]:
    """Its server is killed, and starts with an empty database."""
    async with world.in_flight(jobs) as customers:
        await world.links("cut", to=TEMPORAL)
        for name in ("temporal.db", "temporal.db-wal", "temporal.db-shm"):
            (world.data_dir / name).unlink(missing_ok=True)
        await world.end(TEMPORAL)
        await world.ready(TEMPORAL)
        await world.links("open")
    _expect_overdue(world, customers)
    schedules, _ = await (await world.gateway()).schedules.states()
    world.expect(all(each.there for each in schedules), "a schedule did not come back")
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

    async with world.busy(jobs) as customers:
        await asyncio.sleep(AWAY_SECONDS)
        opened = time.monotonic()
        tricklers = [asyncio.create_task(trickle()) for _ in range(60)]
        await asyncio.sleep(AWAY_SECONDS)
    for each in tricklers:
        each.cancel()
    calls = [call for each in customers for call in each.calls]
    world.expect(all(call.status in {200, 202} for call in calls), "a call was refused")
    before, beside = (
        p95([call.answered - call.asked for call in calls if (call.asked < opened) is earlier]) or 0
        for earlier in (True, False)
    )
    world.expect(beside < SLOWER * before, f"p95 was {before:.2f} s, and beside them {beside:.2f} s")
    return customers


async def everything_sent_three_times(world: World, jobs: int) -> list[Customer]:
    customers = [Customer() for _ in range(jobs)]
    again = [Customer(each.key) for each in customers for _ in range(2)]
    await asyncio.gather(*(world.use(each) for each in (*customers, *again)))
    world.expect({each.job_id for each in again} == {each.job_id for each in customers}, "a POST made two jobs")
    return [*customers, *again]


async def account_blocked(world: World, jobs: int) -> list[Customer]:
    """As an operator does it, and back."""
    keep = timedelta(seconds=RESULT_SECONDS)
    about: dict[str, Any] = {"account_id": world.account_id, "operator_id": None}
    async with world.in_flight(jobs) as customers:
        gateway = await world.gateway()
        for job_id in await blocking.block(world.database, reason="A test.", keep=keep, **about):
            await gateway.cancel_job(job_id)
        await asyncio.sleep(AWAY_SECONDS)
        await world.database.write(blocking.unblock, now=datetime.now(UTC), **about)
    world.expect(answered(customers, "GET 403") > 0, "no poll was refused")
    world.expect(all(each.end == FAILED for each in customers), "a job was not cancelled")
    return customers


async def deployed(world: World, jobs: int) -> list[Customer]:
    """Every process of ours is asked to stop, one after the other, and starts anew."""
    async with world.in_flight(jobs) as customers:
        for part in OURS:
            await world.start_anew(part)
    return customers


async def another_release(world: World, jobs: int) -> list[Customer]:
    """Back to the release before the newest tables and forward again, in the order of docs/versions.md."""
    tree = await asyncio.to_thread(_older_tree, world.data_dir / "older")
    async with world.in_flight(jobs) as customers:
        for part in (API, CPU, GPU):
            await world.change_release(part, tree)
        between = [Customer() for _ in range(jobs)]
        using = [asyncio.create_task(world.use(each)) for each in between]
        await asyncio.wait_for(asyncio.gather(*(each.accepted.wait() for each in between)), 60)
        for part in (GPU, CPU, API):
            await world.change_release(part, None)
    await asyncio.gather(*using)
    return [*customers, *between]


def _older_tree(folder: Path) -> Path:
    """A folder of the last commit before the newest migration, with the engine of these tests; named by the commit."""
    git = ["git", "-C", str(PROJECT)]
    try:
        told = [*git, "log", "-1", "--format=%H", "--", "domain/migrations/versions"]
        newest = subprocess.check_output(told, text=True).strip()
        before = subprocess.check_output([*git, "rev-parse", "--short", f"{newest}^"], text=True).strip()
        packed = subprocess.check_output([*git, "archive", before])
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotHereError("this checkout has no history") from error
    folder /= before
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(folder, filter="data")
    here = folder / "tests" / "faults"
    here.mkdir(exist_ok=True)
    for name in ("__init__.py", "engine.py"):
        (here / name).write_bytes((PROJECT / "tests" / "faults" / name).read_bytes())
    return folder


async def clock_jumps(world: World, jobs: int) -> list[Customer]:
    """The clocks of the API and the CPU worker go an hour ahead, then an hour behind, and back.

    They are under libfaketime for this fault only: threads that wait for Python's lock spin there, which takes more than
    a core. The GPU worker is not, since `time.sleep` fails there, and its engine sleeps.
    """
    library = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
    if library is None:
        raise NotHereError("libfaketime is not installed")
    clock = world.data_dir / "clock"
    clock.write_text("+0\n")
    faked = {
        "LD_PRELOAD": str(library),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_CACHE_DURATION": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    plain = {part: world.parts[part].spec.environment for part in (API, CPU)}
    try:
        for part, environment in plain.items():
            await world.start_anew(part, {**environment, **faked})
        async with world.in_flight(jobs, hold_seconds=CLOCK_SECONDS) as customers:  # so that a poll finds them overdue
            for offset in ("+3600", "-3600", "+0"):
                clock.write_text(f"{offset}\n")
                await asyncio.sleep(CLOCK_SECONDS)
    finally:  # whatever stumbled, the faults behind this one have the right time
        for part, environment in plain.items():
            await world.start_anew(part, environment)
    _expect_overdue(world, customers)
    return customers


def _expect_overdue(world: World, customers: list[Customer]) -> None:
    """Some jobs failed by their deadline, and none for another reason. Others had not begun, or had the time."""
    world.expect(any(each.end == FAILED for each in customers), "no job was overdue")
    world.expect(all(each.error in {"", TOO_LATE} for each in customers), "a job failed for another reason")


async def many_at_once(world: World, jobs: int) -> list[Customer]:
    """Ten faults drawn by lot within half a minute, several of them at the same time, while customers come and go."""
    one_at_a_time: dict[tuple[str, str], asyncio.Lock] = defaultdict(asyncio.Lock)
    async with world.busy(jobs) as customers:
        await asyncio.gather(*(_something(world, one_at_a_time) for _ in range(10)))
    return customers


async def _something(world: World, one_at_a_time: Mapping[tuple[str, str], asyncio.Lock]) -> None:
    await asyncio.sleep(random.uniform(0, 25))
    part, (of, to) = random.choice(world.killable), random.choice(list(world.proxies))
    kind, seconds = random.choice(["kill", "freeze", "cut", "silent"]), random.uniform(1, 6)
    about = {"of": part} if kind in ("kill", "freeze") else {"of": of, "to": to}
    log.warning("fault", kind=kind, seconds=round(seconds, 1), **about)
    if kind in ("kill", "freeze"):
        await world.ready(part)  # it may be down
    if kind == "kill":
        world.send(part, signal.SIGKILL)
    elif kind == "freeze":
        world.send(part, signal.SIGSTOP)
        await asyncio.sleep(seconds)
        world.send(part, signal.SIGCONT)
    else:
        async with one_at_a_time[of, to]:
            await world.links("cut" if kind == "cut" else "silent", of=of, to=to)
            await asyncio.sleep(seconds)
            await world.links("open", of=of, to=to)


async def nothing_stays(world: World, _jobs: int) -> list[Customer]:
    """Nothing is broken; all is looked for."""
    await asyncio.sleep(RESULT_SECONDS)
    orphans = await of_no_job(world)
    world.figures |= {"before_purge": len(await of_jobs(world)), "orphans_before_purge": len(orphans)}
    await purge(world)
    left = await of_jobs(world)
    world.expect(not left, f"{len(left)} objects stay, such as {left[:1]}")
    return []


def _partitions() -> list[Listed]:
    found = []
    for of, to in LINKS:
        databases = POSTGRESQL if to == DATABASE else EVERY
        for state, words in (("cut", "refuses"), ("silent", "swallows")):
            posts, works = "POSTs wait for it or are repeated, and are one job each.", "Jobs wait for it, and go on."
            promise = posts if of == API else works
            seconds = AWAY_SECONDS if state == "cut" else SILENT_SECONDS
            run = _away(to, of=of, state=state, seconds=seconds, arriving=of == API)  # type: ignore[arg-type]
            found.append(Listed(f"the network between {of} and {to} {words}", promise, run, databases=databases))
    return found


FAULTS = [
    Listed(
        "API killed before it commits",
        "No job, nothing set aside; the repeated POST is the job.",
        _api_killed_while(STORE, CLAIMED),
    ),
    Listed(
        "API killed between commit and start",
        "The relay starts what was committed.",
        _api_killed_while(TEMPORAL, UNSTARTED),
    ),
    Listed(
        "API killed five times at any moment", "A repeated POST under its key is the same job.", _killed_at_random(API)
    ),
    Listed(
        "GPU worker killed in mid-render", "The render is made again, billed once.", _killed(GPU), leaves_nothing=True
    ),
    Listed("GPU worker killed three times", "The same.", _killed(GPU, kills=3), leaves_nothing=True),
    Listed("GPU worker asked to stop", "It finishes its render first.", gpu_worker_stopped, leaves_nothing=True),
    Listed(
        "a render hangs in the device",
        "The worker starts anew; the render is made again.",
        _ordered("hang"),
        leaves_nothing=True,
    ),
    Listed(
        "the device's memory runs out",
        "It is emptied, and the render made again.",
        _ordered("exhausted", emptied=True),
        leaves_nothing=True,
    ),
    Listed(
        "the device is gone",
        "The worker starts anew; the render is made again.",
        _ordered("broken"),
        leaves_nothing=True,
    ),
    Listed("CPU worker killed", "Another process goes on where it was.", _killed(CPU)),
    Listed("CPU worker killed three times", "The same.", _killed(CPU, kills=3)),
    Listed(
        "Temporal away at the POST",
        "202 all the same; jobs start once it is back.",
        _away(TEMPORAL, arriving=True, unseen="POST 503"),
    ),
    Listed("Temporal killed", "Runs go on where they were.", _killed(TEMPORAL)),
    Listed("Temporal frozen", "The same.", _frozen(TEMPORAL)),
    Listed(
        "store away at the POST",
        "503, nothing set aside; the repeated POST is the job.",
        _away(STORE, of=API, arriving=True, seen="POST 503"),
    ),
    Listed("store killed", "Steps begin again.", _killed(STORE)),
    Listed("store frozen", "The same.", _frozen(STORE)),
    Listed("store away for a minute", "The same.", _away(STORE, seconds=60)),
    Listed(
        "store silent to the CPU worker for two minutes",
        "The same.",
        _away(STORE, of=CPU, state="silent", arriving=True, seconds=120),
    ),
    Listed(
        "database locked for eight seconds",
        "Calls wait, or get 503; no POST is done under it.",
        database_locked,
    ),
    Listed("PostgreSQL killed", "Steps begin again.", _killed(DATABASE), databases=POSTGRESQL),
    Listed(
        "PostgreSQL killed five times at any moment",
        "A repeated POST under its key is the same job.",
        _killed_at_random(DATABASE),
        databases=POSTGRESQL,
    ),
    Listed(
        "database away",
        "503 to customers; steps begin again.",
        _away(DATABASE, seen="GET 503"),
        databases=POSTGRESQL,
    ),
    Listed(
        "database away for a minute", "The same.", _away(DATABASE, seconds=60, seen="GET 503"), databases=POSTGRESQL
    ),
    Listed(
        "sixty slow clients", "No other call is refused, and p95 does not double.", slow_clients, leaves_nothing=True
    ),
    Listed("every POST sent three times at once", "One job each.", everything_sent_three_times, leaves_nothing=True),
    Listed(
        "account blocked with jobs in flight",
        "They are cancelled, unbilled; calls are refused until it is unblocked.",
        account_blocked,
        may_fail=True,
        also=frozenset({"GET 403"}),
    ),
    Listed("every process started anew, in turn", "A deploy: requests and jobs go on.", deployed),
    Listed(
        "the commit before the newest tables, and back again", "A roll-back: requests and jobs go on.", another_release
    ),
    Listed(
        "the clocks of API and CPU worker an hour ahead, an hour behind, and back",
        "Jobs that are overdue by it fail, unbilled; nothing is billed twice.",
        clock_jumps,
        may_fail=True,
    ),
    *_partitions(),
    Listed("ten faults at once", "No job is lost or fails, none is billed twice.", many_at_once),
    Listed(
        "Temporal loses its database",
        "Jobs that it had fail at their deadline, unbilled; others are done; its schedules come back.",
        temporal_loses_everything,
        may_fail=True,
    ),
]
"""In the order in which they happen to one world."""

AFTERWARDS = Listed(
    "after all of them",
    "Two minutes later a purge without its hour's grace leaves nothing of any job in the store.",
    nothing_stays,
)
"""At the end of any list."""

NOT_HERE = {
    "disk full": "of the embedded store, without jobs, where a file system of one's own can be mounted: tests/stack/test_full_disk.py",
    "API out of memory": "who is killed by the kernel is killed; bodies have a budget: tests/api/test_body_limit.py",
    "logo host down": "a logo is fetched once, when it is set: tests/activities/test_logos.py",
    "workers of two builds side by side": "tests/workflows/test_versions.py has them, on a real server",
}
"""Faults of the usual list that are tried elsewhere."""
