"""Which engines this process renders with, chosen by the settings."""

from __future__ import annotations

from engines.base import Engine, EngineUnavailable, PersonSegmenter
from engines.catalogue import ENGINES
from engines.finish.checks import Bounds
from engines.finish.judged import JudgedEngine
from engines.generative.engine import GenerativeEngine
from engines.licences import check_licence
from engines.person.segmenter import MediaPipeSegmenter
from engines.routes import RoutedEngines, parse_route
from engines.warp.debug_pictures import Observe, look_away
from engines.warp.engine import WarpEngine
from runtime.settings import EngineSettings, Settings
from worker_gpu.painters import build_painter, is_ready


def choose_engines(settings: Settings, segmenter: PersonSegmenter) -> RoutedEngines:
    """The engines of the settings' route, not yet set up.

    Raises:
        EngineUnavailable: The route names no engine of ours, or a library is missing, or a licence forbids it.
    """
    try:
        route = parse_route(settings.engine.engine, ENGINES)
    except ValueError as error:
        raise EngineUnavailable(f"TRYON_ENGINE: {error}.") from None
    route = route.with_auto(lambda: "klein" if is_ready("klein", settings) else "warp")
    return RoutedEngines(route, {name: build_engine(name, settings, segmenter) for name in route.names})


def build_engine(name: str, settings: Settings, segmenter: PersonSegmenter, observe: Observe = look_away) -> Engine:
    """One engine by its name, its pictures judged, not yet set up.

    Args:
        name: One of `engines.catalogue.ENGINES`.
        settings: Of the process.
        segmenter: Finds people in photos, garments' pictures and results.
        observe: Shown what each step of the embedded engine made.

    Raises:
        EngineUnavailable: A library that it needs is not installed, or its licence forbids it.
    """
    engine: Engine
    if name == "warp":
        engine = WarpEngine(settings.engine.engine_threads, observe, segmenter)
    else:
        engine = GenerativeEngine(build_painter(name, settings), segmenter)
    check_licence(engine.info, settings.engine.licence_acknowledged)
    return JudgedEngine(engine, segmenter, Bounds(**settings.checks.model_dump()))


def choose_segmenter(settings: EngineSettings) -> PersonSegmenter:
    """What finds the person; the same for every engine."""
    return MediaPipeSegmenter(settings.models_dir, threads=settings.engine_threads)
