"""What has to be true after a fault, whatever it was: read from the database and the store, not from what was meant."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import timedelta

from sqlalchemy import select
from temporalio.testing import ActivityEnvironment

from activities import purging
from domain.jobs import jobs
from domain.jobs.jobs import COMPLETED, FAILED, PROCESSING
from domain.money.ledger import check_ledger
from domain.object_keys import JOBS, RESULTS, job_of_key, result_key
from domain.tables import Job, LedgerEntry, WebhookDelivery
from domain.webhooks import DELIVERED, message_id
from tests.faults.world import Customer, World
from workflows.contracts import SweepInput

ENTRIES = {COMPLETED: {"reserve": 1, "settle": 1}, FAILED: {"reserve": 1, "release": 1}}
"""Of a job's ledger, by how it ended."""

GONE_SECONDS = 60.0
"""After which nothing of an ended job may lie in the store but the picture of a completed one. After half of it the purge
is asked to run, which deletes inputs at once, and pictures of failed jobs when they are an hour old."""

TO_BE_EXPECTED = {"POST 202", "POST 409", "POST 503", "POST 0", "GET 200", "GET 503", "GET 0"}
"""Calls of customers and how they may be answered while something is broken: 409 is for a POST that is sent again while
the first is still being accepted, 0 for no answer. A client repeats all but the good ones."""


@dataclass(frozen=True)
class Verdict:
    """What became of the jobs of a fault; every figure from ``lost`` to ``mixed_up`` has to be 0.

    ``left_to_purge`` need not be, where a fault kept others from cleaning up.

    Attributes:
        jobs: Of customers, each of whom repeats a POST without answer under its ``Idempotency-Key``.
        failed: Jobs that ended without a picture, and were not billed.
        lost: Customers who heard of no end.
        twice: Rows of jobs that no customer has: a POST that was carried out twice.
        stuck: Jobs of any account that are in progress for longer than they may be.
        misbilled: Jobs of any account whose entries in the ledger are not those of their end.
        disagreements: Of the ledger and the counters, as ``tryon ledger check`` finds them.
        left: Objects of ended jobs that lie in the store a minute later, other than pictures of completed ones.
        left_to_purge: How many of them there were when the purge was asked to run, which no clean-up had deleted.
        told_otherwise: Customers who heard of another end than the row has.
        without_picture: Customers who heard of a completed job, and got no picture of it.
        mixed_up: Customers whose picture shows another one's photo.
        healthy_after_s: From the end of the fault until a job goes through as if nothing had been, and all have ended.
        errors: What was said of jobs that failed, and how often.
        answers: How often calls of customers were answered how.
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
    left_to_purge: int
    told_otherwise: int
    without_picture: int
    mixed_up: int
    healthy_after_s: float
    errors: dict[str, int]
    answers: dict[str, int]

    def complaints(
        self, *, may_fail: bool, also: frozenset[str] = frozenset(), leaves_nothing: bool = False
    ) -> list[str]:
        """What is wrong, in words; nothing where all is as promised.

        Args:
            may_fail: Whether jobs may end without a picture.
            also: Answers to calls that are right besides `TO_BE_EXPECTED`.
            leaves_nothing: Whether nothing may be left to the purge.
        """
        names = ["lost", "twice", "stuck", "misbilled", "disagreements", "left", "told_otherwise", "without_picture"]
        names += ["mixed_up", *(["left_to_purge"] if leaves_nothing else [])]
        found = [
            f"{figure} {name}".replace("_", " ") for name, figure in asdict(self).items() if name in names and figure
        ]
        found += [
            f"{self.answers[each]} answered {each}" for each in sorted(self.answers.keys() - TO_BE_EXPECTED - also)
        ]
        return found if may_fail else [*found, *(f"{number} failed: {said}" for said, number in self.errors.items())]


async def judge(
    world: World,
    customers: Sequence[Customer],
    known: set[uuid.UUID],
    healthy_after_s: float,
    *,
    restored: Collection[uuid.UUID] = (),
) -> Verdict:
    """Look at everything.

    Args:
        world: With nothing broken in it any more.
        customers: Whose jobs have ended, or their patience.
        known: Jobs of earlier faults, to which those of this one are added.
        healthy_after_s: For the verdict.
        restored: Jobs that a restore has failed, which may have had their picture before: it is left to the purge.
    """
    own = {uuid.UUID(each.job_id) for each in customers if each.job_id}
    states, kinds, theirs, disagreements = await asyncio.to_thread(_read, world)
    new = states.keys() - known
    wrong = [job_id for job_id in new if states[job_id] in ENTRIES and kinds[job_id] != ENTRIES[states[job_id]]]
    ends = Counter(each.end for each in customers)
    ended = [(each.end, states.get(uuid.UUID(each.job_id or ""))) for each in customers if each.end]
    over = {job_id for job_id, state in states.items() if state != PROCESSING}
    failed = {job_id for job_id in new.difference(restored) if states[job_id] == FAILED}
    left, left_to_purge = await _left(world, over, failed)
    verdict = Verdict(
        jobs=len(customers),
        completed=ends[COMPLETED],
        failed=ends[FAILED],
        lost=len(customers) - ends[COMPLETED] - ends[FAILED] + len(own - states.keys()),
        twice=len((theirs & new) - own - world.probes),
        stuck=sum(states[job_id] == PROCESSING for job_id in new),
        misbilled=len(wrong),
        disagreements=disagreements,
        left=left,
        left_to_purge=left_to_purge,
        told_otherwise=sum(told != state for told, state in ended if state is not None),
        without_picture=sum(each.without_picture for each in customers),
        mixed_up=sum(each.mixed_up for each in customers),
        healthy_after_s=healthy_after_s,
        errors=dict(Counter(each.error for each in customers if each.end == FAILED)),
        answers=dict(Counter(f"{call.method} {call.status}" for each in customers for call in each.calls)),
    )
    known |= new
    return verdict


def jobs_of(world: World) -> set[uuid.UUID]:
    """All that customers have sent."""
    with world.database.reading() as session:
        return set(session.scalars(select(Job.id).where(Job.account_id == world.account_id)))


def _read(world: World) -> tuple[dict[uuid.UUID, str], dict[uuid.UUID, Counter[str]], set[uuid.UUID], int]:
    """Of all jobs: how they stand, their entries in the ledger, and which are the customers'; what disagrees."""
    with world.database.reading() as session:
        rows = session.execute(select(Job.id, Job.status, Job.account_id)).all()
        entries = session.execute(select(LedgerEntry.job_id, LedgerEntry.kind)).all()
        disagreements = len(check_ledger(session))
    kinds: dict[uuid.UUID, Counter[str]] = {row.id: Counter() for row in rows}
    for job_id, kind in entries:
        if job_id is not None:
            kinds.setdefault(job_id, Counter())[kind] += 1
    theirs = {row.id for row in rows if row.account_id == world.account_id}
    return {row.id: row.status for row in rows}, kinds, theirs, disagreements


async def _left(world: World, ended: set[uuid.UUID], failed: set[uuid.UUID]) -> tuple[int, int]:
    """Objects of ended jobs, and pictures of failed ones: once they had their time, and when the purge was asked to run."""
    until = time.monotonic() + GONE_SECONDS
    to_purge: int | None = None
    while True:
        mine = [key for key in await world.store.list_keys(JOBS) if job_of_key(key) in ended]
        mine += [key for key in await world.store.list_keys(RESULTS) if job_of_key(key) in failed]
        if mine and to_purge is None and time.monotonic() > until - GONE_SECONDS / 2:
            to_purge = len(mine)  # what a job that nobody finished has left goes then, ten minutes later at most
            await (await world.gateway()).client.get_schedule_handle("tryon-purge").trigger()
        elif not mine or time.monotonic() > until:
            return len(mine), to_purge or 0
        else:
            await asyncio.sleep(1)


def announced(world: World, received: Collection[str], early: Collection[uuid.UUID]) -> dict[str, int]:
    """Messages that count as delivered; and ends of jobs without one, with messages that never came.

    Args:
        world: Whose account has one endpoint, for the ends of jobs, and nothing that waits any more.
        received: Ids of messages that came.
        early: Jobs that had ended before there was an endpoint.
    """
    own = WebhookDelivery.account_id == world.account_id, WebhookDelivery.job_id.is_not(None)
    with world.database.reading() as session:
        messages = select(WebhookDelivery.message_id, WebhookDelivery.job_id, WebhookDelivery.status).where(*own)
        delivered = {row.message_id: row.job_id for row in session.execute(messages) if row.status == DELIVERED}
        ended = set(session.scalars(select(Job.id).where(Job.account_id == world.account_id, Job.status != PROCESSING)))
    unheard = sum(message_id(each) not in received for each in delivered)
    return {"delivered": len(delivered), "untold": len(ended.difference(delivered.values(), early)) + unheard}


async def purge(world: World) -> None:
    """Purge as if all that belongs to no job were an hour old; results that are past their time go too."""
    purging.ORPHAN_AGE = timedelta(0)
    settings, environment = world.settings, ActivityEnvironment()
    environment.info = replace(environment.info, start_to_close_timeout=timedelta(minutes=4))
    activities = purging.PurgingActivities(world.database, world.store, settings.jobs, settings.backfills)
    await environment.run(activities.purge, SweepInput())


async def of_jobs(world: World) -> list[str]:
    """Objects of any job, whether or not the database has it."""
    return [key for prefix in (JOBS, RESULTS) for key in await world.store.list_keys(prefix)]


async def of_no_job(world: World) -> list[str]:
    """Objects that no job of the database has."""
    found = await of_jobs(world)
    owners = {job_id for key in found if (job_id := job_of_key(key)) is not None}
    standings = await world.database.read(jobs.standings, job_ids=owners)
    known = {result_key(str(job_id)) for job_id, standing in standings.items() if standing.has_result}
    return sorted(set(found) - known)
