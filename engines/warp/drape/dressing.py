"""From a garment's picture to a drape on a body, whatever part of the body it is for."""

from __future__ import annotations

from engines.base import Category, EngineError, Garment
from engines.garment.cutout import cut_out
from engines.garment.upper_landmarks import find_upper_landmarks
from engines.garment.worn import is_worn
from engines.hint_sense import sensible_hints
from engines.warp.body.model import BodyModel
from engines.warp.drape.full import drape_full
from engines.warp.drape.lower import drape_lower
from engines.warp.drape.upper import drape_upper
from engines.warp.hints import is_tucked, photo_to_lay
from engines.warp.pieces import Drape
from engines.warp.sizing import sizing_of_top
from engines.warp.stages import Stages


def drape_garment(garment: Garment, body: BodyModel, stages: Stages, *, under_tucked_top: bool = False) -> Drape:
    """Cut the garment out, measure it and lay it on the body.

    Args:
        garment: The garment.
        body: The body.
        stages: Told of each stage.
        under_tucked_top: Whether a top put on before was tucked in, so that the waistband is open to view.

    Raises:
        EngineError: ``garment_not_recognised``.
        RenderStopped: Between stages.
    """
    stages.begin("cut_out")
    cloth = cut_out(photo_to_lay(garment))
    if garment.category is not Category.LOWER_BODY and is_worn(cloth):
        raise EngineError("garment_not_recognised", "The garment is worn by somebody; it has to lie or hang alone.")
    stages.begin("drape")
    kind = garment.hints.kind
    if garment.category is Category.LOWER_BODY:
        return drape_lower(cloth, body, kind, under_tucked_top=under_tucked_top)
    if garment.category is Category.FULL_BODY:
        return drape_full(cloth, body, kind)
    sizing = sizing_of_top(sensible_hints(garment).fit)
    return drape_upper(cloth, find_upper_landmarks(cloth), body, tucked=is_tucked(garment), sizing=sizing)
