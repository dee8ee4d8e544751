from __future__ import annotations

import threading

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
