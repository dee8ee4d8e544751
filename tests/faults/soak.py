"""``python -m tests.faults.soak``: mixed use for hours while something is killed each minute; nothing may grow or drift."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import statistics
import tempfile
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import psutil
from aiohttp import web
from sqlalchemy import select

from api.dashboard.visitor import SESSION, cookie_name
from domain import webhooks
from domain.access.keys import KeyDigester
from domain.accounts import OwnTerms
from domain.authentication import sessions
from domain.tables import Login, WebhookDelivery
from domain.webhooks import EndpointTerms
from gateway.calls import TemporalAwayError
from runtime.object_store import ObjectStoreUnavailableError
from tests.factories import create_caller
from tests.faults.record import write_run
from tests.faults.referee import judge
from tests.faults.world import API, CPU, GARMENT, GPU, STORE, TEMPORAL, Customer, World, running_world
from tests.pictures import encoded, photo
from tests.servers.postgres import running_postgres
from workflows.backfills.contracts import BackfillInput, BackfillItem

OUT = Path("out/soak.json")

PARTS = (GPU, CPU, API, STORE, TEMPORAL)
"""One is killed each minute, in turn; each is spared for a fifth of the time, so that one life of it is long."""

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

PICTURES = (encoded(photo(256, 320)), encoded(photo(256, 256)))
"""Person and garment of every item of a backfill."""

ITEMS = 20
"""Of a backfill."""

QUIET_SECONDS, SAMPLE_SECONDS, WARM_SECONDS = 180.0, 5.0, 120.0
"""Nothing is killed at first; memory is read so often; a process is warm so long after its start."""

GROWTH, SLOWER = 1.15, 2.0
"""Largest ratios: of memory and descriptors at the end of a long life to its beginning, of p95 under kills to quiet."""


class Soak:
    """The callers, and what they measured."""

    def __init__(self, world: World, seconds: float) -> None:
        self.world = world
        self.seconds = seconds
        self.customers: list[Customer] = []
        self.backfills: list[str] = []
        self.latencies: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self.samples: list[tuple[float, str, int, int, int]] = []
        self.using = set[asyncio.Task[None]]()
        self.began = time.monotonic()
        self.received: Counter[str] = Counter()
        self.killed: Counter[str] = Counter()
        self.busy = uuid.UUID(int=0)
        self.cookie = ""

    @property
    def now(self) -> float:
        return time.monotonic() - self.began

    def spared(self) -> str:
        """The part that is not killed now."""
        return PARTS[min(int(self.now / self.seconds * len(PARTS)), len(PARTS) - 1)]

    async def open_second_account(self) -> None:
        """Of backfills, whose owner looks at the dashboard."""
        settings, digester = self.world.settings, KeyDigester(*self.world.settings.security.peppers())
        terms = OwnTerms(included=10**6, daily_cap=10**6)
        self.busy = (await create_caller(self.world.database, digester, own_terms=terms)).account_id
        now = datetime.now(UTC)
        with self.world.database.transaction() as session:
            session.add(Login(account_id=self.busy, password_hash=None, verified_at=now, operator=True, created_at=now))
            token = sessions.open_session(
                session, account_id=self.busy, address="127.0.0.1", user_agent="soak", now=now
            )
        self.cookie = f"{cookie_name(SESSION, settings.dashboard)}={token}"

    async def measured(self, kind: str, method: str, path: str, **options: Any) -> None:
        """One call; a part that is away is no latency, and the customers' own loops repeat theirs."""
        asked = time.monotonic()
        with suppress(httpx.HTTPError):
            answer = await self.world.client.request(method, path, **options)
            if answer.status_code < 500:
                assert answer.status_code < 300, (kind, answer.status_code, answer.text[:500])
                self.latencies[kind].append((self.now, 1000 * (time.monotonic() - asked)))

    async def try_on(self, *, combo: bool = False) -> None:
        """A customer who is not waited for."""
        customer, asked = Customer(str(uuid.uuid4()), combo=combo), time.monotonic()
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
        keys = [f"backfills/soak/{each}.jpg" for each in ("person", "garment")]
        shared = {"person": keys[0], "garment_image_url": keys[1], "category": "upper_body"}
        items = [BackfillItem(key=f"{name}-{number}", **shared) for number in range(ITEMS)]
        try:
            for key, picture in zip(keys, PICTURES, strict=True):
                await self.world.store.put(key, picture, "image/jpeg")
            gateway = await self.world.gateway()
            await gateway.start_backfill(name, BackfillInput(account=str(self.busy), items=items))
        except (TemporalAwayError, ObjectStoreUnavailableError):
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
            for part, child in self.world.parts.items():
                with suppress(psutil.Error, TypeError):
                    process = psutil.Process(child.pid)
                    size = sum(each.memory_info().rss for each in (process, *process.children(recursive=True)))
                    self.samples.append((self.now, part, process.pid, size, process.num_fds()))
            await asyncio.sleep(SAMPLE_SECONDS)

    async def _kill(self) -> None:
        await asyncio.sleep(QUIET_SECONDS)
        for part in itertools.cycle(PARTS):
            if self.now > self.seconds - 60:
                return
            if part != self.spared():
                await self.world.end(part)
                self.killed[part] += 1
                await asyncio.sleep(60)

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
        p95 = {
            kind: {
                "quiet": _p95([spent for at, spent in calls if at < QUIET_SECONDS]),
                "killed": _p95([spent for at, spent in calls if at >= QUIET_SECONDS]),
                "calls": len(calls),
            }
            for kind, calls in sorted(self.latencies.items())
        }
        lives: dict[tuple[str, int], list[tuple[float, int, int]]] = defaultdict(list)
        for at, part, pid, size, descriptors in self.samples:
            lives[part, pid].append((at, size, descriptors))
        found: dict[str, Any] = {}
        for part in self.world.parts:
            longest = max(
                (life for (of, _), life in lives.items() if of == part), key=lambda life: life[-1][0] - life[0][0]
            )
            warm = [each for each in longest if each[0] > longest[0][0] + WARM_SECONDS]
            found[part] = {"minutes": round((warm[-1][0] - warm[0][0]) / 60, 1) if warm else 0}
            if len(warm) > 2:  # a slope
                found[part] |= {"bytes": _trend(warm, 1), "descriptors": _trend(warm, 2)}
        return {"minutes": round(self.seconds / 60), "killed": dict(self.killed), "p95_ms": p95, "lives": found}


def _trend(life: list[tuple[float, int, int]], which: int) -> dict[str, float]:
    """Of a figure: its slope by least squares, and the medians of the first and last fifth."""
    fifth = max(1, len(life) // 5)
    times, values = [each[0] / 3600 for each in life], [each[which] for each in life]
    return {
        "an_hour": round(statistics.linear_regression(times, values).slope, 1),
        "first": statistics.median(values[:fifth]),
        "last": statistics.median(values[-fifth:]),
    }


def _p95(values: list[float]) -> float | None:
    return round(sorted(values)[int(0.95 * (len(values) - 1))], 1) if values else None


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


async def run(data_dir: Path, url: str | None, minutes: float) -> dict[str, Any]:
    """Soak, and judge."""
    async with running_world(data_dir, url, TRYON_WEBHOOK_TRUSTED_NETWORKS="127.0.0.0/8") as world:
        soak = Soak(world, 60 * minutes)
        await soak.open_second_account()
        async with receiver(lambda: soak.received) as address:
            terms = EndpointTerms(address, ["tryon.completed", "tryon.failed"])
            await world.database.write(webhooks.create_endpoint, account_id=world.account_id, terms=terms)
            await soak.use()
            healthy = await world.until_healthy()
            backfilled = await soak.backfilled()
            verdict = await judge(world, soak.customers, set(), healthy)
            told = await _told(world, soak)
    figures = soak.figures()
    complaints = verdict.complaints(may_fail=False)
    complaints += [f"{told['waiting']} webhooks not delivered"] if told["waiting"] else []
    complaints += ["items of backfills are missing"] if backfilled["completed"] != backfilled["items"] else []
    for part, life in figures["lives"].items():
        trends = ((name, life[name]) for name in ("bytes", "descriptors") if name in life)
        complaints += [f"{part}: {name} grew" for name, each in trends if each["last"] > GROWTH * each["first"]]
    for kind, each in figures["p95_ms"].items():
        if each["quiet"] and each["killed"] > SLOWER * each["quiet"]:
            complaints.append(f"{kind}: p95 {each['killed']} ms, quiet {each['quiet']} ms")
    return {**asdict(verdict), **figures, "backfills": backfilled, "webhooks": told, "complaints": complaints}


async def _told(world: World, soak: Soak) -> dict[str, int]:
    """How many messages were written, received, received twice, and still wait."""

    def count(session: Any) -> dict[str, int]:
        states = session.scalars(select(WebhookDelivery.status))
        return Counter(states)

    until = time.monotonic() + 600
    while (states := await world.database.read(count)).get("waiting") and time.monotonic() < until:
        await asyncio.sleep(2)
    twice = sum(number > 1 for number in soak.received.values())
    written = sum(states.values())
    return {"written": written, "received": len(soak.received), "twice": twice, "waiting": states.get("waiting", 0)}


def main() -> None:
    """Run it, print and write what was found; exit 1 if anything grew, drifted or was lost."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), default="postgresql")
    wanted = parser.parse_args()
    with ExitStack() as stack:
        temporary = tempfile.TemporaryDirectory(prefix="tryon-soak-", ignore_cleanup_errors=True)
        folder = Path(stack.enter_context(temporary))
        url = stack.enter_context(running_postgres()) if wanted.database == "postgresql" else None
        found = asyncio.run(run(folder / "data", url, wanted.minutes))
    write_run(OUT, {"database": wanted.database, **found})
    print(json.dumps(found, indent=1))
    raise SystemExit(1 if found["complaints"] else 0)


if __name__ == "__main__":
    main()
