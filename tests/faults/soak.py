"""``python -m tests.faults.soak``: mixed use for hours while something is killed each minute; nothing may grow or drift."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import math
import random
import statistics
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import psutil
from aiohttp import web
from sqlalchemy import select

from domain import webhooks
from domain.tables import WebhookDelivery
from domain.webhooks import EndpointTerms
from gateway.calls import TemporalAwayError
from tests.faults.faults import SLOWER
from tests.faults.record import p95, write_run
from tests.faults.referee import announced, judge
from tests.faults.world import (
    API,
    CPU,
    DATABASE,
    GARMENT,
    GPU,
    STORE,
    TEMPORAL,
    Customer,
    World,
    place,
    running_world,
)
from tests.servers.postgres import PostgresServer

OUT = Path("out/soak.json")

HALVES = ((CPU, GPU, TEMPORAL), (API, STORE, DATABASE))
"""One is killed each minute, in turn: of these in the first half of the time, of those in the second. So every part has a
life of half the time, long enough to show growth, while others are killed."""

EVERY_SECONDS = {
    "try-on": 1.5,
    "combo": 9.0,
    "backfill": 300.0,
    "POST product": 5.0,
    "GET list": 2.0,
    "GET usage": 2.0,
    "page": 3.0,
}
"""Between two of a kind. Try-ons take 0.3 s of the engine, so its queue is empty between them."""

PAGES = ("/dashboard/", "/dashboard/jobs", "/dashboard/products", "/dashboard/billing", "/dashboard/webhooks")

ITEMS = 20
"""Of a backfill."""

WARM_SECONDS, QUIET_UNTIL, SAMPLE_SECONDS = 120.0, 420.0, 5.0
"""From when on calls count as quiet ones, and until when: nothing is killed before. How often memory is read."""

REPEATED = {0, 503}
"""Statuses of calls that a client repeats; 0 is no answer."""

GROWTH, MORE = 0.15, 0.05
"""Memory and descriptors grow where the slope over the second half of a part's longest life is more than this an hour, as a
part of what they were, and where they were seen to grow by more than that between the first and last fifth of it. Moments
with equally many processes are compared: a decoder that is idle for five minutes ends, with its 35 MB and five descriptors,
and comes back when it is needed; and so do connections of PostgreSQL."""

OF_POSTGRES, POOLS = 6, 3
"""PostgreSQL's own processes, and who keeps connections to it, each a process more: the API, the CPU worker and this test.
A pool opens one when it first needs it, maybe after an hour, and keeps as many as `DatabaseSettings.pool_size`."""

JUDGED_MINUTES = 25.0
"""Half a life that is shorter is not judged: between the middles of its first and last fifth an hour's growth of 15 % would
not be seen as 5 %."""


class Sample(NamedTuple):
    """A part with its children at one moment: seconds since the beginning, bytes."""

    at: float
    processes: int
    bytes: int
    descriptors: int


class Kill(NamedTuple):
    """Of a part: seconds since the beginning, and until it could be used again."""

    part: str
    at: float
    away: float


class Soak:
    """The callers, and what they measured."""

    def __init__(self, world: World, seconds: float) -> None:
        self.world = world
        self.seconds = seconds
        self.customers: list[Customer] = []
        self.backfills: list[str] = []
        self.latencies: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self.lives: dict[tuple[str, int], list[Sample]] = defaultdict(list)
        self.using = set[asyncio.Task[None]]()
        self.began = time.monotonic()
        self.received: Counter[str] = Counter()
        self.kills: list[Kill] = []
        self.busy = uuid.UUID(int=0)
        self.cookie = ""
        self.unanswered: Counter[str] = Counter()
        self.wrong: list[str] = []

    @property
    def now(self) -> float:
        return time.monotonic() - self.began

    async def open_second_account(self) -> None:
        """Of backfills, whose owner looks at the dashboard."""
        self.busy, _ = await self.world.open_account()
        self.cookie = self.world.sign_in(self.busy)
        await self.world.put_backfill_pictures()

    async def measured(self, kind: str, method: str, path: str, **options: Any) -> None:
        """One call; one to a part that is away is counted, and is no latency."""
        asked, status = time.monotonic(), 0
        with suppress(httpx.HTTPError):
            status = (await self.world.client.request(method, path, **options)).status_code
        if status in REPEATED:
            self.unanswered[kind] += 1
        elif status < 300:
            self.latencies[kind].append((self.now, 1000 * (time.monotonic() - asked)))
        else:
            self.wrong.append(f"{kind} was answered {status}")

    def failed_calls(self, *, combo: bool) -> int:
        """Calls of such customers that had no answer, or 503, and were repeated."""
        mine = (customer for customer in self.customers if customer.combo == combo)
        return sum(call.status in REPEATED for each in mine for call in each.calls)

    async def try_on(self, *, combo: bool = False) -> None:
        """A customer who is not waited for."""
        customer, asked = Customer(combo=combo), time.monotonic()
        self.customers.append(customer)

        async def be() -> None:
            await self.world.use(customer)
            self.latencies["combo" if combo else "try-on"].append((self.now, 1000 * (time.monotonic() - asked)))
            await self.measured("GET poll", "GET", f"/api/v1/tryon/{customer.job_id}")

        task = asyncio.create_task(be())
        self.using.add(task)
        task.add_done_callback(self.using.discard)

    async def product(self) -> None:
        body = {
            "externalId": f"SKU-{random.randrange(50)}",
            "name": f"Shirt {random.randrange(10**6)}",
            "category": "upper_body",
            "garmentImageUrl": GARMENT,
        }
        await self.measured("POST product", "POST", "/api/v1/products", json=body)

    async def backfill(self) -> None:
        """Pictures of one person, begun and not waited for."""
        name = f"soak-{len(self.backfills)}"
        try:
            await self.world.start_backfill(name, self.busy, ITEMS)
        except TemporalAwayError:
            return
        self.backfills.append(name)

    async def use(self) -> None:
        """All kinds of calls, each at its own pace, to the end."""
        pages = itertools.cycle(PAGES)
        kinds: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
            "try-on": self.try_on,
            "combo": lambda: self.try_on(combo=True),
            "backfill": self.backfill,
            "POST product": self.product,
            "GET list": lambda: self.measured("GET list", "GET", "/api/v1/tryon?limit=20"),
            "GET usage": lambda: self.measured("GET usage", "GET", "/api/v1/usage"),
            "page": lambda: self.measured("page", "GET", next(pages), headers={"Cookie": self.cookie}),
        }

        async def at_a_pace(kind: str) -> None:
            while self.now < self.seconds:
                await asyncio.gather(kinds[kind](), asyncio.sleep(EVERY_SECONDS[kind]))

        await asyncio.gather(*(at_a_pace(kind) for kind in kinds), self._sample(), self._kill())
        await asyncio.gather(*self.using)

    async def _sample(self) -> None:
        while self.now < self.seconds:
            for part in self.world.killable:
                with suppress(psutil.Error):
                    process = psutil.Process(self.world.process(part).pid)
                    family = (process, *process.children(recursive=True))
                    # PostgreSQL's processes share most of theirs.
                    sizes = [
                        each.memory_full_info().pss if part == DATABASE else each.memory_info().rss for each in family
                    ]
                    descriptors = sum(each.num_fds() for each in family)
                    self.lives[part, process.pid].append(Sample(self.now, len(family), sum(sizes), descriptors))
            await asyncio.sleep(SAMPLE_SECONDS)

    async def _kill(self) -> None:
        await asyncio.sleep(QUIET_UNTIL)
        for half, until in zip(HALVES, (self.seconds / 2, self.seconds - 60), strict=True):
            for part in itertools.cycle(part for part in half if part in self.world.killable):
                began = self.now
                if began > until:
                    break
                await self.world.ready(part)
                await self.world.end(part)
                ended = self.now
                await self.world.ready(part)
                self.kills.append(Kill(part, ended, self.now - ended))
                await asyncio.sleep(60 - (self.now - began))

    async def backfilled(self) -> dict[str, int]:
        """What came of the backfills, once all have ended."""
        gateway = await self.world.gateway()
        reports = [await gateway.backfill_report(name) for name in self.backfills]
        return {
            "started": len(reports),
            "items": ITEMS * len(reports),
            "completed": sum(each.completed for each in reports),
        }

    def figures(self) -> dict[str, Any]:
        """Latencies quiet and under kills, and how memory and descriptors went in the longest life of each part."""
        latencies = {
            kind: {
                "quiet": p95([spent for at, spent in calls if WARM_SECONDS < at < QUIET_UNTIL]),
                "killed": p95([spent for at, spent in calls if at >= QUIET_UNTIL]),
                "calls": len(calls),
                "unanswered": self.unanswered[kind],
            }
            for kind, calls in sorted(self.latencies.items())
        }
        for kind in latencies.keys() & {"try-on", "combo"}:
            latencies[kind]["unanswered"] = self.failed_calls(combo=kind == "combo")
        found: dict[str, Any] = {}
        may_stay = {DATABASE: OF_POSTGRES + POOLS * self.world.settings.database.pool_size}
        for part in dict.fromkeys(part for part, _ in self.lives):
            of_part = (life for (of, _), life in self.lives.items() if of == part)
            found[part] = growth(max(of_part, key=lambda life: life[-1].at - life[0].at), may_stay.get(part, 0))
        return {
            "minutes": round(self.seconds / 60),
            "quiet_minutes": QUIET_UNTIL / 60,
            "killed": dict(Counter(kill.part for kill in self.kills)),
            "after_kills": after_kills(self.kills, [*self.latencies["try-on"], *self.latencies["combo"]]),
            "p95_ms": latencies,
            "lives": found,
        }


def after_kills(kills: list[Kill], jobs: list[tuple[float, float]]) -> dict[str, Any]:
    """Of each part: seconds until it could be used again, and the p95 of jobs that ended before the next kill.

    Args:
        kills: In their order.
        jobs: When each ended, and its milliseconds from the POST to the picture.
    """
    found: dict[str, Any] = {}
    for part in dict.fromkeys(kill.part for kill in kills):
        away = [kill.away for kill in kills if kill.part == part]
        until = [after.at for after in kills[1:]] + [math.inf]
        spans = [(kill.at, end) for kill, end in zip(kills, until, strict=True) if kill.part == part]
        ended = [spent for at, spent in jobs if any(begin <= at < end for begin, end in spans)]
        found[part] = {
            "away_s": {"median": round(statistics.median(away), 1), "longest": round(max(away), 1)},
            "p95_ms": p95(ended),
        }
    return found


def growth(life: list[Sample], may_stay: int = 0) -> dict[str, Any]:
    """How long it was, and how memory, descriptors and processes went in its second half, if that has any to say.

    So many processes ``may_stay``, whenever they came.
    """
    began, ended = life[0].at, life[-1].at
    halves = [[each for each in life if (each.at > (began + ended) / 2) == second] for second in (False, True)]
    found: dict[str, Any] = {"minutes": round((ended - began) / 60, 1)}
    if not all(halves):
        return found
    before, second = halves
    usual = statistics.mode(each.processes for each in second)
    equal = [each for each in second if each.processes == usual]
    if len(equal) > 2:  # a slope
        found |= {name: _trend(equal, name) for name in ("bytes", "descriptors")}
        found["processes"] = {
            "most_before": max(each.processes for each in before),
            "may_stay": may_stay,
            "last": statistics.median(each.processes for each in second[-max(1, len(second) // 5) :]),
        }
    return found


def grown(life: dict[str, Any]) -> list[str]:
    """What grew in a life that is long enough to tell."""
    if life["minutes"] <= 2 * JUDGED_MINUTES or "processes" not in life:
        return []
    processes = life["processes"]
    more = ["processes"] if processes["last"] > max(processes["most_before"], processes["may_stay"]) else []
    return more + [name for name in ("bytes", "descriptors") if _grows(life[name])]


def _trend(life: list[Sample], name: str) -> dict[str, float]:
    """Of a figure: its slope by least squares, and the medians of the first and last fifth."""
    fifth = max(1, len(life) // 5)
    times, values = [each.at / 3600 for each in life], [getattr(each, name) for each in life]
    return {
        "an_hour": round(statistics.linear_regression(times, values).slope, 1),
        "first": statistics.median(values[:fifth]),
        "last": statistics.median(values[-fifth:]),
    }


def _grows(trend: dict[str, float]) -> bool:
    return trend["an_hour"] > GROWTH * trend["first"] and trend["last"] > (1 + MORE) * trend["first"]


@asynccontextmanager
async def receiver(received: Callable[[], Counter[str]]) -> AsyncIterator[str]:
    """A shop's receiver of webhooks on loopback, which counts ids."""

    async def take(request: web.Request) -> web.Response:
        received()[request.headers["webhook-id"]] += 1
        return web.Response(status=204)

    application = web.Application()
    application.router.add_post("/", take)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


async def run(data_dir: Path, server: PostgresServer | None, minutes: float) -> dict[str, Any]:
    """Soak, and judge."""
    async with running_world(data_dir, server, variables={"TRYON_WEBHOOK_TRUSTED_NETWORKS": "127.0.0.0/8"}) as world:
        soak = Soak(world, 60 * minutes)
        await soak.open_second_account()
        async with receiver(lambda: soak.received) as address:
            terms = EndpointTerms(address, ["tryon.completed", "tryon.failed"])
            await world.database.write(webhooks.create_endpoint, account_id=world.account_id, terms=terms)
            early = set(world.probes)
            await soak.use()
            healthy = await world.until_healthy()
            backfilled = await soak.backfilled()
            backfilled["billed"] = await world.billed(soak.busy)
            verdict = await judge(world, soak.customers, set(), healthy)
            messages = await _messages(world, soak, early)
    found = {**soak.figures(), "backfills": backfilled, "webhooks": messages}
    complaints = [*verdict.complaints(may_fail=False), *world.complaints]
    complaints += [f"{number} x {what}" for what, number in Counter(soak.wrong).items()]
    return {**asdict(verdict), **found, "complaints": [*complaints, *complaints_of(found)]}


def complaints_of(found: dict[str, Any]) -> list[str]:
    """What is wrong with the figures of a run."""
    backfilled, messages = found["backfills"], found["webhooks"]
    complaints = [f"{messages['waiting']} webhooks not delivered"] if messages["waiting"] else []
    complaints += [f"{messages['untold']} ends of jobs were not told"] if messages["untold"] else []
    if not backfilled["items"] == backfilled["completed"] == backfilled["billed"]:
        complaints.append(f"backfills: {backfilled}")
    for part, life in found["lives"].items():
        complaints += [f"{part}: {name} grow" for name in grown(life)]
        complaints += [f"{part} was not killed"] if part not in found["killed"] else []
    for kind, each in found["p95_ms"].items():
        if each["quiet"] and each["killed"] and each["killed"] > SLOWER * each["quiet"]:
            complaints.append(f"{kind}: p95 {each['killed']:.1f} ms, quiet {each['quiet']:.1f} ms")
    return complaints


async def _messages(world: World, soak: Soak, early: set[uuid.UUID]) -> dict[str, int]:
    """How many were written, received, received twice, and still wait after ten minutes; and ends that were not told."""

    def count(session: Any) -> dict[str, int]:
        states = session.scalars(select(WebhookDelivery.status))
        return Counter(states)

    until = time.monotonic() + 600
    while (states := await world.database.read(count)).get("waiting") and time.monotonic() < until:
        await asyncio.sleep(2)
    return {
        "written": sum(states.values()),
        "received": len(soak.received),
        "twice": sum(number > 1 for number in soak.received.values()),
        "waiting": states.get("waiting", 0),
        **await asyncio.to_thread(announced, world, soak.received, early),
    }


def main() -> None:
    """Run it, print and write what was found; exit 1 if anything grew, drifted or was lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="postgresql")
    wanted = parser.parse_args()
    with place(wanted.database) as (folder, server):
        found = asyncio.run(run(folder / "data", server, wanted.minutes))
    write_run(OUT, {"database": wanted.database, **found})
    print(json.dumps(found, indent=1))
    raise SystemExit(1 if found["complaints"] else 0)


if __name__ == "__main__":
    main()
