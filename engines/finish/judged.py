"""An engine that measures its pictures before it returns them, and that does not fail because of a hint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from engines.base import (
    Engine,
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
from engines.finish.checks import Bounds, broken, measure, pose_drift
from engines.finish.views import View, seen_at, view_of
from engines.hint_sense import dressing_order, with_fewer_hints
from engines.stages import Stages

ANOTHER_SEED = 1_000_003
"""Added to the seed for the second try."""

SHOWN = ("contrast", "changed", "colours")
"""Prefix of the figures that the finished picture has to reach too."""

SAME_FACE = 0.9
"""Correlation from which the picture surely shows the photo's face."""

NO_POSE = 10.0
"""The recorded movement of joints where shoulders or hips are no longer seen."""


class JudgedEngine:
    """Renders with an engine, measures the picture, and tries once more where a network can do it differently.

    If no picture comes out, the garments are drawn without their hints: a hint is a wish and never makes a job fail.

    Args:
        engine: Draws.
        segmenter: Looks for the person in what was drawn.
        bounds: How far the figures may go.
    """

    def __init__(self, engine: Engine, segmenter: PersonSegmenter, bounds: Bounds) -> None:
        self._engine = engine
        self._segmenter = segmenter
        self._bounds = bounds

    @property
    def info(self) -> EngineInfo:
        """The engine's own."""
        return self._engine.info

    def setup(self) -> None:
        """Set the engine up."""
        self._engine.setup()

    def free_memory(self) -> None:
        """Give cached memory of the device back."""
        self._engine.free_memory()

    def readings(self) -> Mapping[str, float]:
        """The engine's own."""
        return self._engine.readings()

    def examine(
        self,
        photo: Picture,
        person_map: PersonMap | None,
        garments: Sequence[Garment],
        on_step: OnStep,
        should_stop: ShouldStop,
    ) -> list[EngineError]:
        """The engine's own refusals; none where it would draw the garments without their hints."""
        refusals = self._engine.examine(photo, person_map, garments, on_step, should_stop)
        without_hints = next(with_fewer_hints(garments, self.info.hints, None), None) if refusals else None
        if without_hints is None:
            return refusals
        plain = dressing_order(without_hints)
        return self._engine.examine(photo, person_map, plain, on_step, should_stop) and refusals

    def render(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        """Draw and judge; a picture out of bounds is drawn once more with another seed.

        Raises:
            EngineError: ``result_not_usable`` when no picture within the bounds came out, or what the engine says; in
                either case there is none without the hints either.
            RenderStopped: ``should_stop`` said so.
        """
        try:
            return self._within_bounds(request, on_step, should_stop)
        except EngineError as error:
            result = self._with_fewer_hints(request, error, on_step, should_stop)
            if result is None:
                raise
            return result

    def _with_fewer_hints(
        self, request: RenderRequest, error: EngineError, on_step: OnStep, should_stop: ShouldStop
    ) -> RenderResult | None:
        """The request without the one hint that made it fail, else without any; None if hints are not the cause.

        The hint is found by drawing without one at a time. A network is too slow for that, so it leaves all of them
        out.
        """
        without_any = None
        for garments in with_fewer_hints(request.garments, self.info.hints, error.garment):
            try:
                fewer = replace(request, garments=dressing_order(garments))
                result = self._within_bounds(fewer, on_step, should_stop)
            except EngineError:
                if without_any is None:
                    return None
                continue
            if without_any is not None or self.info.trained:
                return result
            without_any = result
        return without_any

    def _within_bounds(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        result = self._judged(request, on_step, should_stop)
        faults = broken(result.checks, self._bounds)
        if faults and self.info.trained:
            result = self._judged(replace(request, seed=request.seed + ANOTHER_SEED), on_step, should_stop)
            result = replace(result, checks=dict(result.checks) | {"tries": 2.0})
            faults = broken(result.checks, self._bounds)
        if faults:
            figures = ", ".join(f"{name} {figure:.3g}" for name, figure in faults.items())
            raise EngineError("result_not_usable", f"The picture did not pass its checks: {figures}.")
        return result

    def _judged(self, request: RenderRequest, on_step: OnStep, should_stop: ShouldStop) -> RenderResult:
        result, stages = self._engine.render(request, on_step, should_stop), Stages(on_step, should_stop)
        stages.begin("checks")
        if result.picture.shape != request.person.shape:
            raise ValueError(f"{self.info.name} made {result.picture.shape} of a photo of {request.person.shape}")
        view = view_of(request.person, request.person_map)
        figures = measure(view, seen_at(result.picture, view.size), request.garments, result.swatches)
        if result.painting is not None:
            # A network's whole painting is judged; the finished picture has to show the garments as well.
            painted = measure(view, seen_at(result.painting, view.size), request.garments, result.swatches)
            lowest = {name: min(figure, figures[name]) for name, figure in painted.items() if name.startswith(SHOWN)}
            figures = painted | lowest
            figures |= self._person_in(result.painting, view, painted.get("face", 0.0))
        return replace(
            result,
            checks=dict(result.checks) | figures,
            timings_ms=dict(result.timings_ms) | stages.timings_ms(),
        )

    def _person_in(self, drawn: Picture, view: View, face: float) -> dict[str, float]:
        """How many people were drawn, and how far the one person moved.

        An engine that changes the photo itself is not asked: it can neither lose nor move anybody.
        """
        try:
            landmarks = self._segmenter.landmarks_of(drawn)
        except EngineError as error:
            if error.code == "pose_not_usable":
                return {"pose": NO_POSE}
            # The detector sometimes overlooks a person whose face is plainly there.
            overlooked = error.code == "person_not_found" and face > SAME_FACE
            return {} if overlooked else {"people_off_by": 1.0}
        # Heights compare as well as widths: a painting shows the frame of its photo.
        scale = np.array([view.size[0] / drawn.shape[1], view.size[1] / drawn.shape[0], 1.0, 1.0], dtype=np.float32)
        return {"people_off_by": 0.0, "pose": pose_drift(view, landmarks * scale)}
