"""A garment's picture made into cloth: from its ground, or off whoever wears it."""

from __future__ import annotations

from engines.base import Category, EngineError, Garment, OnStep, PersonSegmenter, ShouldStop
from engines.garment.cutout import cut_out
from engines.garment.wearer import lifted_off_wearer
from engines.garment.worn import is_worn, shows_legs
from engines.warp.hints import photo_to_lay
from engines.warp.pieces import Cloth

ASK_FOR_ANOTHER = (
    "Send a picture of the garment alone, or of one person who wears it, facing the camera, arms beside the body."
)


class Lifter:
    """Lifts garments off their pictures.

    Args:
        segmenter: Finds wearers; without one, garments have to lie or hang alone.
    """

    def __init__(self, segmenter: PersonSegmenter | None) -> None:
        self._segmenter = segmenter

    def lift(self, garment: Garment, on_step: OnStep, should_stop: ShouldStop) -> Cloth:
        """The garment as cloth on the canvas.

        Raises:
            EngineError: ``garment_not_recognised``.
            RenderStopped: ``should_stop`` said so.
        """
        picture = photo_to_lay(garment)
        if self._segmenter is not None and self._segmenter.shows_person(picture):
            try:
                wearer = self._segmenter.segment(picture, on_step, should_stop)
                return lifted_off_wearer(picture, wearer, garment.category)
            except EngineError as error:
                raise EngineError("garment_not_recognised", f"{error} {ASK_FOR_ANOTHER}") from None
        cloth = cut_out(picture)
        if shows_legs(cloth) if garment.category is Category.LOWER_BODY else is_worn(cloth):
            raise EngineError("garment_not_recognised", f"Somebody wears the garment. {ASK_FOR_ANOTHER}")
        return cloth
