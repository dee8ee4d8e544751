"""Which engines this process renders with, and whether their libraries and weights are here."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from engines.base import Engine, EngineUnavailable, PersonSegmenter
from engines.catalogue import AUTOMATIC, ENGINES, nameable
from engines.finish.checks import Bounds
from engines.finish.judged import JudgedEngine
from engines.licences import check_licence
from engines.person.segmenter import MediaPipeSegmenter
from engines.registration import Workplace
from engines.routes import RoutedEngines, parse_route
from engines.weights.fetch import read_manifest
from runtime.settings import EngineSettings, Settings

if TYPE_CHECKING:  # it brings SciPy and the whole warp engine, which other engines and the doctor do without
    from engines.warp.debug_pictures import Observe


def choose_engines(settings: Settings, segmenter: PersonSegmenter) -> RoutedEngines:
    """The engines of the settings' route, not yet set up.

    Raises:
        EngineUnavailable: The route names no engine of ours, a library or the device is missing, or a licence forbids
            it.
    """
    try:
        route = parse_route(settings.engine.engine, nameable(settings.engine.engine))
    except ValueError as error:
        raise EngineUnavailable(f"TRYON_ENGINE: {error}.") from None
    *better, last = AUTOMATIC
    route = route.with_auto(lambda: next((name for name in better if is_ready(name, settings)), last))
    names = dict.fromkeys([*route.names, *settings.engine.beside()])
    return RoutedEngines(route, {name: build_engine(name, settings, segmenter) for name in names})


def build_engine(
    name: str, settings: Settings, segmenter: PersonSegmenter, observe: Observe | None = None
) -> JudgedEngine:
    """One engine of the catalogue, its pictures judged, not yet set up.

    The segmenter finds people in photos, garments' pictures and results; ``observe`` is shown what each step made.

    Raises:
        EngineUnavailable: A library that it needs is not installed, its weights were never fetched, or its licence
            forbids it.
    """
    check_files(name, settings)
    workplace = Workplace(
        weights=weights_of(name, settings),
        device=settings.engine.device,
        precision=settings.engine.precision,
        threads=settings.engine.engine_threads,
        compile=settings.engine.compile,
        segmenter=segmenter,
        observe=observe,
    )
    engine: Engine = ENGINES[name].built(settings.options[name], workplace)
    check_licence(engine.info, settings.engine.licence_acknowledged)
    return JudgedEngine(engine, segmenter, Bounds(**settings.checks.model_dump()))


def choose_segmenter(settings: EngineSettings) -> PersonSegmenter:
    """What finds the person; the same for every engine."""
    return MediaPipeSegmenter(settings.models_dir, threads=settings.engine_threads)


def check_libraries(name: str) -> None:
    """See that an engine's libraries are installed.

    Raises:
        EngineUnavailable: A library is missing; the sentence names it.
    """
    missing = [library for library in ENGINES[name].libraries if find_spec(library) is None]
    if missing:
        raise EngineUnavailable(
            f"The engine {name} needs {', '.join(missing)}: install the optional dependencies `gpu` of this package."
        )


def check_files(name: str, settings: Settings) -> None:
    """See that an engine's libraries are installed, and that its weights were fetched.

    Raises:
        EngineUnavailable: They are not; the sentence says what to do.
    """
    check_libraries(name)
    if not weights_present(name, settings):
        folder = weights_of(name, settings)
        raise EngineUnavailable(
            f"The weights of {name} are not in {folder}, or not whole: fetch them with `tryon engines fetch {name}`."
        )


def is_ready(name: str, settings: Settings) -> bool:
    """Whether the engine's libraries and weights are there and its device is a GPU of CUDA's; cheap questions first.

    Raises:
        EngineUnavailable: The settings name a device that is not there. Who names it counts on it, and another engine
            would draw other pictures at the same price.
    """
    try:
        check_files(name, settings)
    except EngineUnavailable:
        return False
    from engines.accelerator import found_device  # here, for torch takes seconds to load

    return found_device(settings.engine.device, name).type == "cuda"


def weights_present(name: str, settings: Settings) -> bool:
    """Whether an engine's weights are there, whole as far as can be told without reading them.

    The folder that ``tryon engines fetch`` fills has a manifest once it is full; a folder or name that the operator
    chose instead is not checked for one.
    """
    folder = weights_of(name, settings)
    if not ENGINES[name].weights:
        return True
    if folder == settings.engine.weights_dir / name:
        return bool(read_manifest(folder))
    return settings.options[name].has_weights(folder)


def weights_of(name: str, settings: Settings) -> Path:
    """The folder of an engine's weights, or the name that the settings give."""
    chosen = settings.options[name].own_weights()
    return Path(chosen).expanduser() if chosen else settings.engine.weights_dir / name
