from __future__ import annotations

import threading
import time

import pytest

from engines.base import RenderStopped
from engines.klein import turn as turn_module
from engines.klein.turn import Turn


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_module, "PATIENCE_SECONDS", 0.01)


def test_who_waits_says_so_until_the_turn_comes() -> None:
    turn, waited, order = Turn(), threading.Event(), list[str]()

    def wait() -> None:
        with turn.taken("waiting", lambda _stage: waited.set(), lambda: False):
            order.append("second")

    second = threading.Thread(target=wait, daemon=True)
    with turn.taken("first", lambda _stage: None, lambda: False):
        second.start()
        assert waited.wait(5)
        order.append("first")
    second.join(5)
    assert order == ["first", "second"]


def test_who_waits_can_be_stopped() -> None:
    turn = Turn()
    with (
        turn.taken("first", lambda _stage: None, lambda: False),
        pytest.raises(RenderStopped),
        turn.taken("second", lambda _stage: None, lambda: True),
    ):
        pass
    with turn.taken("free again", lambda _stage: None, lambda: False):
        pass


def test_a_turn_that_comes_too_late_is_given_on() -> None:
    turn = Turn()
    for _ in range(2):
        with pytest.raises(RenderStopped), turn.taken("stopped", lambda _stage: None, lambda: True):
            pass


def test_a_turn_ends_with_an_error() -> None:
    turn = Turn()
    with pytest.raises(ZeroDivisionError), turn.taken("one", lambda _stage: None, lambda: False):
        raise ZeroDivisionError
    with turn.taken("two", lambda _stage: None, lambda: False):
        pass


def test_who_waits_falls_silent_with_the_holder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_module, "PATIENCE_SECONDS", 0.002)
    monkeypatch.setattr(turn_module, "STILL_SECONDS", 0.1)
    turn, asked, told = Turn(), list[float](), list[float]()
    over = threading.Event()

    def wait() -> None:
        def should_stop() -> bool:
            asked.append(time.monotonic())
            return over.is_set()

        with (
            pytest.raises(RenderStopped),
            turn.taken("waiting", lambda _stage: told.append(time.monotonic()), should_stop),
        ):
            pass

    second = threading.Thread(target=wait, daemon=True)
    with turn.taken("first", lambda _stage: None, lambda: False) as step:
        second.start()
        for _ in range(10):
            time.sleep(0.03)
            step("moving")
        stood_at = time.monotonic()
        time.sleep(0.3)
        over.set()
        second.join(5)
    # It spoke long after 0.1 s, since the holder moved, and fell silent soon after that one stood.
    assert told[-1] - told[0] > 0.2
    assert told[-1] < stood_at + 0.2
    assert asked[-1] > stood_at + 0.2


def test_steps_of_the_holder_are_told() -> None:
    told: list[str] = []
    with Turn().taken("first", told.append, lambda: False) as step:
        step("moving")
    assert told == ["moving"]
