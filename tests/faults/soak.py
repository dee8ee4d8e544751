"""``python -m tests.faults.soak``: mixed use for hours while something is killed each minute; nothing may grow or drift."""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import platform
import random
import signal
import statistics
import tempfile
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import httpx
import psutil
from aiohttp import web
from sqlalchemy import select

from domain import webhooks
from domain.tables import WebhookDelivery
from domain.webhooks import EndpointTerms
from tests.faults.referee import judge
from tests.faults.world import API, CPU, GARMENT, GPU, STORE, TEMPORAL, Customer, World, running_world
from tests.servers.postgres import running_postgres, tell_server

OUT = Path("out/soak.json")

KILLED = (GPU, CPU, API, STORE, TEMPORAL)
"""One a minute, in turn."""

EVERY_SECONDS = {"try-on": 1.5, "product": 5.0, "list": 2.0, "usage": 2.0, "page": 3.0}
"""Between two calls of a kind. Try-ons take 0.3 s of the engine, so its queue is empty between them."""

QUIET_SECONDS, SAMPLE_SECONDS = 60.0, 5.0

GROWTH = 1.25
"""Largest ratio of memory or descriptors of the last third to the first; a process starts anew every five minutes."""


class Soak:
    """The callers, and what they measured."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.customers: list[Customer] = []
        self.latencies: dict[str, list[tuple[float, float]]] = defaultdict(list)
        self.samples: list[tuple[float, str, int, int]] = []
        self.using = set[asyncio.Task[Customer]]()
        self.began = time.monotonic()
        self.received: Counter[str] = Counter()

    @property
    def now(self) -> float:
        return time.monotonic() - self.began

    async def call(self, kind: str, method: str, path: str, **options: Any) -> None:
        asked = time.monotonic()
        with suppress(httpx.HTTPError):
            answer = await self.world.client.request(method, path, **options)
            if answer.status_code < 500:
                self.latencies[kind].append((self.now, 1000 * (time.monotonic() - asked)))

    async def try_on(self) -> None:
        customer = Customer(str(uuid.uuid4()))
        self.customers.append(customer)
        task = asyncio.create_task(self.world.use(customer))
        self.using.add(task)
        task.add_done_callback(self.using.discard)

    async def product(self) -> None:
        body = {
            "externalId": f"SKU-{random.randrange(50)}",
            "name": f"Shirt {random.randrange(10**6)}",
            "category": "upper_body",
            "garmentImageUrl": GARMENT,
        }
        await self.call("product", "POST", "/api/v1/products", json=body)

    async def use(self, seconds: float) -> None:
        """All kinds of calls, each at its own pace, for so long."""
        kinds: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
            "try-on": self.try_on,
            "product": self.product,
            "list": lambda: self.call("list", "GET", "/api/v1/tryon?limit=20"),
            "usage": lambda: self.call("usage", "GET", "/api/v1/usage"),
            "page": lambda: self.call("page", "GET", "/dashboard/log-in"),
        }

        async def at_a_pace(kind: str) -> None:
            while self.now < seconds:
                await asyncio.gather(kinds[kind](), asyncio.sleep(EVERY_SECONDS[kind]))

        await asyncio.gather(*(at_a_pace(kind) for kind in kinds), self._sample(seconds), self._kill(seconds))
        await asyncio.gather(*self.using)

    async def _sample(self, seconds: float) -> None:
        while self.now < seconds:
            for part, child in self.world.parts.items():
                with suppress(psutil.Error, TypeError):
                    process = psutil.Process(child.pid)
                    self.samples.append((self.now, part, process.memory_info().rss, process.num_fds()))
            await asyncio.sleep(SAMPLE_SECONDS)

    async def _kill(self, seconds: float) -> None:
        for part in itertools.cycle(KILLED):
            await asyncio.sleep(60)
            if self.now > seconds - 30:
                return
            self.world.signal(part, signal.SIGKILL)

    def figures(self) -> dict[str, Any]:
        """Latencies quiet and under kills, and how memory and descriptors went."""
        found: dict[str, Any] = {"p95_ms": {}, "growth": {}}
        for kind, all_of in self.latencies.items():
            quiet = [spent for at, spent in all_of if at < QUIET_SECONDS]
            later = [spent for at, spent in all_of if at >= QUIET_SECONDS]
            found["p95_ms"][kind] = {"quiet": _p95(quiet), "killed": _p95(later)}
        third = self.now / 3
        for part in self.world.parts:
            own = [each for each in self.samples if each[1] == part]
            first, last = [each for each in own if each[0] < third], [each for each in own if each[0] > 2 * third]
            found["growth"][part] = {
                name: {
                    "first": round(statistics.median(each[at] for each in first)),
                    "last": round(statistics.median(each[at] for each in last)),
                }
                for name, at in (("bytes", 2), ("descriptors", 3))
            }
        return found


def _p95(values: list[float]) -> float | None:
    return round(sorted(values)[int(0.95 * (len(values) - 1))], 1) if values else None


@asynccontextmanager
async def receiver(soak_of: Callable[[], Soak]) -> AsyncIterator[str]:
    """A shop's receiver of webhooks on loopback, which counts ids."""

    async def take(request: web.Request) -> web.Response:
        soak_of().received[request.headers["webhook-id"]] += 1
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
        soak = Soak(world)
        async with receiver(lambda: soak) as address:
            terms = EndpointTerms(address, ["tryon.completed", "tryon.failed"])
            await world.database.write(webhooks.create_endpoint, account_id=world.account_id, terms=terms)
            await soak.use(60 * minutes)
            healthy = await world.until_healthy()
            verdict = await judge(world, soak.customers, set(), healthy)
            told = await _told(world, soak)
    figures = soak.figures()
    complaints = verdict.complaints(may_fail=False)
    complaints += [f"{told['waiting']} webhooks not delivered"] if told["waiting"] else []
    for part, kinds in figures["growth"].items():
        complaints += [f"{part}: {name} grew" for name, each in kinds.items() if each["last"] > GROWTH * each["first"]]
    return {**asdict(verdict), **figures, "webhooks": told, "complaints": complaints}


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
        folder, url = Path(stack.enter_context(temporary)), None
        if wanted.database == "postgresql":
            server = stack.enter_context(running_postgres())
            tell_server(server, "CREATE DATABASE soak")
            url = server.rpartition("/")[0] + "/soak"
        found = asyncio.run(run(folder / "data", url, wanted.minutes))
    facts = {"version": metadata.version("tryon-service"), "machine": platform.platform(), "cores": os.cpu_count()}
    facts |= {"at": datetime.now(UTC).isoformat(), "minutes": wanted.minutes, "database": wanted.database}
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps({**facts, **found}, indent=1) + "\n")
    print(json.dumps(found, indent=1))
    raise SystemExit(1 if found["complaints"] else 0)


if __name__ == "__main__":
    main()
