"""What the money machine plays on: three accounts, their models, the real service, and what must always be true."""

from __future__ import annotations

import asyncio
import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant

from api.tryon.accepting import AcceptedJob
from domain.accounts import PLAN_AS_IT_IS, OwnTerms
from domain.money.plans import Plan, PlanBook
from domain.object_keys import result_key
from runtime.database import Database
from tests.domain.money.money_invariants import check_against_model, check_by_itself, check_transition
from tests.domain.money.money_model import COMPLETED, FAILED, KEY_LASTS, PROCESSING, AccountModel, KeyModel, ModelPlan
from tests.domain.money.money_service import SETTINGS, Member, MoneyService, Standing
from tests.domain.money.mortal_process import Process, ProcessDiedError
from workflows.queues import tryon_workflow_id

PLANS = PlanBook(
    plans={
        "trial": Plan(trial_days=3, monthly_price=Decimal(0), included=3, daily_cap=2),
        "small": Plan(monthly_price=Decimal(5), included=4, extra_price=Decimal("0.20"), daily_cap=3),
        "agreed": Plan(),
    },
    topup_packs=(1, 2, 3),
)
AGREED = OwnTerms(included=2, daily_cap=20, monthly_price=Decimal(9), extra_price=Decimal("0.10"))
OWN_TERMS = {"trial": PLAN_AS_IT_IS, "small": PLAN_AS_IT_IS, "agreed": AGREED}
MODEL_PLANS = {"trial": ModelPlan(3, 2, trial_days=3), "small": ModelPlan(4, 3), "agreed": ModelPlan(2, 20)}

BIRTHS = st.sampled_from(
    [
        datetime(2027, 1, 31, 23, 59, 30, tzinfo=UTC),
        datetime(2028, 1, 30, 0, 0, 0, tzinfo=UTC),
        datetime(2027, 12, 29, 12, 0, 0, 1, tzinfo=UTC),
        datetime(2027, 5, 15, 8, tzinfo=UTC),
    ]
)
WHO = st.sampled_from(list(MODEL_PLANS))
RARELY = st.sampled_from([False, False, False, True])
RECORD_LASTS = timedelta(days=SETTINGS.jobs.record_days)
TICK = timedelta(milliseconds=1)
"""What every step takes at least: two never happen at the same time."""


HEAD_START = timedelta(seconds=2)
"""Of a POST that hands its own job to Temporal, before the relay does."""


class HeldPost:
    """A POST in mid-air: it has claimed its key and looked at the quota, and is uploading."""

    def __init__(
        self, who: str, process: Process, task: asyncio.Task[AcceptedJob], *, key: str | None, body: str, test: bool
    ) -> None:
        self.who, self.process, self.task = who, process, task
        self.key, self.body, self.test = key, body, test

    async def result(self) -> AcceptedJob:
        return await self.task

    async def until_it_stands_still(self) -> None:
        """Return when it is uploading, or done."""
        waiting = asyncio.create_task(self.process.stands_still.wait())
        await asyncio.wait({self.task, waiting}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()

    async def die(self) -> None:
        self.process.go_on(steps_left=0)
        await asyncio.wait({self.task})
        assert isinstance(self.task.exception(), ProcessDiedError)


class MoneyScene(RuleBasedStateMachine):
    """State and invariants; rules are added by those who inherit it.

    Attributes:
        steps: How many were made and found right.
    """

    posted = Bundle("posted")
    held = Bundle("held")

    def __init__(self, runner: asyncio.Runner, database: Database) -> None:
        super().__init__()
        self.runner, self.database = runner, database
        self.members: dict[str, Member] = {}
        self.models: dict[str, AccountModel] = {}
        self.keys: dict[tuple[str, str], KeyModel] = {}
        self.in_mid_air: list[HeldPost] = []
        self.answered: set[uuid.UUID] = set()
        self.touched: set[str] = set()
        self.sound = False
        self.steps = 0
        self.standings: dict[str, Standing] = {}

    @initialize(birth=BIRTHS)
    def open_accounts(self, birth: datetime) -> None:
        self.service = MoneyService(self.runner, self.database, PLANS, birth)
        for plan, gives in MODEL_PLANS.items():
            self.members[plan] = self.service.run(self.service.create_member(plan, OWN_TERMS[plan]))
            self.models[plan] = AccountModel(gives, birth)
        self.standings = self.read_standings()

    @property
    def now(self) -> datetime:
        return self.service.clock.time

    def tick(self, *touched: str) -> None:
        """Begin a step that may change rows of these accounts and of no others."""
        self.service.clock.advance(TICK)
        self.touched = set(touched)
        self.sound = False

    def read_standings(self) -> dict[str, Standing]:
        found = self.service.run(self.service.standings([member.account_id for member in self.members.values()]))
        return {who: found[member.account_id] for who, member in self.members.items()}

    def owner_of(self, job_id: uuid.UUID) -> str:
        return next(who for who, model in self.models.items() if job_id in model.jobs)

    @invariant()
    def money_is_right(self) -> None:
        if not self.members:
            return
        before, self.standings = self.standings, self.read_standings()
        for who, standing in self.standings.items():
            check_by_itself(standing)
            check_transition(before[who], standing)
            check_against_model(self.models[who], standing)
            if who not in self.touched:
                assert standing.content == before[who].content, f"{who} was changed by another's step"
        self.check_answers_and_results()
        for who in self.touched or self.models:  # when nobody was touched, time has passed
            self.check_usage(who)
        mine = {member.account_id for member in self.members.values()}
        assert [wrong for wrong in self.service.run(self.service.disagreements()) if wrong.account_id in mine] == []
        self.sound = True
        self.steps += 1

    def check_answers_and_results(self) -> None:
        rows = {job_id: job for standing in self.standings.values() for job_id, job in standing.jobs.items()}
        forgotten = {job for model in self.models.values() for job, known in model.jobs.items() if known.forgotten}
        assert self.answered <= rows.keys() | forgotten, "a job was promised that does not exist"
        for job_id, job in rows.items():
            if job.status == COMPLETED and job.expires_at is not None and job.expires_at > self.now:
                assert result_key(str(job_id)) in self.service.store.objects, "a job completed without a picture"

    def check_usage(self, who: str) -> None:
        model, usage = self.models[who], self.service.run(self.service.usage(self.members[who].account_id))
        volume, today = model.volume(self.now), model.days.get(self.now.date())
        assert (usage.period.start, usage.period.end) == model.period(self.now)
        assert usage.included == model.plan.included
        assert usage.used == (volume.settled if volume else 0)
        assert usage.reserved == sum(pot.reserved for pot in model.pots)
        assert usage.topup_remaining == sum(pack.left for pack in model.packs)
        assert usage.daily_used == (today.reserved + today.settled if today else 0)

    def purge_and_note(self) -> None:
        """Old job rows and old keys go; what was paid stays."""
        for who, model in self.models.items():
            for job_id, job in self.standings[who].jobs.items():
                if job.finished_at is not None and job.finished_at < self.now - RECORD_LASTS:
                    model.jobs[job_id].forgotten = True
        for name, known in list(self.keys.items()):
            if self.now - known.claimed_at >= KEY_LASTS:
                del self.keys[name]
        self.service.run(self.service.purge())

    def relay(self) -> None:
        for who, model in self.models.items():
            for job_id in model.open_jobs:
                row = self.standings[who].jobs[job_id]
                if row.started_at is None and max(row.deadline_at, row.created_at + HEAD_START) <= self.now:
                    model.end(job_id, FAILED)  # Temporal did not get it in time
        self.service.run(self.service.relay())
        for standing in self.read_standings().values():
            for job in standing.jobs.values():
                if job.status == PROCESSING and job.created_at <= self.now - HEAD_START:
                    assert job.started_at is not None
                    assert tryon_workflow_id(str(job.id)) in self.service.temporal.runs

    def teardown(self) -> None:
        if not self.members:
            return
        try:
            for post in self.in_mid_air:
                self.service.run(post.die())
            if self.sound:  # else something has failed already, and that is what should be told
                self.drain()
        finally:
            self.service.close()

    def drain(self) -> None:
        """The relay and some workers do their part, the sweeper the rest; much later nothing is left but the ledger."""
        self.tick(*self.members)
        self.service.clock.advance(timedelta(seconds=3))
        self.relay()
        open_jobs = [(model, job_id) for model in self.models.values() for job_id in model.open_jobs]
        for model, job_id in open_jobs[::2]:
            assert self.service.run(self.service.finish(Process(), job_id, COMPLETED)) == COMPLETED
            model.end(job_id, COMPLETED)
        self.money_is_right()
        self.service.clock.advance(timedelta(minutes=20))
        self.service.run(self.service.sweep())
        for model, job_id in open_jobs[1::2]:
            model.end(job_id, FAILED)
        self.money_is_right()
        for standing in self.standings.values():
            assert all(job.status != PROCESSING for job in standing.jobs.values())
            assert all(each.reserved == 0 for each in [*standing.allowances, *standing.days])
        self.service.clock.advance(2 * RECORD_LASTS)
        self.purge_and_note()
        self.money_is_right()
        assert not any(standing.jobs for standing in self.standings.values())
        assert self.service.store.objects == {}
