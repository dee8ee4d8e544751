from __future__ import annotations

from datetime import UTC, datetime, timedelta

from workflows.backfills.contracts import BackfillProgress
from workflows.backfills.window import FIRST_WAIT, ITEMS_A_RUN, LONGEST_WAIT, Window

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


def window(total: int = 10, concurrency: int = 3, **fields: object) -> Window:
    progress = BackfillProgress.model_validate(
        {"account_id": "a", "total": total, "concurrency": concurrency, **fields}
    )
    return Window(progress, NOON)


def fill(items: Window) -> list[int]:
    taken = []
    while items.has_room:
        taken.append(items.take_up())
    return taken


def test_never_more_than_the_concurrency_is_in_flight() -> None:
    items = window()
    assert fill(items) == [0, 1, 2]
    items.end(1, "completed")
    assert fill(items) == [3]
    assert items.in_flight == {0, 2, 3}


def test_a_smaller_window_is_reached_as_items_end() -> None:
    items = window(concurrency=3)
    fill(items)
    items.advance(concurrency=1)
    items.end(0, "completed")
    items.end(1, "completed")
    assert fill(items) == []
    items.end(2, "failed")
    assert fill(items) == [3]


def test_every_item_is_taken_up_once() -> None:
    items, taken = window(total=7), []
    while items.left:
        for number in fill(items):
            taken.append(number)
            items.end(number, "skipped")
    assert taken == list(range(7))
    assert items.progress.ended == items.progress.skipped == 7


def test_what_was_put_back_goes_first() -> None:
    items = window()
    fill(items)
    for number in (2, 0):
        items.put_back(number)
    assert items.progress.pending == [0, 2]
    assert fill(items) == [0, 2]


def test_after_a_wait_one_item_goes_alone_until_it_was_accepted() -> None:
    items = window()
    for number in fill(items):
        items.put_back(number)
        items.wait("volume_exhausted", None)
    assert (items.has_room, items.idle, items.reason) == (False, True, "volume_exhausted")
    items.wait_for = None
    assert fill(items) == [0]
    items.accepted()
    assert (fill(items), items.reason) == ([1, 2], None)


def test_waits_grow_up_to_a_bound_and_begin_anew() -> None:
    items, waits = window(concurrency=1), []
    for _ in range(6):
        items.put_back(items.take_up())
        items.wait("volume_exhausted", None)
        waits.append(items.wait_for)
        items.wait_for = None
    assert waits == [FIRST_WAIT, 2 * FIRST_WAIT, 4 * FIRST_WAIT, 8 * FIRST_WAIT, LONGEST_WAIT, LONGEST_WAIT]
    items.accepted()
    items.wait("volume_exhausted", None)
    assert items.wait_for == FIRST_WAIT


def test_a_cap_that_is_lifted_sooner_is_not_waited_past() -> None:
    items = window()
    items.wait("daily_cap_reached", timedelta(seconds=7))
    assert items.wait_for == timedelta(seconds=7)


def test_a_pause_holds_everything() -> None:
    items = window(paused=True)
    assert (items.has_room, items.idle, items.left) == (False, True, True)


def test_a_run_takes_up_so_many_and_no_more() -> None:
    items = window(total=ITEMS_A_RUN + 1, concurrency=1)
    for _ in range(ITEMS_A_RUN):
        items.end(items.take_up(), "completed")
    assert (items.full, items.left) == (True, True)


def test_the_rate_is_that_of_the_last_run_until_there_is_one() -> None:
    items = window(total=100, concurrency=64, per_minute=3.0, completed=5)
    for number in fill(items)[:30]:
        items.end(number, "completed")
        if number == 0:
            assert items.per_minute(NOON + timedelta(minutes=1)) == 3.0
    assert items.per_minute(NOON + timedelta(minutes=2)) == 15.0
