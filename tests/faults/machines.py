"""``python -m tests.faults.machines``: several APIs and workers behind haproxy, as if each were a machine of its own."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import psutil
from sqlalchemy import make_url

from cli.embedded import child_specs
from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms
from domain.money.plans import RequestRate
from runtime.embedded.supervisor import Child, ChildSpec, Supervisor
from tests.factories import create_caller
from tests.faults.record import write_run
from tests.faults.referee import judge
from tests.faults.world import API, CPU, GPU, PROJECT, TEMPORAL, Customer, World, place, running_world
from tests.servers.postgres import PostgresServer
from tests.servers.processes import free_port
from tests.servers.valkey import running_valkey

OUT = Path("out/machines.json")

FLEET = {API: 3, CPU: 3, GPU: 4}

LEAVE_SECONDS = 5
"""Of an API, as docs/scaling.md says for haproxy's two checks a second apart."""

CONFIGURATION = PROJECT / "deployment" / "haproxy.cfg"
"""What operators are told to use; here with other addresses."""


@dataclass
class Machine:
    """One process with a supervisor of its own, as systemd would be."""

    child: Child
    supervisor: Supervisor
    over: asyncio.Event
    watching: asyncio.Task[None]

    @classmethod
    def start(cls, spec: ChildSpec, logs: Path) -> Machine:
        supervisor, over = Supervisor(logs, lambda _running, _endings: None), asyncio.Event()
        return cls(supervisor.start(spec), supervisor, over, asyncio.create_task(supervisor.watch(over)))

    async def stop(self) -> None:
        self.over.set()
        await self.watching
        await self.supervisor.stop()


class Fleet:
    """More of each process of ours, beside those of a world, and the balancer before all APIs."""

    def __init__(self, world: World, servers: Mapping[str, int]) -> None:
        """Of a world, and with the ports of servers that it did not start, whose processor time counts too."""
        self.world = world
        self.port = free_port()
        self.children: dict[str, list[Child]] = {part: [world.parts[part]] for part in FLEET}
        self._ports = {API: world.settings.api.port}
        self._servers = {name: _listener(port) for name, port in servers.items()}
        plain = child_specs(world.settings, world.data_dir)  # they reach the servers without a proxy of the tests
        self._specs = {part: replace(plain[part], command=world.parts[part].spec.command) for part in FLEET}
        self._more: dict[str, Machine] = {}
        self._balancer: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def grow(self, part: str, number: int) -> None:
        """Have so many of a part, or fewer than there were; returns when all of them are ready."""
        mine = self.children[part]
        leaving, mine[number:] = mine[number:], []
        await asyncio.gather(*(self._more.pop(child.spec.name).stop() for child in leaving))
        fresh = []
        while len(mine) < number:
            name = f"{part}-{len(mine) + 1}"
            spec = replace(self._specs[part], name=name)
            if part == API:
                self._ports[name] = free_port()
                own = {**spec.environment, "TRYON_API_PORT": str(self._ports[name])}
                spec = replace(spec, environment=own, ready=_api_ready(self._ports[name]))
            self._more[name] = Machine.start(spec, self.world.data_dir / "logs")
            fresh.append(self._more[name].child)
            mine.append(fresh[-1])
        await asyncio.gather(*(child.wait_ready(90) for child in fresh))

    async def balance(self) -> None:
        """Put haproxy before the APIs that there are."""
        await self._stop_balancer()
        plain = [line for line in CONFIGURATION.read_text().splitlines() if not line.startswith("    server ")]
        text = "\n".join(plain).replace(":443 ssl crt /etc/haproxy/tryon.pem", f"127.0.0.1:{self.port}")
        text = text.replace("tryon.example.com", "127.0.0.1")
        assert f"bind 127.0.0.1:{self.port}" in text
        names = [child.spec.name for child in self.children[API]]
        file = self.world.data_dir / "haproxy.cfg"
        file.write_text(text + "".join(f"\n    server {name} 127.0.0.1:{self._ports[name]}" for name in names) + "\n")
        with (self.world.data_dir / "logs" / "haproxy.log").open("ab") as log:
            self._balancer = subprocess.Popen(["haproxy", "-db", "-f", str(file)], stdout=log, stderr=log)
        async with httpx.AsyncClient(trust_env=False) as client, asyncio.timeout(20):
            while True:
                with suppress(httpx.HTTPError):
                    if (await client.get(f"{self.address}/readyz")).status_code == 200:
                        return
                await asyncio.sleep(0.1)

    async def _stop_balancer(self) -> None:
        if self._balancer is not None:
            self._balancer.terminate()
            await asyncio.to_thread(self._balancer.wait)

    async def restart(self, child: Child) -> None:
        """Ask a process to stop, and wait until another is ready in its place."""
        before = child.pid
        assert before is not None
        os.kill(before, signal.SIGTERM)
        async with asyncio.timeout(120):
            while child.pid == before or child.exit_code is not None:
                await asyncio.sleep(0.1)
        await child.wait_ready(90)

    async def count_in_the_database(self) -> None:
        """Have the APIs count rates there, as they do without Valkey."""
        for child in self.children[API]:
            own = {name: value for name, value in child.spec.environment.items() if name != "TRYON_RATE_LIMIT_URL"}
            child.spec = replace(child.spec, environment=own)
        await asyncio.gather(*(self.restart(child) for child in self.children[API]))

    def kill_any(self) -> str:
        """Kill one of those that run, drawn by lot; what it is."""
        everybody = ((part, child) for part, each in self.children.items() for child in each)
        part, child = random.choice([(part, child) for part, child in everybody if child.exit_code is None])
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        return part

    def cpu_seconds(self) -> dict[str, float]:
        """What each kind of process has used so far, with what it started, the clients of this test too."""
        pids = {kind: [child.pid] for kind, child in self.world.parts.items()}
        pids |= {kind: [child.pid for child in children] for kind, children in self.children.items()}
        pids |= {kind: [pid] for kind, pid in self._servers.items()}
        assert self._balancer is not None
        pids["haproxy"] = [self._balancer.pid]
        used = {kind: sum(_seconds_of(pid) for pid in each if pid is not None) for kind, each in pids.items()}
        mine = os.times()
        return {**used, "clients": mine.user + mine.system}

    @contextmanager
    def temporal_held_to(self, share: float) -> Iterator[None]:
        """With Temporal's server on one core, and stopped for the rest of every 40 ms: it has that share of a core."""
        pid, over = self.world.parts[TEMPORAL].pid, threading.Event()
        assert pid is not None
        process, period = psutil.Process(pid), 0.04

        def hold() -> None:
            while not over.wait(period * share):
                process.suspend()
                time.sleep(period * (1 - share))
                process.resume()

        def run_on(cores: set[int]) -> None:
            for thread in process.threads():
                os.sched_setaffinity(thread.id, cores)

        cores, holding = os.sched_getaffinity(pid), threading.Thread(target=hold)
        run_on({min(cores)})
        holding.start()
        try:
            yield
        finally:
            over.set()
            holding.join()
            run_on(cores)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Fleet]:
        """With all of `FLEET`, behind haproxy, to which the world's customers turn."""
        key = self.world.client.headers["Authorization"]
        try:
            for part in FLEET:
                self.children[part][0].spec = self._specs[part]
            firsts = (self.restart(self.children[part][0]) for part in FLEET)
            await asyncio.gather(*firsts, *(self.grow(part, number) for part, number in FLEET.items()))
            await self.balance()
            await self.world.client.aclose()
            self.world.client = httpx.AsyncClient(base_url=self.address, timeout=60, trust_env=False)
            self.world.client.headers["Authorization"] = key
            yield self
        finally:
            await self._stop_balancer()
            await asyncio.gather(*(machine.stop() for machine in self._more.values()))


def _api_ready(port: int) -> Callable[[int], Awaitable[None]]:
    async def ready(_pid: int) -> None:
        async with httpx.AsyncClient(timeout=3, trust_env=False) as client:
            (await client.get(f"http://127.0.0.1:{port}/readyz")).raise_for_status()

    return ready


def _listener(port: int) -> int:
    """The process that listens there."""
    for each in psutil.net_connections("tcp4"):
        if each.status == psutil.CONN_LISTEN and each.laddr and each.laddr.port == port and each.pid is not None:
            return each.pid
    raise LookupError(f"nobody listens on {port}")


def _seconds_of(pid: int) -> float:
    """Processor time of a process, of its children, and of those that have ended."""
    total = 0.0
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for each in (process, *process.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                times = each.cpu_times()
                total += times.user + times.system + times.children_user + times.children_system
    return total


CUSTOMERS = 60
"""One each second."""

KILLS, KILL_SECONDS = 20, 3.0
"""How many, and before each; a process takes some seconds to come back, and more where others use the cores."""


CUT_OFF = frozenset({"POST 502", "GET 502"})
"""What haproxy says for an API that is killed in the middle of a call: it sends no call twice."""


async def money(fleet: Fleet, known: set[uuid.UUID]) -> dict[str, Any]:
    """Customers in waves, each of whom sends a POST to another API until one answers, while something is killed."""
    world, killed = fleet.world, Counter[str]()
    customers = [Customer(combo=number % 6 == 5) for number in range(CUSTOMERS)]
    again = [Customer(each.key, each.combo) for each in customers]  # impatient: the same POST twice at once

    async def arrive(number: int) -> None:
        await asyncio.sleep(number)
        await asyncio.gather(world.use(customers[number]), world.use(again[number]))

    async def kill() -> None:
        for _ in range(KILLS):
            await asyncio.sleep(KILL_SECONDS)
            killed[fleet.kill_any()] += 1

    killing = asyncio.create_task(kill())
    await asyncio.gather(*(arrive(number) for number in range(CUSTOMERS)))
    (fault,) = await asyncio.gather(killing, return_exceptions=True)
    healthy = await world.until_healthy()
    verdict = await judge(world, [*customers, *again], known, healthy)
    complaints = verdict.complaints(may_fail=False, also=CUT_OFF)
    two = sum(first.job_id != second.job_id for first, second in zip(customers, again, strict=True))
    complaints += [f"{two} POSTs made two jobs"] if two else []
    complaints += [f"{sum(killed.values())} of {KILLS} kills: {fault!r}"] if sum(killed.values()) != KILLS else []
    return {
        "trial": "money, while one of the ten processes is killed every three seconds",
        "promise": "Each POST, sent twice under its key to any API, is one job, billed once or not at all.",
        **asdict(verdict),
        "posts": CUSTOMERS,
        "killed": dict(killed),
        "complaints": complaints,
    }


async def rates(fleet: Fleet, where: str) -> dict[str, Any]:
    """An account that may call fifty times in a minute, from thirty connections through all APIs at once."""
    allowed, seconds = 50, 60
    world = fleet.world
    terms = OwnTerms(included=1000, daily_cap=1000, request_rate=RequestRate(allowed, seconds))
    digester = KeyDigester(*world.settings.security.peppers())
    caller = await create_caller(world.database, digester, own_terms=terms)
    spans, statuses = list[tuple[float, float]](), Counter[int]()
    until = time.monotonic() + 1.75 * seconds

    async def call() -> None:
        async with httpx.AsyncClient(base_url=fleet.address, headers=caller.headers, trust_env=False) as client:
            while time.monotonic() < until:
                asked = time.monotonic()
                answer = await client.get(f"/api/v1/tryon/{uuid.uuid4()}")
                statuses[answer.status_code] += 1
                if answer.status_code == 404:
                    spans.append((asked, time.monotonic()))
                await asyncio.sleep(random.uniform(0.2, 1.0))

    await asyncio.gather(*(call() for _ in range(30)))
    # A call was counted between its two moments, so all of these were in one window for certain.
    most = max(sum(at <= asked and answered < at + seconds for asked, answered in spans) for at, _ in spans)
    complaints = [f"{most} in a window"] if most != allowed else []
    # The clients ask for longer than one window and for less than two.
    complaints += [f"{len(spans)} let through"] if len(spans) != 2 * allowed else []
    complaints += [f"{statuses[code]} answers of {code}" for code in statuses if code not in (404, 429)]
    return {
        "trial": f"rates, counted in {where}",
        "promise": f"{allowed} calls in any {seconds} s, whichever API they come to, and no fewer.",
        "calls": sum(statuses.values()),
        "let_through": len(spans),
        "most_in_a_window": most,
        "complaints": complaints,
    }


async def rolling(fleet: Fleet, known: set[uuid.UUID]) -> dict[str, Any]:
    """Every process is asked to stop, one after the other, under calls of every kind."""
    world, over, failed, calls = fleet.world, asyncio.Event(), list[str](), Counter[str]()
    customers: list[Customer] = []

    async def ask(kind: str, method: str, path: str, **options: Any) -> httpx.Response | None:
        try:
            answer = await world.client.request(method, path, **options)
        except httpx.HTTPError as error:
            failed.append(f"{kind}: {type(error).__name__}")
            return None
        calls[kind] += 1
        if answer.status_code >= 300:
            failed.append(f"{kind}: {answer.status_code} {answer.text[:80]}")
        return answer

    async def shop(held: bool) -> None:
        """Without a repetition of anything: a request that fails is a request that failed."""
        while not over.is_set():
            customer = Customer()
            answer = await ask("POST", "POST", "/api/v1/tryon", json=customer.body)
            if answer is None or answer.status_code != 202:
                continue
            customer.job_id = answer.json()["jobId"]
            customers.append(customer)
            while not customer.end:
                headers = {"Prefer": "wait=20"} if held else {}
                answer = await ask(
                    "held poll" if held else "poll", "GET", f"/api/v1/tryon/{customer.job_id}", headers=headers
                )
                told = answer.json() if answer is not None and answer.status_code == 200 else {}
                if told.get("status", "processing") != "processing":
                    customer.end_with(told)
                await asyncio.sleep(0 if held else 0.3)

    shopping = [asyncio.create_task(shop(held)) for held in (True, True, True, False, False, False)]
    spent: dict[str, float] = {}
    await asyncio.sleep(5)
    for part in (GPU, CPU, API):  # in the order of an upgrade, docs/versions.md
        began = time.monotonic()
        for child in list(fleet.children[part]):
            await fleet.restart(child)
            await asyncio.sleep(1.5)  # until the balancer has seen it
        spent[part] = round(time.monotonic() - began, 1)
    over.set()
    await asyncio.gather(*shopping)
    healthy = await world.until_healthy()
    verdict = await judge(world, customers, known, healthy)
    return {
        "trial": "a rolling restart of every process",
        "promise": "No request fails and no job: nobody notices.",
        **asdict(verdict),
        "calls": dict(calls),
        "seconds_by_part": spent,
        "failed_requests": dict(Counter(failed)),
        "complaints": [
            *verdict.complaints(may_fail=False),
            *(f"{times} x {what}" for what, times in Counter(failed).items()),
        ],
    }


SIZES: tuple[tuple[int, int, int, float | None], ...] = (
    *((1, 1, 1, None), (1, 1, 2, None), (1, 1, 4, None), (1, 3, 4, None), (3, 3, 4, None)),
    *((1, 1, 4, 0.5), (1, 1, 4, 0.25), (1, 1, 4, 0.125)),
)
"""APIs, CPU workers and GPU workers, and the share of one core that Temporal's server has.

With a share it bends before the machine's cores do, so that what it can carry is seen.
"""

MEASURED_SECONDS = 25.0


async def throughput(fleet: Fleet) -> AsyncIterator[dict[str, Any]]:
    """Jobs a second and who takes the processor, as workers are added."""
    for apis, cpus, gpus, share in SIZES:
        for part, number in ((API, apis), (CPU, cpus), (GPU, gpus)):
            await fleet.grow(part, number)
        await fleet.balance()
        with fleet.temporal_held_to(share) if share else nullcontext():
            measured = await _measured(fleet)
        yield {"apis": apis, "cpu_workers": cpus, "gpu_workers": gpus, "temporal_share": share, **measured}


async def _measured(fleet: Fleet) -> dict[str, Any]:
    world, ended, latencies = fleet.world, list[float](), list[float]()
    until, body = time.monotonic() + MEASURED_SECONDS + 5, Customer().body

    async def shop() -> None:
        while time.monotonic() < until:
            asked = time.monotonic()
            answer = await world.client.post("/api/v1/tryon", json=body)
            job, status = answer.json().get("jobId"), ""
            while job and not status:
                held = await world.client.get(f"/api/v1/tryon/{job}", headers={"Prefer": "wait=20"})
                status = held.json().get("status", "").replace("processing", "")
            if status == "completed":
                ended.append(time.monotonic())
                latencies.append(time.monotonic() - asked)

    shopping = [asyncio.create_task(shop()) for _ in range(16)]
    await asyncio.sleep(5)  # until all are under way
    began, before, cores = time.monotonic(), fleet.cpu_seconds(), psutil.cpu_times()
    await asyncio.sleep(MEASURED_SECONDS)
    spent, used, after = time.monotonic() - began, fleet.cpu_seconds(), psutil.cpu_times()
    jobs = sum(began <= at <= began + spent for at in ended)
    await asyncio.gather(*shopping)
    idle = (after.idle + after.iowait - cores.idle - cores.iowait) / spent
    ours = sum(used.values()) - sum(before.values())
    return {
        "jobs_a_second": round(jobs / spent, 2),
        "p50_s": round(sorted(latencies)[len(latencies) // 2], 2) if latencies else None,
        "cores_idle": round(max(idle, 0), 2),
        "cores_ours": round(ours / spent, 2),
        "cpu_ms_a_job": {kind: round(1000 * (used[kind] - before[kind]) / max(jobs, 1)) for kind in sorted(used)},
    }


async def run(data_dir: Path, server: PostgresServer, valkey: str, wanted: argparse.Namespace) -> list[dict[str, Any]]:
    """All trials."""
    rows: list[dict[str, Any]] = []
    curve: list[dict[str, Any]] = []
    known = set[uuid.UUID]()

    def write() -> None:
        write_run(OUT, {"seed": wanted.seed, "rows": rows, **({"throughput": curve} if curve else {})})

    def done(row: dict[str, Any]) -> None:
        rows.append(row)
        write()
        print(row["trial"], "; ".join(row["complaints"]) or "kept", json.dumps(row), flush=True)

    variables = {"TRYON_RATE_LIMIT_URL": valkey, "TRYON_API_LEAVE_SECONDS": str(LEAVE_SECONDS)}
    servers = {"postgresql": server.port, "valkey": make_url(valkey).port or 0}
    async with (
        running_world(data_dir, server, variables=variables) as world,
        Fleet(world, servers).running() as fleet,
    ):
        for trial in (rolling, money):
            if wanted.only in trial.__name__:
                done(await trial(fleet, known))
        if wanted.only in "rates":
            done(await rates(fleet, "Valkey"))
        if wanted.only in "throughput":
            async for row in throughput(fleet):
                print(row, flush=True)
                curve.append(row)
                write()
        if wanted.only in "rates":
            await fleet.grow(API, FLEET[API])
            await fleet.balance()
            await fleet.count_in_the_database()
            done(await rates(fleet, "PostgreSQL"))
    return rows


def main() -> None:
    """Run the trials, write what was found, exit 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.machines", description=__doc__)
    parser.add_argument("--only", default="", help="money, rates, rolling or throughput")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6), help="of what is drawn by lot")
    wanted = parser.parse_args()
    random.seed(wanted.seed)
    with place("postgresql") as (folder, server), running_valkey(folder) as valkey:
        assert server is not None
        rows = asyncio.run(run(folder / "data", server, valkey, wanted))
    sys.exit(any(row["complaints"] for row in rows))


if __name__ == "__main__":
    main()
