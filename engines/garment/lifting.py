"""A garment's picture made into cloth: from its ground, or off whoever wears it."""

from __future__ import annotations

from dataclasses import dataclass

from engines.base import Category, EngineError, OnStep, PersonSegmenter, Picture, ShouldStop
from engines.garment.cloth import Cloth
from engines.garment.cutout import cut_out
from engines.garment.wearer import lifted_off_wearer
from engines.garment.worn import is_worn, shows_legs
from engines.garment.worn_where import check_worn_there

ASK_FOR_ANOTHER = (
    "Send a picture of the garment alone, or of one person who wears it, facing the camera, arms beside the body."
)


@dataclass(frozen=True)
class Lifted:
    """A garment off its picture.

    Attributes:
        cloth: On a canvas of its own.
        was_worn: Whether somebody wore it.
    """

    cloth: Cloth
    was_worn: bool


class Lifter:
    """Lifts garments off their pictures.

    Args:
        segmenter: Finds wearers; without one, garments have to lie or hang alone.
    """

    def __init__(self, segmenter: PersonSegmenter | None) -> None:
        self._segmenter = segmenter

    def lift(self, picture: Picture, category: Category, on_step: OnStep, should_stop: ShouldStop) -> Lifted:
        """Cut the garment out.

        Raises:
            EngineError: ``garment_not_recognised``.
            RenderStopped: ``should_stop`` said so.
        """
        try:
            wearer = None
            if self._segmenter is not None:
                wearer = self._segmenter.segment_wearer(picture, on_step, should_stop)
            if wearer is not None:
                return Lifted(lifted_off_wearer(picture, wearer, category), was_worn=True)
        except EngineError as error:
            raise EngineError("garment_not_recognised", str(error), advice=ASK_FOR_ANOTHER) from None
        cloth = cut_out(picture)
        if shows_legs(cloth) if category is Category.LOWER_BODY else is_worn(cloth):
            raise EngineError("garment_not_recognised", "Somebody wears the garment.", advice=ASK_FOR_ANOTHER)
        check_worn_there(cloth.alpha > 0.5, category)
        return Lifted(cloth, was_worn=False)
