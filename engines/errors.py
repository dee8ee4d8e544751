"""What can become of a render besides a picture."""

from __future__ import annotations


class EngineError(Exception):
    """The picture cannot be made from these inputs.

    Attributes:
        code: An entry of the error catalogue, e.g. ``person_not_found``.
    """

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(detail or code)
        self.code = code


class EngineUnavailable(Exception):
    """An engine cannot be set up here; the message is one sentence that tells the operator why and what to do."""


class DeviceOutOfMemory(Exception):
    """A render did not fit into the device's memory."""


class DeviceBroken(Exception):
    """The device answers with errors alone, or not at all; the process has to be started anew."""


class RenderStopped(Exception):
    """Raised out of `Engine.render` when ``should_stop`` said so; the job runs again elsewhere."""
