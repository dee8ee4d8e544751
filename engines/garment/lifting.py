"""Makes a garment's picture into cloth, cut from its background or from the person who wears it."""

from __future__ import annotations

from functools import cached_property

from engines.base import Category, EngineError, OnStep, PersonSegmenter, Picture, ShouldStop
from engines.garment.cloth import Cloth
from engines.garment.cutout import cut_out
from engines.garment.network import GarmentNetwork, Kind, Seen
from engines.garment.wearer import lifted_off_wearer

ASK_FOR_ANOTHER = (
    "Send a picture of the garment alone, or of one person who wears it, facing the camera, arms beside the body."
)

LEAST_CHANCE = 0.15
"""Least chance that the garment is of a kind that is worn where the caller says."""

WORN_THERE = {
    Category.UPPER_BODY: (Kind.TOP, Kind.OUTERWEAR, Kind.DRESS),
    Category.LOWER_BODY: (Kind.TROUSERS, Kind.SHORTS, Kind.SKIRT),
    Category.FULL_BODY: (Kind.DRESS, Kind.JUMPSUIT, Kind.OUTERWEAR),
}
"""A long top may pass for a short dress, and a dress that opens in front for a coat."""

KIND_WORDS = ("a top", "a jacket or coat", "trousers", "shorts", "a skirt", "a dress", "a jumpsuit")
"""In the order of `Kind`."""


class Lifter:
    """Lifts garments off their pictures.

    Args:
        segmenter: Finds wearers; without one, garments have to lie or hang alone.
    """

    def __init__(self, segmenter: PersonSegmenter | None) -> None:
        self._segmenter = segmenter

    @cached_property
    def _network(self) -> GarmentNetwork:
        return GarmentNetwork()

    def setup(self) -> None:
        """Load the garment network, so that the first garment does not wait for it."""
        _ = self._network

    def lift(self, picture: Picture, category: Category, on_step: OnStep, should_stop: ShouldStop) -> Cloth:
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
                return lifted_off_wearer(picture, wearer, category, self._network)
        except EngineError as error:
            raise EngineError("garment_not_recognised", str(error), advice=ASK_FOR_ANOTHER) from None
        cloth = cut_out(picture, category, self._network)
        check_worn_there(cloth.shown, category)
        return cloth


def check_worn_there(seen: Seen, category: Category) -> None:
    """Refuse a garment that is plainly worn on another part of the body; doubtful ones are accepted.

    Args:
        seen: What the network says of a garment that lies or hangs alone.
        category: Where the caller says that it is worn.

    Raises:
        EngineError: ``garment_not_recognised``, with what it looks like.
    """
    if float(seen.kinds[list(WORN_THERE[category])].sum()) < LEAST_CHANCE:
        looks, place = KIND_WORDS[int(seen.kinds.argmax())], category.replace("_", " ")
        raise EngineError(
            "garment_not_recognised", advice=f"It looks like {looks}, but was sent as a garment for the {place}."
        )
