"""Rendering in this process, without the service: the same steps, from files."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from activities.garments import WORKING_SIDE
from activities.inference import engine_hints
from engines.base import (
    Category,
    EngineError,
    EngineInfo,
    Garment,
    PersonMap,
    Picture,
    RenderRequest,
    RenderResult,
)
from engines.hint_sense import dressing_order
from engines.pace import Countdown, Step, progress_words
from engines.warp.debug_pictures import Observe, look_away
from imaging.decode import decode_image
from runtime.settings import Settings
from worker_gpu.engine import build_engine, choose_segmenter
from workflows.contracts import GarmentHints

SEED = 0


@dataclass(frozen=True)
class Person:
    """A photo, and what the segmenter said about it."""

    photo: Picture
    person_map: PersonMap
    segment_ms: int


class Studio:
    """The person segmenter and one engine, set up once."""

    def __init__(self, settings: Settings, observe: Observe = look_away, engine: str = "warp") -> None:
        """Load the models; ``observe`` is shown what each step of the embedded engine made.

        Raises:
            ModelsMissing: They have not been fetched.
            EngineUnavailable: The engine cannot be set up here.
        """
        self._limits = settings.images.limits()
        self._segmenter = choose_segmenter(settings.engine)
        self._engine = build_engine(engine, settings, self._segmenter, observe)
        self._segmenter.setup()
        self._engine.setup()

    @property
    def info(self) -> EngineInfo:
        """What the engine is, with what it measured when it was set up."""
        return self._engine.info

    def readings(self) -> Mapping[str, float]:
        """See `engines.base.Engine.readings`."""
        return self._engine.readings()

    def person(self, path: Path) -> Person:
        """Read a photo and find the person in it.

        Raises:
            ImageError: It is no picture that the service would take.
            EngineError: There is nobody in it, or several people.
        """
        photo = decode_image(path.read_bytes(), self._limits)
        began = time.monotonic()
        person_map = self.map_of(photo)
        return Person(photo, person_map, round(1000 * (time.monotonic() - began)))

    def map_of(self, photo: Picture) -> PersonMap:
        """Find the person in a photo or in a result.

        Raises:
            EngineError: There is nobody in it, or several people.
        """
        return self._segmenter.segment(photo, lambda _step: None, lambda: False)

    def garment(self, path: Path, category: Category, hints: GarmentHints, back: Path | None = None) -> Garment:
        """Read a product photo, and one of the back where there is one, as the service does.

        Raises:
            ImageError: It is no picture that the service would take.
        """
        back_picture = self._product_photo(back) if back else None
        return Garment(self._product_photo(path), category, engine_hints(hints), back_picture)

    def _product_photo(self, path: Path) -> Picture:
        return decode_image(path.read_bytes(), self._limits, max_side=WORKING_SIDE)

    def render(
        self, person: Person, garments: Sequence[Garment], tell: Callable[[str], None] = lambda _words: None
    ) -> RenderResult:
        """Dress the person, from the skin outwards; ``tell`` is told at each step of a network how far it is.

        Raises:
            EngineError: No honest picture can be made of these.
        """
        request = RenderRequest(person.photo, person.person_map, dressing_order(garments), SEED)
        pace = self._engine.info.pace
        countdown = Countdown(pace.step_seconds if pace else 0.0)

        def on_step(stage: str) -> None:
            countdown.hear(stage)
            if isinstance(stage, Step):
                tell(progress_words(stage.number, stage.steps, countdown.seconds_left))

        return self._engine.render(request, on_step, lambda: False)


def sentence_of(error: Exception) -> str:
    """A refusal for a person who investigates it; of an engine's its code, and what the engine itself said."""
    if not isinstance(error, EngineError) or str(error) == error.code:
        return str(error)
    return f"{error.code}: {error}"
