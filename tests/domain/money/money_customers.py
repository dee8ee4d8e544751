"""What customers do: they post, slowly or not, with or without a key, they poll, erase and look at their usage."""

from __future__ import annotations

import uuid
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import consumes, multiple, rule

from api.tryon.accepting import AcceptedJob, RequestKey
from domain.errors import TryOnError
from domain.jobs.jobs import OVERDUE_GRACE
from domain.tables import Job
from tests.domain.money.money_model import CLAIM_LASTS, FAILED, PROCESSING, KeyModel
from tests.domain.money.money_scene import RARELY, WHO, HeldPost, MoneyScene
from tests.domain.money.mortal_process import RUNNING, Process, ProcessDiedError
from workflows.queues import tryon_workflow_id

JobId = uuid.UUID
STEPS_OF_A_POST = 14
OFTEN_LIVES = st.sampled_from([None] * STEPS_OF_A_POST + list(range(STEPS_OF_A_POST)))
"""After how many steps a process dies."""
KEYS = st.sampled_from([None, None, "k", "l"])
BODIES = st.sampled_from(["a", "a", "a", "b"])
MONEY = {"trial_ended", "volume_exhausted", "daily_cap_reached"}
"""Refusals of a request that has claimed its key; it gives the key up again."""


@dataclass(frozen=True)
class Expected:
    """What the model says about a POST: a refusal, a replay, or a new job where it is neither."""

    refusal: str | None = None
    replay: uuid.UUID | None = None


A_NEW_JOB = Expected()


class Customers(MoneyScene):
    """Rules of the API's callers."""

    @rule(
        target=MoneyScene.posted,
        who=WHO,
        key=KEYS,
        body=BODIES,
        test=RARELY,
        dies_after=OFTEN_LIVES,
        away=RARELY,
        retry=st.booleans(),
    )
    def post(
        self, who: str, key: str | None, body: str, *, test: bool, dies_after: int | None, away: bool, retry: bool
    ) -> Any:
        self.service.temporal.away = away
        found = self.send(who, key, body, test=test, dies_after=dies_after)
        self.service.temporal.away = False
        if retry:
            found += self.send(who, key, body, test=test)
        return multiple(*found)

    @rule(target=MoneyScene.posted, who=WHO, number=st.integers(1, 6))
    def post_some(self, who: str, number: int) -> Any:
        """Plain ones, as many in a row: volumes and days are soon used up."""
        return multiple(*self.send_some(who, number))

    @rule(target=MoneyScene.held, who=WHO, key=KEYS, body=BODIES, test=RARELY)
    def begin_post(self, who: str, key: str | None, body: str, test: bool) -> Any:
        return self.begin(who, key, body, test=test) or multiple()

    @rule(target=MoneyScene.posted, post=consumes(MoneyScene.held), dies_after=OFTEN_LIVES)
    def finish_post(self, post: HeldPost, dies_after: int | None) -> Any:
        return multiple(*self.finish(post, dies_after))

    @rule(target=MoneyScene.posted, post=consumes(MoneyScene.held), number=st.integers(1, 6))
    def overtake(self, post: HeldPost, number: int) -> Any:
        """Others of the account use up what was left when this one looked."""
        return multiple(*self.send_some(post.who, number), *self.finish(post))

    @rule(target=MoneyScene.posted, post=consumes(MoneyScene.held), first_lives=st.booleans())
    def lose_patience(self, post: HeldPost, first_lives: bool) -> Any:
        """The client sends the same again, twice, while the first is still under way, or dead for all it knows."""
        self.service.clock.advance(CLAIM_LASTS)
        second = self.begin(post.who, post.key, post.body, test=post.test)
        found = []
        if first_lives:
            found += self.finish(post)
        found += self.send(post.who, post.key, post.body, test=post.test)
        if second is not None:
            found += self.finish(second)
        if not first_lives:
            found += self.finish(post, 0)
        return multiple(*found)

    @rule(who=WHO, job_id=MoneyScene.posted, erase=RARELY)
    def poll_or_erase(self, who: str, job_id: uuid.UUID, erase: bool) -> None:
        self.tick()
        refusal = self.refusal_to_show(who, job_id)
        call = self.service.erase if erase else self.service.poll
        if refusal is not None:
            with pytest.raises(TryOnError) as error:
                self.service.run(call(self.members[who].live_key, job_id))
            assert error.value.code == refusal
            return
        self.touched = {who}
        if erase or self.run_left_it_behind(self.standings[who].jobs[job_id]):
            self.models[who].end(job_id, FAILED)
        state = self.service.run(call(self.members[who].live_key, job_id))
        assert state is None or state.status == self.models[who].jobs[job_id].status

    def run_left_it_behind(self, job: Job) -> bool:
        run = self.service.temporal.runs.get(tryon_workflow_id(str(job.id)), RUNNING)
        overdue = job.deadline_at + OVERDUE_GRACE <= self.now
        return job.status == PROCESSING and (overdue or (job.started_at is not None and run != RUNNING))

    def call(
        self, who: str, process: Process, key: str | None, body: str, *, test: bool
    ) -> Coroutine[Any, Any, AcceptedJob]:
        member = self.members[who]
        request_key = None if key is None else RequestKey(key, body * 64)
        return self.service.post(process, member.test_key if test else member.live_key, request_key)

    def send(self, who: str, key: str | None, body: str, *, test: bool, dies_after: int | None = None) -> list[JobId]:
        """One POST; returns the job it added, if it did."""
        self.tick(who)
        expected = self.expect(who, key, body, test=test)
        before = self.read_standings()[who].content
        try:
            accepted = self.service.run(self.call(who, Process(dies_after), key, body, test=test))
        except ProcessDiedError:
            return self.find_what_is_left(who, key, expected, test=test)
        except TryOnError as error:
            return self.note_refusal(who, key, error, expected, claimed=error.code in MONEY)
        assert not accepted.replayed or self.read_standings()[who].content == before, "a replay changed something"
        return self.note_answer(who, key, body, accepted, expected, test=test)

    def send_some(self, who: str, number: int) -> list[JobId]:
        return [job_id for _ in range(number) for job_id in self.send(who, None, "a", test=False)]

    def begin(self, who: str, key: str | None, body: str, *, test: bool) -> HeldPost | None:
        """A POST that stands still in mid-air, unless it is refused or replayed before."""
        self.tick(who)
        expected = self.expect(who, key, body, test=test)
        process = Process(held=True)
        task = self.service.start(self.call(who, process, key, body, test=test))
        post = HeldPost(who, process, task, key=key, body=body, test=test)
        self.service.run(post.until_it_stands_still())
        if not task.done():
            assert expected == A_NEW_JOB, f"went on instead of {expected}"
            if key is not None:
                self.keys[who, key] = KeyModel(body, self.now, process)
            self.in_mid_air.append(post)
            return post
        error = task.exception()
        if isinstance(error, TryOnError):
            self.note_refusal(who, key, error, expected, claimed=error.code in MONEY)
        else:
            self.note_answer(who, key, body, task.result(), expected, test=test)
        return None

    def finish(self, post: HeldPost, dies_after: int | None = None) -> list[JobId]:
        """Let it go on; much may have happened in the meantime."""
        self.tick(post.who)
        self.in_mid_air.remove(post)
        known = self.keys.get((post.who, post.key or ""))
        claimed = known is not None and known.holder is post.process
        model = self.models[post.who]
        refusal = "account_blocked" if model.blocked else None if post.test else model.refusal(self.now)
        if refusal is None and post.key is not None and not claimed:
            refusal = "idempotency_in_progress"
        post.process.go_on(dies_after)
        try:
            accepted = self.service.run(post.result())
        except ProcessDiedError:
            return self.find_what_is_left(post.who, post.key, Expected(refusal), test=post.test)
        except TryOnError as error:
            return self.note_refusal(post.who, post.key, error, Expected(refusal), claimed=claimed)
        since = known.claimed_at if known is not None and claimed else None
        return self.note_answer(post.who, post.key, post.body, accepted, Expected(refusal), test=post.test, since=since)

    def expect(self, who: str, key: str | None, body: str, *, test: bool) -> Expected:
        model, known = self.models[who], self.keys.get((who, key or ""))
        if model.blocked:
            return Expected("account_blocked")
        if known is not None and known.lasts(self.now):
            if known.body != body:
                return Expected("idempotency_mismatch")
            return Expected("idempotency_in_progress") if known.job_id is None else Expected(replay=known.job_id)
        return Expected(None if test else model.refusal(self.now))

    def refusal_to_show(self, who: str, job_id: uuid.UUID) -> str | None:
        """Why this customer may not see this job, if so."""
        if self.models[who].blocked:
            return "account_blocked"
        job = self.standings[who].jobs.get(job_id)
        return "job_not_found" if job is None or (job.expires_at and job.expires_at <= self.now) else None

    def note_answer(
        self,
        who: str,
        key: str | None,
        body: str,
        accepted: AcceptedJob,
        expected: Expected,
        *,
        test: bool,
        since: datetime | None = None,
    ) -> list[JobId]:
        """A job or a replay; its key was claimed now, if not ``since`` some time."""
        self.answered.add(accepted.job_id)
        if accepted.replayed:
            assert expected.replay == accepted.job_id
            return []
        assert expected == A_NEW_JOB, f"accepted instead of {expected}"
        self.models[who].accept(accepted.job_id, self.now, test=test)
        if key is not None:
            self.keys[who, key] = KeyModel(body, since or self.now, None, accepted.job_id)
        return [accepted.job_id]

    def note_refusal(
        self, who: str, key: str | None, error: TryOnError, expected: Expected, *, claimed: bool
    ) -> list[JobId]:
        assert error.code == expected.refusal, f"{error.code} instead of {expected}"
        assert (error.retry_after is not None) == (error.code in {"daily_cap_reached", "idempotency_in_progress"})
        if claimed:
            self.keys.pop((who, key or ""), None)
        return []

    def find_what_is_left(self, who: str, key: str | None, expected: Expected, *, test: bool) -> list[JobId]:
        """Look what a process that died has committed: all of an acceptance, or nothing."""
        new = self.read_standings()[who].jobs.keys() - self.models[who].jobs.keys()
        if new:
            assert expected == A_NEW_JOB, f"a job in spite of {expected}"
        for job_id in new:
            self.models[who].accept(job_id, self.now, test=test)
        if key is not None:
            row = self.service.run(self.service.idempotency_row(self.members[who].account_id, key))
            known = self.keys.pop((who, key), None)
            if row is not None:
                holder = known.holder if known is not None and known.claimed_at == row.claimed_at else None
                self.keys[who, key] = KeyModel(row.fingerprint[0], row.claimed_at, holder, row.job_id)
            assert not new or (row is not None and {row.job_id} == new)
        return list(new)
