"""How long pictures take: what an engine measured of its device, and what is left of a render under way.

Nothing heavy is imported here: the API and the command line read it too.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True)
class Pace:
    """What a generative engine measured at its start.

    Attributes:
        device: Where it draws, such as ``cuda:0``, ``mps`` or ``cpu``.
        precision: What its network is computed in, such as ``bfloat16``.
        step_seconds: One step of the network for one picture, guidance included.
        steps: Of one pass.
        garments_per_pass: How many garments a pass puts on at most.
    """

    device: str
    precision: str
    step_seconds: float
    steps: int
    garments_per_pass: int

    def seconds_for(self, garments: int) -> float:
        """How long the network draws for a picture with so many garments."""
        return math.ceil(garments / self.garments_per_pass) * self.steps * self.step_seconds


class Step(str):
    """A stage that is one of a known number of steps, as `engines.base.OnStep` is told it when the step begins.

    Attributes:
        number: Which step begins, from 1.
        steps: How many there are, in all passes of the render.
    """

    __slots__ = ("number", "steps")

    number: int
    steps: int

    def __new__(cls, stage: str, number: int, steps: int) -> Self:
        """A stage by its name, and its place."""
        made = super().__new__(cls, stage)
        made.number, made.steps = number, steps
        return made


class Countdown:
    """Counts what is left of one render by the steps that it tells.

    Args:
        step_seconds: What a step takes until steps of this render have shown it.
        clock: Seconds that only grow.
    """

    def __init__(self, step_seconds: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._step_seconds = step_seconds
        self._clock = clock
        self._first: tuple[int, float] | None = None
        self._step: Step | None = None
        self._began = 0.0

    @property
    def step(self) -> Step | None:
        """The last step that was told; None before the first."""
        return self._step

    def hear(self, stage: str) -> None:
        """Take note of a stage that begins; what is no step, such as waiting within one, changes nothing."""
        if not isinstance(stage, Step):
            return
        now = self._clock()
        if self._step is None or self._first is None or stage.number <= self._step.number:
            self._first = stage.number, now  # the first of all, or of another try
        else:
            done = stage.number - self._first[0]
            self._step_seconds = (now - self._first[1]) / done
        self._step, self._began = stage, now

    @property
    def seconds_left(self) -> float:
        """Until the last step is done; 0 before the first."""
        if self._step is None:
            return 0.0
        this = max(self._step_seconds - (self._clock() - self._began), 0.0)
        return this + (self._step.steps - self._step.number) * self._step_seconds


SHORT_SECONDS = 5.0
"""What nobody counts down."""


def progress_words(number: int, steps: int, seconds_left: float) -> str:
    """For people: ``step 7 of 20, about 6 minutes left``; no time is named where it is short."""
    said = f"step {number} of {steps}"
    if seconds_left < SHORT_SECONDS:
        return said
    if seconds_left < 90:
        return f"{said}, about {10 * math.ceil(seconds_left / 10)} seconds left"
    minutes = round(seconds_left / 60)
    if minutes < 90:
        return f"{said}, about {minutes} minutes left"
    return f"{said}, about {round(minutes / 60)} hours left"


def duration_words(seconds: float) -> str:
    """For people: ``40 seconds``, ``25 minutes``, ``3.5 hours``."""
    if seconds < 90:
        whole = max(round(seconds), 1)
        return f"{whole} seconds" if whole > 1 else "1 second"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} minutes"
    hours = seconds / 3600
    return f"{hours:.1f} hours" if hours < 10 else f"{hours:.0f} hours"
