"""What can become of a render besides a picture."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class EngineError(Exception):
    """The picture cannot be made from these inputs.

    Attributes:
        code: An entry of the error catalogue, e.g. ``person_not_found``.
        advice: What whoever chose the pictures can do about it, as a sentence of at most 200 characters that is safe to
            show and holds no internals; empty where nothing is better than what the catalogue says.
        garment: The very one of the request's garments that was not recognised, where one was not.

    Args:
        code: As above.
        detail: What was found, for whoever looks into it.
        advice: As above.
    """

    def __init__(self, code: str, detail: str = "", *, advice: str = "") -> None:
        super().__init__(f"{detail} {advice}".strip() or code)
        self.code = code
        self.advice = advice
        self.garment: object | None = None


@contextmanager
def blamed_on(garment: object) -> Iterator[None]:
    """Say of a garment that is not recognised within that it is this one."""
    try:
        yield
    except EngineError as error:
        if error.code == "garment_not_recognised":
            error.garment = garment
        raise


class EngineUnavailable(Exception):
    """An engine cannot be set up here; the message is one sentence that tells the operator why and what to do."""


class DeviceOutOfMemory(Exception):
    """A render did not fit into the device's memory."""


class DeviceBroken(Exception):
    """The device answers with errors alone, or not at all; the process has to be started anew."""


class RenderStopped(Exception):
    """Raised out of `Engine.render` when ``should_stop`` said so; the job runs again elsewhere."""


def first_line(error: Exception) -> str:
    """What an exception says, in one line; its type where it says nothing."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)
