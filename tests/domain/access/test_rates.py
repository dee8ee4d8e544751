"""The sliding log: exactly so many in any window, on both databases."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select

from domain.access import rates
from domain.access.rates import RatePolicy, RateState, admit
from domain.tables import RateWindow
from runtime.database import Database

CONTRACT = RatePolicy("requests", requests=20, window_seconds=300)
START = 1_800_000_000.0
SMALL_POLICIES = st.builds(
    RatePolicy, name=st.just("small"), requests=st.integers(1, 4), window_seconds=st.integers(1, 6)
)
QUARTERS = st.integers(0, 16).map(lambda quarters: quarters / 4)
"""Pauses in seconds that add up without rounding, and often end exactly where a window does."""


def test_twenty_pass_and_the_next_has_to_wait_for_the_first_to_leave() -> None:
    stamps: list[float] = []
    for number in range(20):
        state, stamps = admit(stamps, CONTRACT, START + number)
        assert state == RateState(True, 19 - number, 300.0 - number)
    assert admit(stamps, CONTRACT, START + 100)[0] == RateState(False, 0, 200.0)
    assert not admit(stamps, CONTRACT, START + 299.75)[0].admitted
    assert admit(stamps, CONTRACT, START + 300)[0] == RateState(True, 0, 1.0)


def test_there_are_never_twice_as_many_around_the_edge_of_a_window() -> None:
    _, stamps = admit([], CONTRACT, START)
    for _ in range(19):
        _, stamps = admit(stamps, CONTRACT, START + 299)
    admitted = 0
    for _ in range(20):
        state, stamps = admit(stamps, CONTRACT, START + 301)
        admitted += state.admitted
    assert admitted == 1


def test_a_refused_request_is_not_kept() -> None:
    full = [START] * 20
    assert admit(full, CONTRACT, START + 1)[1] == full


def test_after_the_limit_was_lowered_as_many_leave_first_as_there_are_too_many() -> None:
    lowered = RatePolicy("requests", requests=2, window_seconds=10)
    state, kept = admit([START, START + 1, START + 2, START + 3], lowered, START + 4)
    assert state == RateState(False, 0, 8.0)
    assert len(kept) == 4
    assert admit(kept, lowered, START + 12)[0].admitted


def test_a_clock_that_jumped_back_locks_nobody_out_for_longer_than_a_window() -> None:
    written_before_the_jump = [START + 86_400.0] * 20
    state, kept = admit(written_before_the_jump, CONTRACT, START)
    assert state == RateState(False, 0, 300.0)
    assert admit(kept, CONTRACT, START + 300)[0].admitted


@settings(deadline=None)
@given(SMALL_POLICIES, st.lists(QUARTERS, max_size=60))
def test_it_judges_like_a_model_that_remembers_everything(policy: RatePolicy, pauses: list[float]) -> None:
    stamps: list[float] = []
    admitted_ever: list[float] = []
    now = START
    for pause in pauses:
        now += pause

        def counted(at: float) -> int:
            return sum(at - policy.window_seconds < moment <= at for moment in admitted_ever)

        expected = counted(now) < policy.requests
        state, stamps = admit(stamps, policy, now)
        if expected:
            admitted_ever.append(now)
        left = policy.requests - counted(now)
        steps = (step / 4 for step in range(1, 4 * policy.window_seconds + 1))
        sooner = next(step for step in steps if policy.requests - counted(now + step) > left)
        assert state == RateState(expected, left, sooner)
        assert len(stamps) <= policy.requests


@settings(deadline=None)
@given(SMALL_POLICIES, st.lists(st.tuples(QUARTERS, QUARTERS), max_size=60))
def test_jumps_back_never_let_more_through_and_every_promise_is_kept(
    policy: RatePolicy, steps: list[tuple[float, float]]
) -> None:
    stamps: list[float] = []
    admitted_ever: list[float] = []
    now = behind = 0.0
    for pause, jump in steps:
        now += pause
        behind += jump
        state, stamps = admit(stamps, policy, START + now - behind)
        if state.admitted:
            admitted_ever.append(now)
            assert sum(moment > now - policy.window_seconds for moment in admitted_ever) <= policy.requests
        assert 0 < state.seconds_to_more <= policy.window_seconds
        after = admit(stamps, policy, START + now - behind + state.seconds_to_more)[0]
        assert after.admitted


async def hit(database: Database, key_id: uuid.UUID, policy: RatePolicy, clock: Callable[[], float]) -> RateState:
    return await database.write(lambda session: rates.hit(session, caller_id=key_id, policy=policy, clock=clock))


async def stamps_of(database: Database, key_id: uuid.UUID) -> list[list[float]]:
    with database.reading() as session:
        return list(session.scalars(select(RateWindow.stamps).where(RateWindow.caller_id == key_id)))


async def test_what_is_written_is_what_was_admitted(database: Database) -> None:
    key_id, moments = uuid.uuid4(), [START + 0.123456, START + 1, START + 300.5, START + 301]
    policy = RatePolicy("requests", requests=2, window_seconds=300)
    states = [await hit(database, key_id, policy, lambda moment=moment: moment) for moment in moments]
    assert [state.admitted for state in states] == [True, True, True, True]
    assert await stamps_of(database, key_id) == [[START + 300.5, START + 301]]
    assert not (await hit(database, key_id, policy, lambda: START + 302)).admitted
    assert await stamps_of(database, key_id) == [[START + 300.5, START + 301]]


async def test_keys_and_policies_have_windows_of_their_own(database: Database) -> None:
    one, other = uuid.uuid4(), uuid.uuid4()
    strict = RatePolicy("requests", requests=1, window_seconds=300)
    lax = RatePolicy("management", requests=1, window_seconds=300)
    assert (await hit(database, one, strict, lambda: START)).admitted
    assert not (await hit(database, one, strict, lambda: START)).admitted
    assert (await hit(database, other, strict, lambda: START)).admitted
    assert (await hit(database, one, lax, lambda: START)).admitted


async def test_stamps_from_before_a_jump_back_are_mended_by_a_refusal_too(database: Database) -> None:
    key_id, policy = uuid.uuid4(), RatePolicy("requests", requests=1, window_seconds=300)
    assert (await hit(database, key_id, policy, lambda: START + 86_400)).admitted
    assert not (await hit(database, key_id, policy, lambda: START)).admitted
    assert not (await hit(database, key_id, policy, lambda: START + 299)).admitted
    assert (await hit(database, key_id, policy, lambda: START + 300)).admitted


async def test_rows_are_forgotten_once_their_last_request_has_left_the_window(database: Database) -> None:
    key_id, policy = uuid.uuid4(), RatePolicy("requests", requests=5, window_seconds=60)
    for moment in (START, START + 1):
        await hit(database, key_id, policy, lambda moment=moment: moment)
    left = datetime.fromtimestamp(START + 61, UTC)
    await database.write(rates.forget_old, now=left - timedelta(seconds=1))
    assert await stamps_of(database, key_id) == [[START, START + 1]]
    await database.write(rates.forget_old, now=left)
    assert await stamps_of(database, key_id) == []


async def test_many_at_once_are_judged_one_after_the_other(database: Database) -> None:
    key_id = uuid.uuid4()
    states = await asyncio.gather(*(hit(database, key_id, CONTRACT, lambda: START) for _ in range(40)))
    assert sorted(state.remaining for state in states if state.admitted) == list(range(20))
