from __future__ import annotations

from itertools import pairwise

import pytest

from engines.pace import Countdown, Pace, Step, duration_words, progress_words


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_picture_takes_as_many_passes_as_its_garments_need() -> None:
    one_each = Pace("cpu", "bfloat16", 10.0, 30, 1)
    assert [one_each.seconds_for(garments) for garments in (1, 3)] == [300, 900]
    together = Pace("cpu", "bfloat16", 10.0, 4, 4)
    assert together.seconds_for(1) == together.seconds_for(4) == 40


def test_what_is_left_is_reckoned_by_the_steps_of_this_render() -> None:
    clock = Clock()
    countdown = Countdown(100.0, clock)
    assert (countdown.step, countdown.seconds_left) == (None, 0)
    countdown.hear(Step("denoise", 1, 20))
    assert countdown.seconds_left == 2000  # as measured at the start
    clock.now += 60
    countdown.hear("wait")
    assert countdown.seconds_left == 1940
    countdown.hear(Step("denoise", 2, 20))
    assert countdown.seconds_left == 19 * 60  # as this render has shown
    clock.now += 500
    assert countdown.seconds_left == 18 * 60  # a step that takes longer is about to end


def test_a_render_that_goes_on_in_the_middle_counts_what_it_draws_itself() -> None:
    clock = Clock()
    countdown = Countdown(100.0, clock)
    countdown.hear(Step("denoise", 13, 20))
    clock.now += 50
    countdown.hear(Step("denoise", 14, 20))
    assert countdown.seconds_left == 7 * 50
    countdown.hear(Step("denoise", 1, 20))  # another try
    assert countdown.seconds_left == 20 * 50


def test_a_step_is_a_stage_that_knows_its_place() -> None:
    step = Step("denoise", 7, 20)
    assert step == "denoise"
    assert (step.number, step.steps) == (7, 20)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (1, "step 7 of 20"),
        (12, "step 7 of 20, about 20 seconds left"),
        (89, "step 7 of 20, about 90 seconds left"),
        (95, "step 7 of 20, about 2 minutes left"),
        (370, "step 7 of 20, about 6 minutes left"),
        (7000, "step 7 of 20, about 2 hours left"),
    ],
)
def test_words(seconds: float, words: str) -> None:
    assert progress_words(7, 20, seconds) == words


def test_words_never_go_up_while_time_passes() -> None:
    said = [progress_words(1, 2, seconds) for seconds in range(20_000, 0, -1)]
    changes = [after for before, after in pairwise(said) if before != after]
    assert len(changes) == len(set(changes))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 second"),
        (89, "89 seconds"),
        (90, "2 minutes"),
        (5390, "90 minutes"),
        (5400, "1.5 hours"),
        (36_000, "10 hours"),
    ],
)
def test_words_for_a_whole_picture(seconds: float, words: str) -> None:
    assert duration_words(seconds) == words
