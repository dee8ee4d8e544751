"""The service's real code on a real database, driven one call at a time, under a clock that a test turns.

Only Temporal and the object store are fakes. Every call is made by a process that may die on the way.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Coroutine, Hashable
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, Literal, TypeVar

import pytest
from sqlalchemy import select
from temporalio.testing import ActivityEnvironment

import activities.bookkeeping
import activities.purging
import activities.reconciling
import api.tryon.accepting
import api.tryon.polling
import domain.jobs.jobs
import runtime.object_store
import worker_cpu.relay
from activities.bookkeeping import BookkeepingActivities
from activities.purging import PurgingActivities
from activities.reconciling import ReconcilingActivities
from api.tryon.accepting import AcceptedJob, JobAcceptor, ReadRequest, Requester, RequestKey
from api.tryon.polling import AccountJobs, JobState
from domain import accounts
from domain.access import idempotency, keys
from domain.access.keys import KeyDigester, KeyOwner
from domain.accounts import OwnTerms
from domain.errors import TryOnError
from domain.jobs import jobs
from domain.money import quota
from domain.money.ledger import Disagreement, check_ledger
from domain.money.plans import PlanBook
from domain.money.quota import Usage, usage_of
from domain.object_keys import result_key
from domain.tables import Allowance, DailyUsage, IdempotencyKey, Job, LedgerEntry
from gateway.temporal import TemporalGateway
from imaging.decoder_pool import DecoderPool
from imaging.limits import ImageLimits
from imaging.opening import inspect_image
from intake.job import Picture, SentGarment
from intake.pace import DrawingTimes
from runtime.database import Database
from runtime.settings import Settings
from tests.domain.money.mortal_process import DrivenClock, FakeTemporal, MortalDatabase, MortalStore, Process
from tests.memory_store import MemoryObjectStore
from tests.pictures import encoded, photo
from worker_cpu.relay import relay_round
from workflows.contracts import (
    CleanUpInput,
    GarmentHints,
    ObjectRef,
    ReleaseInput,
    RenderReport,
    SettleInput,
    SweepInput,
)

TELL_THE_TIME = (
    activities.bookkeeping,
    activities.purging,
    activities.reconciling,
    api.tryon.accepting,
    api.tryon.polling,
    domain.jobs.jobs,
    runtime.object_store,
    worker_cpu.relay,
)
"""Modules that look at the clock themselves."""

SETTINGS = Settings()
RESULT_LASTS = timedelta(seconds=SETTINGS.jobs.result_ttl_seconds)
LIMITS = SETTINGS.images.limits()
DIGESTER = KeyDigester("a pepper for the money machine, of thirty-two characters and more")
SHIRT = "https://shop.example/shirt.png"
REQUEST = ReadRequest(
    Picture("customerPhotoBase64", encoded(photo(256, 256))),
    [SentGarment(None, "upper_body", GarmentHints(), SHIRT, None)],
    [],
)

T = TypeVar("T")


class InspectingHere(DecoderPool):
    """Looks into pictures in this process: what is tried here is the money, and thousands of times."""

    async def inspect(self, holder: Hashable, data: bytes, limits: ImageLimits = LIMITS) -> str:
        return inspect_image(data, limits)


@dataclass(frozen=True)
class Member:
    """An account and its two keys."""

    account_id: uuid.UUID
    live_key: str
    test_key: str


@dataclass(frozen=True)
class Standing:
    """Every row of one account that has to do with money."""

    allowances: list[Allowance]
    days: list[DailyUsage]
    jobs: dict[uuid.UUID, Job]
    entries: list[LedgerEntry]

    @property
    def content(self) -> object:
        """Comparable: the columns of every row."""
        rows = [*self.allowances, *self.days, *self.jobs.values(), *self.entries]
        return [[repr(getattr(row, column.key)) for column in row.__table__.columns] for row in rows]


class MoneyService:
    """One database with its own store, Temporal and clock."""

    def __init__(self, runner: asyncio.Runner, database: Database, plans: PlanBook, start: datetime) -> None:
        self._runner = runner
        self._database = database
        self._plans = plans
        self.clock = DrivenClock(start)
        self.store = MemoryObjectStore()
        self.temporal = FakeTemporal()
        self._patches = pytest.MonkeyPatch()
        for module in TELL_THE_TIME:
            self._patches.setattr(module, "datetime", self.clock)

    def close(self) -> None:
        self._patches.undo()

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(call)

    def start(self, call: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin a call that goes on while others run."""
        return self._runner.get_loop().create_task(call)

    def _parts(self, process: Process) -> Any:
        return SimpleNamespace(
            settings=SETTINGS,
            database=MortalDatabase(process, self._database),
            store=MortalStore(process, self.store),
            temporal=TemporalGateway(self.temporal.seen_by(process)),
            limits=LIMITS,
            plans=self._plans,
            drawing_times=DrawingTimes(self.store),
        )

    async def create_member(self, plan: str, own_terms: OwnTerms) -> Member:
        with self._database.transaction() as session:
            account = accounts.create_account(
                session,
                self._plans,
                email=f"{uuid.uuid4().hex}@example.com",
                plan=plan,
                own_terms=own_terms,
                now=self.clock.time,
            )
            _, live = keys.create_key(session, DIGESTER, account_id=account.id)
            _, test = keys.create_key(session, DIGESTER, account_id=account.id, mode="test")
        return Member(account.id, live, test)

    async def _admit(self, process: Process, key: str) -> KeyOwner:
        """What the gate does."""
        owner = await MortalDatabase(process, self._database).read(keys.find_owner, DIGESTER, key=key)
        assert owner is not None
        if owner.blocked:
            raise TryOnError("account_blocked")
        return owner

    async def post(self, process: Process, key: str, request_key: RequestKey | None) -> AcceptedJob:
        owner = await self._admit(process, key)
        acceptor = JobAcceptor(self._parts(process), InspectingHere())
        accepted = await acceptor.accept(Requester.by_key(owner), REQUEST, request_key)
        await acceptor.note_started(accepted)
        return accepted

    async def poll(self, key: str, job_id: uuid.UUID) -> JobState:
        process = Process()
        return await AccountJobs(self._parts(process), (await self._admit(process, key)).account_id).state(str(job_id))

    async def erase(self, key: str, job_id: uuid.UUID) -> None:
        process = Process()
        await AccountJobs(self._parts(process), (await self._admit(process, key)).account_id).delete(str(job_id))

    async def usage(self, account_id: uuid.UUID) -> Usage:
        return await self._database.read(usage_of, self._plans, account_id=account_id, now=self.clock.time)

    async def finish(self, process: Process, job_id: uuid.UUID, ending: Literal["completed", "failed"]) -> str:
        """The last step of a run; says how the job really ended."""
        worker = BookkeepingActivities(
            MortalDatabase(process, self._database), MortalStore(process, self.store), RESULT_LASTS
        )
        if ending == jobs.FAILED:
            outcome = await worker.release(ReleaseInput(job_id=str(job_id), error_code="generation_failed"))
        else:
            result = ObjectRef.of(self.store.bucket, result_key(str(job_id)), b"picture", "image/jpeg")
            await MortalStore(process, self.store).put(result.key, b"picture", "image/jpeg")
            outcome = await worker.settle(
                SettleInput(job_id=str(job_id), result=result, report=RenderReport(engine="warp"))
            )
        await worker.clean_up(CleanUpInput(job_id=str(job_id)))
        return outcome.status

    async def sweep(self) -> None:
        sweeper = ReconcilingActivities(
            self._database, self.store, TemporalGateway(self.temporal.seen_by(Process())), RESULT_LASTS
        )
        await ActivityEnvironment().run(sweeper.reconcile, SweepInput())

    async def purge(self) -> None:
        purging = PurgingActivities(self._database, self.store, SETTINGS.jobs, SETTINGS.backfills)
        for _ in range(2):  # a picture goes in one round, and in the next the row that named it
            await ActivityEnvironment().run(purging.purge, SweepInput())

    async def relay(self) -> None:
        await relay_round(self._database, TemporalGateway(self.temporal.seen_by(Process())), RESULT_LASTS)

    async def top_up(self, account_id: uuid.UUID, generations: int) -> None:
        await self._database.write(
            quota.add_topup, self._plans, account_id=account_id, generations=generations, now=self.clock.time
        )

    async def change_plan(self, account_id: uuid.UUID, plan: str, own_terms: OwnTerms) -> None:
        await self._database.write(
            accounts.change_plan,
            self._plans,
            account_id=account_id,
            plan=plan,
            own_terms=own_terms,
            now=self.clock.time,
        )

    async def block(self, account_id: uuid.UUID) -> None:
        """As an operator does: jobs in progress are cancelled with it."""
        with self._database.transaction() as session:
            accounts.block_account(session, account_id=account_id, reason="unpaid", now=self.clock.time)
            for job_id in jobs.list_open_of_account(session, account_id=account_id):
                jobs.fail_job(session, job_id=job_id, error_code="cancelled", keep=RESULT_LASTS, now=self.clock.time)

    async def unblock(self, account_id: uuid.UUID) -> None:
        await self._database.write(accounts.unblock_account, account_id=account_id)

    async def idempotency_row(self, account_id: uuid.UUID, key: str) -> IdempotencyKey | None:
        with self._database.reading() as session:
            return session.get(IdempotencyKey, (account_id, key))

    async def forget_old_keys(self) -> None:
        await self._database.write(idempotency.forget_old_keys, now=self.clock.time)

    async def standings(self, account_ids: list[uuid.UUID]) -> dict[uuid.UUID, Standing]:
        with self._database.reading() as session:

            def rows(table: type[T], *order: Any) -> list[T]:
                mine = table.account_id.in_(account_ids)  # type: ignore[attr-defined]  # every table here has it
                return list(session.scalars(select(table).where(mine).order_by(*order)).all())

            allowances = rows(Allowance, Allowance.starts_at, Allowance.source)
            days = rows(DailyUsage, DailyUsage.day)
            found = rows(Job, Job.created_at)
            entries = rows(LedgerEntry, LedgerEntry.at, LedgerEntry.id)
        return {
            account_id: Standing(
                [row for row in allowances if row.account_id == account_id],
                [row for row in days if row.account_id == account_id],
                {row.id: row for row in found if row.account_id == account_id},
                [row for row in entries if row.account_id == account_id],
            )
            for account_id in account_ids
        }

    async def disagreements(self) -> list[Disagreement]:
        return await self._database.read(check_ledger)
