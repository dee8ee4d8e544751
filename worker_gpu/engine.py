"""Which engine this process renders with."""

from __future__ import annotations

from engines.base import Engine, PersonSegmenter
from engines.person.segmenter import MediaPipeSegmenter
from engines.warp.engine import WarpEngine
from runtime.settings import EngineSettings


def choose_engine(settings: EngineSettings, segmenter: PersonSegmenter) -> Engine:
    """The engine of the settings; ``auto`` is the CPU engine for as long as there is no other."""
    return WarpEngine(threads=settings.engine_threads, segmenter=segmenter)


def choose_segmenter(settings: EngineSettings) -> PersonSegmenter:
    """What finds the person; the same for every engine."""
    return MediaPipeSegmenter(settings.models_dir, threads=settings.engine_threads)
