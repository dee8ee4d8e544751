"""Schedules on a real server: created, kept as the code has them, and left paused where somebody paused them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest
from temporalio.client import (
    Client,
    Schedule,
    ScheduleActionStartWorkflow,
    ScheduleAlreadyRunningError,
    ScheduleDescription,
    ScheduleUpdate,
)

from gateway import schedules
from gateway.schedules import SCHEDULES
from gateway.temporal import TemporalGateway
from workflows.contracts import SweepInput

BY_NAME = {scheduled.name: scheduled for scheduled in SCHEDULES}
OURS = BY_NAME["tryon-purge"]


@pytest.fixture
async def client(idle_temporal: Client) -> AsyncIterator[Client]:
    """A server without any schedule."""
    yield idle_temporal
    async for found in await idle_temporal.list_schedules():
        await idle_temporal.get_schedule_handle(found.id).delete()


async def described(client: Client, name: str = OURS.name) -> ScheduleDescription:
    return await client.get_schedule_handle(name).describe()


async def with_older(client: Client, schedule: Schedule) -> None:
    """Make the schedule as an older version of the code did."""
    async with asyncio.timeout(10):
        while True:  # a name is free a moment after its schedule was deleted
            try:
                await client.create_schedule(OURS.name, schedule)
                return
            except ScheduleAlreadyRunningError:
                await asyncio.sleep(0.02)


def with_action(**changes: object) -> Schedule:
    schedule = OURS.schedule()
    assert isinstance(schedule.action, ScheduleActionStartWorkflow)
    for name, value in changes.items():
        setattr(schedule.action, name, value)
    return schedule


OLDER = {
    "another interval": replace(OURS, every=timedelta(hours=3)).schedule(),
    "another workflow": replace(OURS, workflow="PurgeEverythingWorkflow").schedule(),
    "another argument": replace(OURS, argument=SweepInput(limit=7)).schedule(),
    "another timeout": replace(OURS, longest=timedelta(seconds=9)).schedule(),
    "another queue": with_action(task_queue="elsewhere"),
    "no argument": with_action(args=[]),
    "other ids of runs": with_action(id="purge"),
}


async def test_every_schedule_is_created_and_found_as_it_should_be(client: Client) -> None:
    await TemporalGateway(client).schedules.ensure()
    for scheduled in SCHEDULES:
        found = await described(client, scheduled.name)
        assert await TemporalGateway(client).schedules.follows_the_code(scheduled, found)
        assert not found.schedule.state.paused


async def test_what_is_as_it_should_be_is_not_written_again(client: Client) -> None:
    await TemporalGateway(client).schedules.ensure()
    await TemporalGateway(client).schedules.ensure()
    assert [(await described(client, name)).info.last_updated_at for name in BY_NAME] == [None] * len(BY_NAME)


@pytest.mark.parametrize("older", OLDER.values(), ids=OLDER)
async def test_a_schedule_of_an_older_version_follows_the_code(client: Client, older: Schedule) -> None:
    await with_older(client, older)
    assert not await TemporalGateway(client).schedules.follows_the_code(OURS, await described(client))
    await TemporalGateway(client).schedules.ensure()
    assert await TemporalGateway(client).schedules.follows_the_code(OURS, await described(client))


async def test_a_paused_schedule_stays_paused_when_it_is_brought_up_to_date(client: Client) -> None:
    await with_older(client, replace(OURS, every=timedelta(hours=3)).schedule())
    await client.get_schedule_handle(OURS.name).pause(note="the disk is being exchanged")
    await TemporalGateway(client).schedules.ensure()
    found = await described(client)
    assert found.schedule.spec.intervals[0].every == OURS.every
    assert (found.schedule.state.paused, found.schedule.state.note) == (True, "the disk is being exchanged")


async def test_a_schedule_that_is_gone_comes_back_and_others_stay_as_they_are(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after the loss of Temporal's database, while CPU workers run on."""
    monkeypatch.setattr(schedules, "KEEP_SECONDS", 0.1)
    await with_older(client, replace(OURS, every=timedelta(hours=3)).schedule())
    keeping = asyncio.create_task(TemporalGateway(client).schedules.keep())
    async with asyncio.timeout(20):
        while {each.id async for each in await client.list_schedules()} != set(BY_NAME):
            await asyncio.sleep(0.05)
    keeping.cancel()
    assert (await described(client)).schedule.spec.intervals[0].every == timedelta(hours=3)


async def test_workers_that_start_at_once_agree(client: Client) -> None:
    await with_older(client, replace(OURS, every=timedelta(hours=3)).schedule())
    await asyncio.gather(*(TemporalGateway(client).schedules.ensure() for _ in range(4)))
    for scheduled in SCHEDULES:
        assert await TemporalGateway(client).schedules.follows_the_code(
            scheduled, await described(client, scheduled.name)
        )


async def test_a_schedule_that_somebody_changed_is_put_right_at_the_next_start(client: Client) -> None:
    await TemporalGateway(client).schedules.ensure()
    changed = replace(OURS, every=timedelta(days=30)).schedule()
    await client.get_schedule_handle(OURS.name).update(lambda _: ScheduleUpdate(changed))
    await TemporalGateway(client).schedules.ensure()
    assert (await described(client)).schedule.spec.intervals[0].every == OURS.every
