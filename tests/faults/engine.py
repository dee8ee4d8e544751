"""``python -m tests.faults.engine FOLDER``: a GPU worker whose engine sleeps, and does what lies in a folder.

A file in the folder is an order for the next render, which takes it away: ``hang`` stands still for good, ``exhausted``
says that the device's memory ran out, ``broken`` that the device is gone. While there is a ``hold``, every render waits.
What was done is written down in ``notes``, a word a line.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import cast
from unittest.mock import patch

from bench.growth.sleeping import BEAT_SECONDS, NAME, SleepingEngine
from engines.base import DeviceBroken, DeviceOutOfMemory, OnStep, RenderRequest, RenderResult, ShouldStop
from engines.person.segmenter import MediaPipeSegmenter
from engines.routes import Route, RoutedEngines
from runtime.settings import EngineSettings, Settings
from worker_gpu import main as worker

SECONDS = 0.3
"""Of a render: twenty jobs are in flight for six seconds."""

HOLD, NOTES = "hold", "notes"
"""Files in the folder."""


class ObedientEngine(SleepingEngine):
    """Sleeps, unless there is an order."""

    def __init__(self, folder: Path) -> None:
        super().__init__(SECONDS)
        self._folder = folder

    def free_memory(self) -> None:
        self._note("emptied")

    def render(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        self._note("begun")
        while (self._folder / HOLD).exists():
            on_step("hold")
            time.sleep(BEAT_SECONDS)
        if self._takes("hang"):
            time.sleep(3600)
        if self._takes("exhausted"):
            raise DeviceOutOfMemory("so it was ordered")
        if self._takes("broken"):
            raise DeviceBroken("so it was ordered")
        result = super().render(request, on_step, should_stop)
        self._note("ended")
        return result

    def _takes(self, order: str) -> bool:
        try:
            (self._folder / order).unlink()
        except FileNotFoundError:
            return False
        self._note(order)
        return True

    def _note(self, what: str) -> None:
        with (self._folder / NOTES).open("a") as notes:
            notes.write(f"{what}\n")


def main() -> None:
    """Run the GPU worker as it is, but for its engine."""
    engine = ObedientEngine(Path(sys.argv[1]))

    def choose_segmenter(_settings: EngineSettings) -> MediaPipeSegmenter:
        return cast("MediaPipeSegmenter", engine)  # nobody wears the garments, so more is not asked of it

    def choose_engines(_settings: Settings, _segmenter: object) -> RoutedEngines:
        return RoutedEngines(Route(NAME, {}), {NAME: engine})

    with patch.multiple(worker, choose_segmenter=choose_segmenter, choose_engines=choose_engines):
        worker.main()


if __name__ == "__main__":
    main()
