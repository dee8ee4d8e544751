"""The ways in which a render can end without a picture."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class EngineError(Exception):
    """The picture cannot be made from these inputs.

    Attributes:
        code: An entry of the error catalogue, e.g. ``person_not_found``.
        advice: What the customer can do about it: a sentence of at most 200 characters that is safe to show and holds
            no internals; empty if the catalogue's own advice is as good.
        garment: The garment of the request that was not recognised, if that is the error.

    Args:
        code: As above.
        detail: What was found, for the person who investigates it.
        advice: As above.
    """

    def __init__(self, code: str, detail: str = "", *, advice: str = "") -> None:
        super().__init__(f"{detail} {advice}".strip() or code)
        self.code = code
        self.advice = advice
        self.garment: object | None = None


@contextmanager
def blamed_on(garment: object) -> Iterator[None]:
    """Name this garment in an error that is raised inside because a garment is not recognised."""
    try:
        yield
    except EngineError as error:
        if error.code == "garment_not_recognised":
            error.garment = garment
        raise


@contextmanager
def noted_in(refusals: list[EngineError]) -> Iterator[None]:
    """Add an error that is raised inside to a list, and go on."""
    try:
        yield
    except EngineError as error:
        refusals.append(error)


class EngineUnavailable(Exception):
    """An engine cannot be set up here; the message is one sentence that tells the operator why and what to do."""


class DeviceOutOfMemory(Exception):
    """A render did not fit into the device's memory."""


class DeviceBroken(Exception):
    """The device gives only errors or no answer; the process has to be restarted."""


class RenderStopped(Exception):
    """`Engine.render` was stopped by ``should_stop``; the job runs again elsewhere."""


def first_line(error: Exception) -> str:
    """What an exception says, in one line; its type where it says nothing."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
