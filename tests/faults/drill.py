"""``python -m tests.faults.drill``: a backup under load, everything destroyed, the backup restored, and what was lost.

The commands are those of docs/backup.md. What a restore may lose follows from what customers know: a backup shows the
database of one moment, so whatever they were told before that moment is there, and nothing that came after it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import shutil
import sys
import time
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import func, make_url, select
from sqlalchemy.orm import Session

from domain import webhooks
from domain.access import keys
from domain.access.keys import KeyDigester
from domain.counts import referenced_keys
from domain.errors import CATALOGUE
from domain.jobs import jobs
from domain.jobs.jobs import COMPLETED, FAILED, PROCESSING
from domain.object_keys import backfill_prefix
from domain.tables import Job, WebhookDelivery
from domain.webhooks import EndpointTerms
from gateway.calls import RunFailedError, RunNotFoundError
from runtime.settings import without_tryon_variables
from tests.faults.faults import JOBS_IN_FLIGHT
from tests.faults.record import p95, write_run
from tests.faults.referee import ENTRIES, announced, judge, of_no_job, purge
from tests.faults.soak import receiver
from tests.faults.world import GARMENT, Customer, World, digest_of, place, running_world
from tests.servers.postgres import PostgresServer, find_binaries, tell_server

OUT = Path("out/drill.json")

BEFORE_SECONDS, AFTER_SECONDS = 30.0, 30.0
"""Of load, before the backup and behind it."""

DATABASE = "drill"
"""Of PostgreSQL's server."""

PRODUCT_SECONDS = 2.0  # between two registrations

BACKFILL, ITEMS, HEAD_START_SECONDS = "drill", 40, 8.0
"""It is begun before the load, so that some items are done at the backup, some in flight, and some not begun."""

SETTLING_SECONDS = 180.0
"""Within which all that a restore found in progress has ended, webhooks are delivered, and no run is left."""

SETTINGS = {
    "TRYON_WEBHOOK_TRUSTED_NETWORKS": "127.0.0.0/8",
    "TRYON_JOB_RESULT_TTL_SECONDS": "14400",  # no picture that is looked for has expired
}

Restore = Callable[[World], Awaitable[None]]


@dataclass
class Moment:
    """When the backup's database was copied: bounds of the monotonic clock, by what is in it and what is not."""

    not_before: float
    not_after: float

    def has(self, asked: float) -> None:
        """It holds what was asked for at this time."""
        self.not_before = max(self.not_before, asked)

    def lacks(self, answered: float) -> None:
        """It does not hold what was done by this time."""
        self.not_after = min(self.not_after, answered)


@dataclass
class Made:
    """Something that was made by a call, at its two times."""

    asked: float
    answered: float
    name: str


@dataclass
class Shop:
    """Who uses the service, and what they know of it."""

    world: World = field(init=False)
    customers: list[Customer] = field(default_factory=list)
    products: list[Made] = field(default_factory=list)
    received: Counter[str] = field(default_factory=Counter)
    busy: uuid.UUID = field(init=False)
    using: list[asyncio.Task[None]] = field(default_factory=list)

    async def open(self, address: str) -> None:
        """A receiver of webhooks, and a second account, whose backfill begins."""
        world = self.world
        terms = EndpointTerms(address, ["tryon.completed", "tryon.failed"])
        await world.database.write(webhooks.create_endpoint, account_id=world.account_id, terms=terms)
        self.busy, _ = await world.open_account()
        await world.put_backfill_pictures()
        await self.world.start_backfill(BACKFILL, self.busy, ITEMS)
        await asyncio.sleep(HEAD_START_SECONDS)

    async def finish_backfill(self) -> dict[str, int]:
        """Start it again, as an operator has to; returns its items, pictures and bills."""
        gateway = await self.world.gateway()
        async with asyncio.timeout(SETTLING_SECONDS):
            with suppress(RunFailedError, RunNotFoundError):  # a Temporal that was not lost may still have it
                await gateway.steer_backfill(BACKFILL, "cancel")
                await gateway.backfill_report(BACKFILL)
            await self.world.start_backfill(BACKFILL, self.busy, ITEMS)
            report = await gateway.backfill_report(BACKFILL)
        pictures = await self.world.store.list_keys(backfill_prefix(BACKFILL) + "results/")
        return {
            **report.model_dump(include={"skipped", "completed"}),
            "pictures": len(pictures),
            "billed": await self.world.billed(self.busy),
        }

    def begin(self, jobs_in_flight: int) -> None:
        """Customers one after the other, side by side, and products."""

        async def buy() -> None:
            while True:
                customer = Customer(combo=random.random() < 0.2)
                self.customers.append(customer)
                await self.world.use(customer)

        async def register() -> None:
            while True:
                asked, body = time.monotonic(), {"category": "upper_body", "garmentImageUrl": GARMENT}
                with suppress(httpx.HTTPError):
                    answer = await self.world.client.post("/api/v1/products", json={**body, "name": "Shirt"})
                    if answer.is_success:
                        self.products.append(Made(asked, time.monotonic(), answer.json()["id"]))
                await asyncio.sleep(PRODUCT_SECONDS)

        self.using = [asyncio.create_task(buy()) for _ in range(jobs_in_flight)]
        self.using.append(asyncio.create_task(register()))

    async def end(self) -> None:
        for task in self.using:
            task.cancel()
        await asyncio.gather(*self.using, return_exceptions=True)

    def new_key(self) -> tuple[uuid.UUID, str]:
        digester = KeyDigester(*self.world.settings.security.peppers())
        with self.world.database.transaction() as session:
            row, key = keys.create_key(session, digester, account_id=self.world.account_id)
        return row.id, key

    def p95(self, method: str, since: float, until: float) -> dict[str, float | int | None]:
        """Of the calls that began in this time: milliseconds, and how many there were."""
        spent = [
            1000 * (call.answered - call.asked)
            for each in self.customers
            for call in each.calls
            if call.method == method and call.status and since <= call.asked < until
        ]
        ms = p95(spent)
        return {"ms": None if ms is None else round(ms, 1), "calls": len(spent)}


@dataclass
class Backup:
    """One way of the docs to make a backup and to restore it.

    Attributes:
        folder: Where it lies, away from the data folder.
        data_dir: Of the service.
        url: Its PostgreSQL; the embedded stack without.
        done: When the last command had ended.
    """

    folder: Path
    data_dir: Path
    url: str | None
    done: float = 0.0

    async def make(self, world: World) -> None:
        """With everything up."""
        if self.url is None:
            await self._tryon("backup create", str(self.folder / "tryon.tar"))
            return
        database = str(make_url(self.url).database)
        await self._postgres("pg_dump", "--format=custom", "--no-owner", f"--file={self._dump}", database)
        await self._sync(world, f"s3://{world.store.bucket}", str(self.folder / "bucket"), *_NOT_KEPT)
        shutil.copy(self.data_dir / "secrets.json", self.folder)  # where they are in the environment elsewhere

    async def put_files_back(self) -> None:
        """What comes before the service's servers are started."""
        if self.url is None:
            await self._tryon("backup check", str(self.folder / "tryon.tar"))
            await self._tryon("backup restore", str(self.folder / "tryon.tar"))
        elif not self.data_dir.exists():
            self.data_dir.mkdir()
            shutil.copy(self.folder / "secrets.json", self.data_dir)

    def rows_back(self, *, bucket: bool) -> Restore | None:
        """What comes when PostgreSQL, the store and Temporal are up, and nothing of the service is."""
        if self.url is None:
            return None

        async def put_back(world: World) -> None:
            if bucket:
                await self._tryon("bucket create")
                await self._sync(world, str(self.folder / "bucket"), f"s3://{world.store.bucket}")
            database = str(make_url(self.url or "").database)
            await self._postgres("createdb", database)
            flags = ("--no-owner", "--single-transaction", "--exit-on-error")
            await self._postgres("pg_restore", f"--dbname={database}", *flags, str(self._dump))
            await self._tryon("db upgrade")
            await self._tryon("backup release-open", "--nothing-runs")
            await self._tryon("ledger check")

        return put_back

    @property
    def bytes(self) -> int:
        return sum(file.stat().st_size for file in self.folder.rglob("*") if file.is_file())

    @property
    def _dump(self) -> Path:
        return self.folder / "tryon.dump"

    async def _tryon(self, command: str, *arguments: str) -> None:
        # The embedded stack's own file has the rest, as in any shell of an operator.
        variables = {"TRYON_DATA_DIR": str(self.data_dir), **_JOB_TIMES}
        words = [sys.executable, "-m", "cli.main", *command.split(), *arguments]
        said = await _run(words, {**without_tryon_variables(), **variables})
        print(f"--- tryon {command}\n{said}", end="", flush=True)
        self.done = time.monotonic()

    async def _postgres(self, tool: str, *arguments: str) -> None:
        at = make_url(self.url or "")
        address = ["--host", str(at.host), "--port", str(at.port), "--username", str(at.username)]
        await _run([str(find_binaries() / tool), *address, *arguments], dict(os.environ))

    async def _sync(self, world: World, source: str, target: str, *more: str) -> None:
        at = world.settings.object_store
        words = ["aws", "--endpoint-url", at.endpoint, "--cli-read-timeout", "10", "s3", "sync", source, target, *more]
        words.append("--only-show-errors")
        secrets = {"AWS_ACCESS_KEY_ID": at.access_key, "AWS_SECRET_ACCESS_KEY": at.secret()}
        environment = {**os.environ, **secrets, "AWS_DEFAULT_REGION": at.region}
        for tries_left in reversed(range(_TRIES)):
            try:
                await _run(words, environment)
            except AssertionError as error:
                if "NoSuchKey" not in str(error) or not tries_left:
                    raise
            else:
                return


_NOT_KEPT = [word for prefix in ("jobs/*", "checks/*", "products/*/upload-*") for word in ("--exclude", prefix)]

_TRIES = 5
"""Of a copy of the bucket: one ends badly where an object is deleted between its listing and its copying."""

_JOB_TIMES = {name: value for name, value in SETTINGS.items() if "_JOB_" in name}


async def _run(words: list[str], environment: dict[str, str]) -> str:
    process = await asyncio.create_subprocess_exec(
        *words, env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said = (await process.communicate())[0].decode()
    assert process.returncode == 0, f"{' '.join(words)}: {said[-2000:]}"
    return said


@dataclass
class Found:
    """What is there after a restore, held against what customers were told before.

    Attributes:
        completed: Customers whose picture is there, as it was.
        released: Customers whose job was in flight at the backup: failed, unbilled.
        lost: Customers whose job is unknown, or who never had an answer.
        products: How many registrations are there, and how many are not.
        complaints: What is neither as it was nor lost in a way that is promised.
    """

    moment: Moment
    completed: list[Customer] = field(default_factory=list)
    released: list[Customer] = field(default_factory=list)
    lost: list[Customer] = field(default_factory=list)
    products: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)

    async def job_of(self, world: World, customer: Customer) -> None:
        """Poll as its customer would."""
        if customer.job_id is None:
            self.lost.append(customer)
            return
        answer = await world.client.get(f"/api/v1/tryon/{customer.job_id}")
        told = answer.json()
        going_on = [call for call in customer.calls if call.said == PROCESSING]
        ended = [call.answered for call in customer.calls if call.said in ENTRIES]
        if answer.status_code == 404:
            self.lost.append(customer)
            self.moment.lacks(going_on[0].answered)
            return
        self.moment.has(going_on[0].asked)
        customer.end = told["status"]
        if customer.end == COMPLETED:
            self.completed.append(customer)
            self.moment.has(going_on[-1].asked)
            if customer.picture not in ("", digest_of(told["resultImageBase64"])):
                self.complaints.append(f"{customer.job_id} has another picture")
        elif told == {"status": FAILED, "error": CATALOGUE["generation_failed"].sentence}:
            self.released.append(customer)
            if ended:
                self.moment.lacks(ended[0])
        else:
            self.complaints.append(f"{customer.job_id} is {told}")

    async def product(self, world: World, made: Made) -> None:
        answer = await world.client.get(f"/api/v1/products/{made.name}")
        self.products["lost" if answer.status_code == 404 else "kept"] += 1
        if answer.status_code == 404:
            self.moment.lacks(made.answered)
        else:
            self.moment.has(made.asked)


async def drill(
    folder: Path, server: PostgresServer | None, *, rows_alone: bool, jobs_in_flight: int
) -> dict[str, Any]:
    """Once: use, back up, use on, destroy, restore, use again, judge.

    Args:
        folder: For everything.
        server: PostgreSQL; the embedded stack without.
        rows_alone: The database is lost, and nothing else: the bucket and Temporal stay as they are.
        jobs_in_flight: All the time.
    """
    url = server.url_of(DATABASE) if server else None
    data_dir, backup = folder / "data", Backup(folder / "backup", folder / "data", url)
    backup.folder.mkdir(mode=0o700)
    shop = Shop()
    async with receiver(lambda: shop.received) as address:
        if server is not None:  # one of its own, so that it can be dropped
            tell_server(server.url, f"CREATE DATABASE {DATABASE}")
        async with running_world(data_dir, server, database=DATABASE, variables=SETTINGS) as world:
            shop.world = world
            await shop.open(address)
            early, signed_in = shop.new_key(), world.sign_in(shop.busy)
            loaded = time.monotonic()
            shop.begin(jobs_in_flight)
            await asyncio.sleep(BEFORE_SECONDS)
            began = time.monotonic()
            await backup.make(world)
            made = time.monotonic()
            late, signed_in_late = shop.new_key(), world.sign_in(shop.busy)
            with world.database.transaction() as session:
                keys.revoke_key(session, key_id=early[0])
            await asyncio.sleep(AFTER_SECONDS)
            await shop.end()
            world.kill_everything()
        if not rows_alone:
            shutil.rmtree(data_dir)
        if server is not None:
            tell_server(server.url, f"DROP DATABASE {DATABASE} WITH (FORCE)")

        found, destroyed = Found(Moment(began, made)), time.monotonic()
        await backup.put_files_back()
        rows_back = backup.rows_back(bucket=not rows_alone)
        options: dict[str, Any] = {"database": DATABASE, "prepare": rows_back, "instead_of": world}
        async with running_world(data_dir, server, **options, variables=SETTINGS) as again:
            restored = time.monotonic()
            shop.world, heard = again, set(shop.received)
            again.probes |= world.probes
            failed = await again.database.read(_failed)
            for customer in shop.customers:
                await found.job_of(again, customer)
            for product in shop.products:
                await found.product(again, product)
            cookies = {"early": signed_in, "late": signed_in_late}
            doors = await _doors(again, {"early": early[1], "late": late[1]}, cookies)
            repeated = await _repeat(again, found)
            backfill = await shop.finish_backfill()
            under_way = await _settled(again)
            judged = [*found.completed, *found.released, *repeated]
            verdict = await judge(again, judged, set(), round(restored - destroyed, 1), restored=failed)
            messages = await asyncio.to_thread(announced, again, shop.received, world.probes)
            messages["again"] = sum(shop.received[each] > 1 for each in heard)
            missing = await _missing(again)
            orphans = {"restored": len(await of_no_job(again))}
            await purge(again)
            orphans["kept"] = len(await of_no_job(again))

    window = found.moment.not_after - found.moment.not_before
    wrong = {
        f"what is there and what is not is {-window:.2f} s apart": window < 0,
        f"{verdict.failed} failed, {len(found.released)} were released": verdict.failed != len(found.released),
        f"keys and sessions answer {doors}": doors != DOORS,
        f"the backfill has {backfill}": not backfill["pictures"] == backfill["billed"] == ITEMS,
        f"{messages['untold']} ends of jobs were not told": messages["untold"],
        f"objects are missing: {missing}": missing,
        f"{orphans['kept']} objects of no job stay": orphans["kept"],
    }
    complaints = [*found.complaints, *verdict.complaints(may_fail=True), *under_way]
    complaints += [what for what, is_so in wrong.items() if is_so]
    return {
        "verdict": asdict(verdict),
        "backup_s": round(made - began, 1),
        "backup_bytes": backup.bytes,
        "commands_s": round(backup.done - destroyed, 1),
        "restored_s": verdict.healthy_after_s,
        "customers": len(shop.customers),
        "kept": len(found.completed),
        "released": len(found.released),
        "unknown": len(found.lost),
        "moment_s": round(window, 2),
        "repeated": len({each.job_id for each in repeated if each.end == COMPLETED}),
        "products": dict(found.products),
        "backfill": backfill,
        "webhooks": messages,
        "orphans": orphans,
        "p95_ms": {
            method: {"before": shop.p95(method, loaded + 5, began), "during": shop.p95(method, began, made)}
            for method in ("POST", "GET")
        },
        "complaints": complaints,
    }


DOORS = {"key early": 200, "key late": 401, "session early": 200, "session late": 303}
"""Answers after a restore: what was made before the backup opens, though it was shut since; what was made later does
not."""


async def _doors(world: World, api_keys: dict[str, str], cookies: dict[str, str]) -> dict[str, int]:
    answers = {}
    for when, key in api_keys.items():
        headers = {"Authorization": f"Bearer {key}"}
        answers[f"key {when}"] = (await world.client.get("/api/v1/usage", headers=headers)).status_code
    for when, cookie in cookies.items():
        answers[f"session {when}"] = (await world.client.get("/dashboard/", headers={"Cookie": cookie})).status_code
    return answers


async def _repeat(world: World, found: Found) -> list[Customer]:
    """Customers whose job is lost send their POST again under its key, twice at once; all of these callers."""
    pairs = [[Customer(each.key, combo=each.combo) for _ in range(2)] for each in found.lost]
    callers = [each for pair in pairs for each in pair]
    await asyncio.gather(*(world.use(each) for each in callers))
    found.complaints += [f"{first.key} made two jobs" for first, second in pairs if first.job_id != second.job_id]
    undone = sum(each.end != COMPLETED for each in callers)
    found.complaints += [f"{undone} repeated POSTs without a picture"] if undone else []
    return callers


async def _settled(world: World) -> list[str]:
    """Wait until nothing is under way; returns what still is when that takes too long."""

    def under_way(session: Session) -> dict[str, int]:
        waiting = session.scalar(select(func.count()).where(WebhookDelivery.status == "waiting"))
        return {"jobs": len(jobs.list_open(session, older_than=timedelta(0), limit=1000)), "webhooks": waiting or 0}

    client, until = (await world.gateway()).client, time.monotonic() + SETTLING_SECONDS
    while True:
        rows = await world.database.read(under_way)
        running = "WorkflowType = 'TryOnWorkflow' AND ExecutionStatus = 'Running'"
        rows["runs of jobs"] = (await client.count_workflows(running)).count
        if not any(rows.values()) or time.monotonic() > until:
            return [f"{number} {name} still under way" for name, number in rows.items() if number]
        await asyncio.sleep(2)


def _failed(session: Session) -> set[uuid.UUID]:
    """Jobs without a picture."""
    return set(session.scalars(select(Job.id).where(Job.status == FAILED)))


async def _missing(world: World) -> list[str]:
    """Objects that rows speak of and the store has not."""
    referenced = await world.database.read(lambda session: referenced_keys(session.connection()))
    return sorted(referenced - set(await world.store.list_keys("")))


EVERYTHING, ROWS = "everything", "the database alone"

SCENARIOS = (("sqlite", EVERYTHING), ("postgresql", EVERYTHING), ("postgresql", ROWS))
"""Databases, and what is destroyed."""


def main() -> None:
    """Go through the scenarios; exit 1 if more was lost than a restore has to lose."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.drill", description=__doc__)
    parser.add_argument("--database", choices=("sqlite", "postgresql"), help="by default both")
    parser.add_argument("--destroyed", choices=(EVERYTHING, ROWS), help="by default both")
    parser.add_argument("--jobs", type=int, default=JOBS_IN_FLIGHT, help="in flight all the time")
    parser.add_argument("--out", type=Path, default=OUT, help="where the rows are written, after each")
    wanted = parser.parse_args()
    rows = []
    for database, destroyed in SCENARIOS:
        if wanted.database not in (None, database) or wanted.destroyed not in (None, destroyed):
            continue
        with place(database) as (folder, server):
            found = asyncio.run(drill(folder, server, rows_alone=destroyed == ROWS, jobs_in_flight=wanted.jobs))
        rows.append({"database": database, "destroyed": destroyed, **found})
        write_run(wanted.out, {"rows": rows})
        print(json.dumps(rows[-1], indent=1), flush=True)
    raise SystemExit(1 if any(row["complaints"] for row in rows) else 0)


if __name__ == "__main__":
    main()
