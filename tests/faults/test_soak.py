"""What is wrong with hours of use, and what counts as growth in them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.faults.soak import Kill, Sample, after_kills, complaints_of, grown, growth

MB = 2**20
HOUR = range(0, 3600, 5)


def coming_and_going(at: int) -> Sample:
    """A worker whose second decoder ends when it was idle, and is there again in the last minutes."""
    decoders = 1 if at % 1500 > 900 and at < 3300 else 2
    return Sample(at, 1 + decoders, (220 + 35 * decoders) * MB, 29 + 5 * decoders)


def leaking(at: int) -> Sample:
    grown_by = 60 * MB * at // 3600
    return coming_and_going(at)._replace(bytes=coming_and_going(at).bytes + grown_by)


def one_process_a_kill(at: int) -> Sample:
    return Sample(at, 2 + at // 360, (220 + 35 * (at // 360)) * MB, 29)


def connections_left(at: int) -> Sample:
    return coming_and_going(at)._replace(descriptors=coming_and_going(at).descriptors + at // 180)


@pytest.mark.parametrize(
    ("life", "what"),
    [
        (coming_and_going, []),
        (leaking, ["bytes"]),
        (one_process_a_kill, ["processes"]),
        (connections_left, ["descriptors"]),
    ],
)
def test_growth_is_told_from_processes_that_come_and_go(life: object, what: list[str]) -> None:
    assert grown(growth([life(at) for at in HOUR])) == what  # type: ignore[operator]


def test_a_pool_may_open_what_it_may_keep_at_any_time() -> None:
    life = [one_process_a_kill(at) for at in HOUR]
    assert grown(growth(life, life[-1].processes)) == []
    assert grown(growth(life, life[-1].processes - 1)) == ["processes"]


def test_a_short_life_is_not_judged() -> None:
    assert grown(growth([leaking(at) for at in HOUR if at < 2400])) == []
    assert growth([leaking(0)]) == {"minutes": 0.0}


def test_what_a_kill_cost_is_told_by_the_part_that_was_killed() -> None:
    kills = [Kill("api", 60, 3.0), Kill("database", 120, 1.0), Kill("api", 180, 5.0)]
    jobs = [(59.0, 9000.0), (61.0, 4000.0), (119.0, 4000.0), (120.0, 2000.0), (179.0, 2000.0), (500.0, 4000.0)]
    assert after_kills(kills, jobs) == {
        "api": {"away_s": {"median": 4.0, "longest": 5.0}, "p95_ms": 4000.0},
        "database": {"away_s": {"median": 1.0, "longest": 1.0}, "p95_ms": 2000.0},
    }


@pytest.mark.parametrize(
    ("wrong", "complaints"),
    [
        ({}, []),
        ({"webhooks": {"waiting": 1, "untold": 2}}, ["1 webhooks not delivered", "2 ends of jobs were not told"]),
        ({"killed": {}}, ["api was not killed"]),
        (
            {"backfills": {"items": 20, "completed": 20, "billed": 21}},
            ["backfills: {'items': 20, 'completed': 20, 'billed': 21}"],
        ),
        ({"p95_ms": {"GET poll": {"quiet": 30.0, "killed": 61.0}}}, ["GET poll: p95 61.0 ms, quiet 30.0 ms"]),
    ],
)
def test_figures_that_break_a_promise_are_complaints(wrong: dict[str, Any], complaints: list[str]) -> None:
    right: dict[str, Any] = {
        "backfills": {"items": 20, "completed": 20, "billed": 20},
        "webhooks": {"waiting": 0, "untold": 0},
        "lives": {"api": {"minutes": 60.0}},
        "killed": {"api": 20},
        "p95_ms": {"GET poll": {"quiet": 30.0, "killed": 59.0}},
    }
    assert complaints_of(right | wrong) == complaints
