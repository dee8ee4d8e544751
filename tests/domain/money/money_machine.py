"""Customers, workers, sweepers and operators in any order, with processes that die at any step.

After every step the rows are held against the model (`tests.domain.money.money_model`) and against what must be true of
money whatever happens. Each example has accounts of its own and ends with everything drained.
"""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import rule
from temporalio.client import WorkflowExecutionStatus

from tests.domain.money.money_customers import Customers
from tests.domain.money.money_model import COMPLETED, FAILED, PROCESSING
from tests.domain.money.money_scene import MODEL_PLANS, OWN_TERMS, PLANS, WHO, MoneyScene
from tests.domain.money.mortal_process import RUNNING, Process, ProcessDiedError
from workflows.queues import tryon_workflow_id

PAUSES = st.sampled_from(
    [timedelta(seconds=seconds) for seconds in (1, 5, 31, 40, 59, 61, 299, 360)]
    + [timedelta(minutes=61), timedelta(hours=9), timedelta(days=1), timedelta(days=3)]
    + [timedelta(days=28), timedelta(days=31), timedelta(days=40), timedelta(days=91)]
)
STEPS_OF_AN_ENDING = 6
ENDINGS = st.lists(
    st.tuples(
        st.sampled_from([COMPLETED, FAILED]),
        st.sampled_from([None] * STEPS_OF_AN_ENDING + list(range(STEPS_OF_AN_ENDING))),
    ),
    min_size=1,
    max_size=3,
)
"""How each attempt of a worker ends the job, and after how many steps it dies."""
QUIET, GRACE = timedelta(seconds=30), timedelta(seconds=30)
"""When the sweeper looks at a job at all, how long after its deadline it is failed, and when the relay starts it."""


class MoneyMachine(Customers):
    """See the module."""

    @rule(pause=PAUSES)
    def wait(self, pause: timedelta) -> None:
        self.tick()
        self.service.clock.advance(pause)

    @rule(job_id=MoneyScene.posted, endings=ENDINGS)
    def work(self, job_id: uuid.UUID, endings: list[tuple[str, int | None]]) -> None:
        """One attempt or several; of a job that has ended already, a zombie's."""
        who = self.owner_of(job_id)
        self.tick(who)
        job = self.models[who].jobs[job_id]
        if job.forgotten or tryon_workflow_id(str(job_id)) not in self.service.temporal.runs:
            return
        for ending, dies_after in endings:
            try:
                reported = self.service.run(self.service.finish(Process(dies_after), job_id, ending))
            except ProcessDiedError:
                status = self.read_standings()[who].jobs[job_id].status
                assert status in {job.status, ending if job.status == PROCESSING else job.status}
                if status != PROCESSING:
                    self.models[who].end(job_id, status)
            else:
                self.models[who].end(job_id, ending)
                assert reported == job.status

    @rule(
        job_id=MoneyScene.posted,
        status=st.sampled_from([WorkflowExecutionStatus.TERMINATED, WorkflowExecutionStatus.COMPLETED]),
    )
    def close_run(self, job_id: uuid.UUID, status: WorkflowExecutionStatus) -> None:
        """The run is over, whether or not it has ended its job."""
        self.tick()
        if tryon_workflow_id(str(job_id)) in self.service.temporal.runs:
            self.service.temporal.runs[tryon_workflow_id(str(job_id))] = status

    @rule(which=st.sampled_from(["relay", "relay", "sweep", "sweep", "purge"]))
    def keep_house(self, which: str) -> None:
        self.tick(*self.models)
        {"relay": self.relay, "sweep": self.sweep, "purge": self.purge_and_note}[which]()

    def sweep(self) -> None:
        runs = self.service.temporal.runs
        for who, model in self.models.items():
            for job_id in model.open_jobs:
                row = self.standings[who].jobs[job_id]
                closed = runs.get(tryon_workflow_id(str(job_id)), RUNNING) != RUNNING
                overdue = row.deadline_at + GRACE <= self.now
                if row.created_at <= self.now - QUIET and (closed or overdue):
                    model.end(job_id, FAILED)
        self.service.run(self.service.sweep())

    @rule(who=WHO, packs=st.lists(st.sampled_from([1, 1, 2, 3, 7]), min_size=1, max_size=3))
    def top_up(self, who: str, packs: list[int]) -> None:
        for generations in packs:
            self.tick(who)
            call = self.service.top_up(self.members[who].account_id, generations)
            if generations not in PLANS.topup_packs or self.models[who].plan.trial_days is not None:
                with pytest.raises(ValueError, match=r"pack|topped"):
                    self.service.run(call)
                continue
            self.service.run(call)
            self.models[who].top_up(generations, self.now)

    @rule(who=WHO, action=st.sampled_from([*MODEL_PLANS, "block", "unblock", "unblock", "unblock"]))
    def operate(self, who: str, action: str) -> None:
        self.tick(who)
        {"block": self.block, "unblock": self.unblock}.get(action, lambda who: self.change_plan(who, action))(who)

    def change_plan(self, who: str, plan: str) -> None:
        call = self.service.change_plan(self.members[who].account_id, plan, OWN_TERMS[plan])
        if plan == "trial":
            with pytest.raises(ValueError, match="new accounts"):
                self.service.run(call)
            return
        self.service.run(call)
        self.models[who].change_plan(MODEL_PLANS[plan], self.now)

    def block(self, who: str) -> None:
        """Jobs in progress are cancelled with it."""
        self.service.run(self.service.block(self.members[who].account_id))
        self.models[who].blocked = True
        for job_id in self.models[who].open_jobs:
            self.models[who].end(job_id, FAILED)

    def unblock(self, who: str) -> None:
        self.service.run(self.service.unblock(self.members[who].account_id))
        self.models[who].blocked = False
