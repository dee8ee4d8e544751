"""The trial of money sees a POST that made two jobs, a second caller that heard nothing, and kills that did not come."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import fields
from typing import Any, cast

import pytest

from tests.faults import machines
from tests.faults.machines import Fleet
from tests.faults.referee import Verdict
from tests.faults.world import Customer


class Scene:
    """A fleet that does jobs at once; of two callers with one key the first to ask is the first to be told."""

    def __init__(self) -> None:
        self.world = self
        self.jobs: dict[str, str] = {}
        self.two_jobs = False
        self.kills_left = machines.KILLS
        self.judged: list[Customer] = []

    async def use(self, customer: Customer) -> None:
        job_id = self.jobs.setdefault(customer.key, str(uuid.uuid4()))
        customer.job_id = str(uuid.uuid4()) if self.two_jobs else job_id
        customer.end_with({"status": "failed"})

    async def until_healthy(self) -> float:
        return 0.0

    def kill_any(self) -> str:
        self.kills_left -= 1
        if self.kills_left < 0:
            raise LookupError("nobody runs")
        return "api"


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    monkeypatch.setattr(machines, "CUSTOMERS", 1)
    monkeypatch.setattr(machines, "KILLS", 3)
    monkeypatch.setattr(machines, "KILL_SECONDS", 0)
    scene = Scene()

    async def judge(_world: object, customers: Sequence[Customer], *_about: object) -> Verdict:
        scene.judged = [*customers]
        figures: dict[str, Any] = {each.name: 0 for each in fields(Verdict)}
        return Verdict(**{**figures, "errors": {}, "answers": {}})

    monkeypatch.setattr(machines, "judge", judge)
    return scene


async def test_both_callers_of_a_post_are_judged(scene: Scene) -> None:
    row = await machines.money(cast("Fleet", scene), set())
    assert [each.key for each in scene.judged] == 2 * [*scene.jobs]
    assert all(each.end for each in scene.judged)
    assert (row["posts"], row["killed"], row["complaints"]) == (1, {"api": 3}, [])


async def test_a_post_that_made_two_jobs_is_a_complaint(scene: Scene) -> None:
    scene.two_jobs = True
    assert (await machines.money(cast("Fleet", scene), set()))["complaints"] == ["1 POSTs made two jobs"]


async def test_kills_that_did_not_come_are_a_complaint(scene: Scene) -> None:
    scene.kills_left = 1
    complaints = (await machines.money(cast("Fleet", scene), set()))["complaints"]
    assert complaints == ["1 of 3 kills: LookupError('nobody runs')"]
