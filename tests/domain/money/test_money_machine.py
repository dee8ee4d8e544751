"""The proof that money is right: see `tests.domain.money.money_machine`.

``MONEY_EXAMPLES=1000`` looks longer than the suite does.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from sqlalchemy.orm import Session

from domain.jobs import jobs
from domain.tables import Job
from runtime.database import Database
from runtime.settings import DatabaseSettings
from tests.domain.money.money_machine import MoneyMachine

SHORT = settings(
    max_examples=int(os.environ.get("MONEY_EXAMPLES", "15")),
    stateful_step_count=30,
    derandomize="MONEY_EXAMPLES" not in os.environ,
    deadline=None,
    # Without Phase.shrink, which takes minutes; add it when there is a failure to look into.
    phases=[Phase.generate],
    # Every step is several transactions on a real database.
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)


@contextmanager
def stage(url: str) -> Iterator[tuple[asyncio.Runner, Database]]:
    """A loop of its own, since the machine's steps are no coroutines, and the database."""
    with (
        asyncio.Runner(loop_factory=asyncio.new_event_loop) as runner,
        closing(Database(DatabaseSettings(url=url))) as database,
    ):
        yield runner, database


def play(url: str) -> int:
    """How many steps were made. Hypothesis ends an example early when it has drawn much for it."""
    machines: list[MoneyMachine] = []
    with stage(url) as (runner, database):

        def begin() -> MoneyMachine:
            machines.append(MoneyMachine(runner, database))
            return machines[-1]

        run_state_machine_as_test(begin, settings=SHORT)
    return sum(machine.steps for machine in machines)


def test_money_is_right_whatever_happens(
    own_database_url: str, record_testsuite_property: Callable[[str, int], None]
) -> None:
    record_testsuite_property("inputs", play(own_database_url))


@pytest.mark.databases("sqlite")  # it is about the machine, which is the same on both
def test_the_machine_finds_a_forgotten_release(own_database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proof above is worth something only if it can fail."""

    def forget(_session: Session, _job: Job, *, now: datetime) -> None:
        """Leave the reservation as it is."""

    monkeypatch.setattr(jobs, "release", forget)
    with pytest.raises(AssertionError, match="a failed job has other entries"):
        play(own_database_url)
