"""What has to be true after a fault, whatever it was: read from the database and the store, not from what was meant."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import select

from domain.jobs.jobs import COMPLETED, FAILED, PROCESSING
from domain.money.ledger import check_ledger
from domain.object_keys import result_key
from domain.tables import Job, LedgerEntry
from tests.faults.world import Customer, World

ENTRIES = {COMPLETED: {"reserve": 1, "settle": 1}, FAILED: {"reserve": 1, "release": 1}}
"""Of a job's ledger, by how it ended."""

GONE_SECONDS = 60.0
"""After which nothing of an ended job may lie in the store but its result."""


@dataclass(frozen=True)
class Verdict:
    """What became of the jobs of a fault; every figure from ``lost`` to ``disagreements`` has to be 0.

    Attributes:
        jobs: Of customers, each of whom repeats a POST without answer under its ``Idempotency-Key``.
        failed: Jobs that ended without a picture, and were not billed.
        errors: What was said of them, and how often.
        lost: Customers who heard of no end.
        twice: Rows of jobs that no customer has: a POST that was carried out twice.
        stuck: Jobs that are in progress for longer than they may be.
        misbilled: Jobs whose entries in the ledger are not those of their end.
        disagreements: Of the ledger and the counters, as ``tryon ledger check`` finds them.
        left: Objects of ended jobs that lie in the store a minute later, other than results.
        healthy_after_s: From the end of the fault until a job went through as if nothing had been.
    """

    jobs: int
    completed: int
    failed: int
    lost: int
    twice: int
    stuck: int
    misbilled: int
    disagreements: int
    left: int
    healthy_after_s: float
    errors: dict[str, int]

    def complaints(self, *, may_fail: bool) -> list[str]:
        """What is wrong, in words; nothing where all is as promised."""
        names = ["lost", "twice", "stuck", "misbilled", "disagreements", "left"]
        found = [f"{figure} {name}" for name, figure in asdict(self).items() if name in names and figure]
        return found if may_fail else [*found, *(f"{number} failed: {said}" for said, number in self.errors.items())]


async def judge(world: World, customers: Sequence[Customer], known: set[uuid.UUID], healthy_after_s: float) -> Verdict:
    """Look at everything; ``known`` are jobs of earlier faults, to which those of this one are added."""
    own = {uuid.UUID(each.job_id) for each in customers if each.job_id}
    states, kinds, disagreements = await asyncio.to_thread(_read, world)
    new = states.keys() - known
    probes = {job_id for job_id in new - own if job_id in world.probes}
    wrong = [job_id for job_id in new if states[job_id] in ENTRIES and kinds[job_id] != ENTRIES[states[job_id]]]
    ends = Counter(each.end for each in customers)
    left = await _left(world, {job_id for job_id, state in states.items() if state != PROCESSING})
    verdict = Verdict(
        jobs=len(customers),
        completed=ends[COMPLETED],
        failed=ends[FAILED],
        lost=len(customers) - ends[COMPLETED] - ends[FAILED] + len(own - states.keys()),
        twice=len(new - own - probes),
        stuck=sum(states[job_id] == PROCESSING for job_id in new),
        misbilled=len(wrong),
        disagreements=disagreements,
        left=left,
        healthy_after_s=healthy_after_s,
        errors=dict(Counter(each.error for each in customers if each.end == FAILED)),
    )
    known |= new
    return verdict


def jobs_of(world: World) -> set[uuid.UUID]:
    """All that there are."""
    return set(_read(world)[0])


def _read(world: World) -> tuple[dict[uuid.UUID, str], dict[uuid.UUID, Counter[str]], int]:
    with world.database.reading() as session:
        rows = session.execute(select(Job.id, Job.status).where(Job.account_id == world.account_id)).all()
        entries = session.execute(
            select(LedgerEntry.job_id, LedgerEntry.kind).where(LedgerEntry.account_id == world.account_id)
        ).all()
        disagreements = len(check_ledger(session))
    kinds: dict[uuid.UUID, Counter[str]] = {row.id: Counter() for row in rows}
    for job_id, kind in entries:
        if job_id is not None:
            kinds.setdefault(job_id, Counter())[kind] += 1
    return {row.id: row.status for row in rows}, kinds, disagreements


async def _left(world: World, ended: set[uuid.UUID]) -> int:
    """Objects below the prefixes of ended jobs that are none of their results, once they had their time."""
    results = {result_key(str(job_id)) for job_id in ended}
    until, swept = time.monotonic() + GONE_SECONDS, False
    while True:
        keys = await world.store.list_keys("jobs/")
        mine = [key for key in keys if _job_of(key) in ended and key not in results]
        if not mine or time.monotonic() > until:
            return len(mine)
        if not swept and time.monotonic() > until - GONE_SECONDS / 2:
            swept = True  # what a job that nobody finished has left goes with the next purge, ten minutes later at most
            await (await world.gateway()).client.get_schedule_handle("tryon-purge").trigger()
        await asyncio.sleep(1)


def _job_of(key: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(key.split("/")[1])
    except (IndexError, ValueError):
        return None
