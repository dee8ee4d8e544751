"""An engine around a network: garments isolated, passes in order, and what it draws put back into the photo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engines.base import (
    EngineError,
    EngineInfo,
    Garment,
    OnStep,
    PersonMap,
    PersonSegmenter,
    Picture,
    RenderRequest,
    RenderResult,
    ShouldStop,
)
from engines.errors import noted_in
from engines.finish.paste_back import paste_back
from engines.finish.swatches import swatch
from engines.finish.views import view_of
from engines.finish.zone import check_shown
from engines.garment.lifting import Lifter
from engines.generative.painter import Painter, PaintRequest, Reference
from engines.generative.references import reference_of
from engines.hint_sense import settle
from engines.pace import Step
from engines.stages import Stages

SURELY_CLOTH = 240
"""Cover, of 255, from which a pixel shows the garment alone."""


class GenerativeEngine:
    """Renders with a network that draws the whole photo anew.

    Args:
        painter: The network.
        segmenter: Lifts garments off people who wear them in the garment's picture, and sees what a pass put on.
    """

    def __init__(self, painter: Painter, segmenter: PersonSegmenter) -> None:
        self._painter = painter
        self._segmenter = segmenter
        self._lifter = Lifter(segmenter)

    @property
    def info(self) -> EngineInfo:
        """The network's own."""
        return self._painter.info

    def setup(self) -> None:
        """Load the weights, see `Painter.setup`, and what lifts garments."""
        self._painter.setup()
        self._lifter.setup()

    def free_memory(self) -> None:
        """See `Painter.free_memory`."""
        self._painter.free_memory()

    def readings(self) -> Mapping[str, float]:
        """See `engines.base.Engine.readings`."""
        return self._painter.readings()

    def examine(
        self,
        photo: Picture,
        person_map: PersonMap | None,
        garments: Sequence[Garment],
        on_step: OnStep,
        should_stop: ShouldStop,
    ) -> list[EngineError]:
        """Look at what is done before the network draws, see `engines.base.Engine.examine`."""
        refusals: list[EngineError] = []
        if person_map is not None:
            with noted_in(refusals):
                check_shown(view_of(photo, person_map), {garment.category for garment in garments})
        for garment in garments:
            with noted_in(refusals):
                reference_of(garment, self._lifter, on_step, should_stop)
        return refusals

    def render(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        """Draw the person wearing the garments, from the skin outwards.

        Raises:
            EngineError: ``garment_not_recognised``, ``pose_not_usable``, or what the network says.
            RenderStopped: ``should_stop`` said so.
            DeviceOutOfMemory: See `Painter.paint`.
        """
        stages = Stages(on_step, should_stop)
        stages.begin("references")
        check_shown(view_of(request.person, request.person_map), {garment.category for garment in request.garments})
        references = [reference_of(garment, self._lifter, on_step, should_stop) for garment in request.garments]
        dressed, painting = request, request.person
        passes = _passes(references, self._painter.garments_per_pass)
        for number, shown in enumerate(passes, start=1):
            if number > 1:
                stages.begin("look_again")
                dressed = replace(dressed, person_map=self._map_of(dressed, on_step, should_stop))
            stages.begin("paint")
            task = PaintRequest(dressed.person, dressed.person_map, shown, request.seed)
            painting = self._painter.paint(task, _in_pass(number, len(passes), on_step), should_stop)
            stages.begin("paste")
            garments = [reference.garment for reference in shown]
            dressed = replace(dressed, person=paste_back(replace(dressed, garments=garments), painting))
        applied, not_applied = settle(request.garments, self._painter.refusal, self._painter.info.hints)
        return RenderResult(
            dressed.person,
            applied,
            not_applied,
            stages.timings_ms(),
            painting=painting,
            swatches=[swatch(reference.picture, reference.cover > SURELY_CLOTH) for reference in references],
        )

    def _map_of(self, dressed: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> PersonMap:
        """The person map after a pass; the earlier map if the person is not found in the drawn picture."""
        try:
            return self._segmenter.segment(dressed.person, on_step, should_stop)
        except EngineError:
            return dressed.person_map


def _in_pass(number: int, passes: int, on_step: OnStep) -> OnStep:
    """Steps of one pass, told as steps of the whole render."""

    def tell(stage: str) -> None:
        if isinstance(stage, Step):
            stage = Step(str(stage), (number - 1) * stage.steps + stage.number, passes * stage.steps)
        on_step(stage)

    return tell


def _passes(references: Sequence[Reference], each: int) -> list[Sequence[Reference]]:
    """The references of each pass, in order."""
    return [references[first : first + each] for first in range(0, len(references), each)]
