"""From a garment's picture to a drape on a body, whatever part of the body it is for."""

from __future__ import annotations

from engines.base import Category, EngineError, Garment
from engines.garment.cutout import cut_out
from engines.garment.upper_landmarks import find_upper_landmarks
from engines.warp.body import BodyModel
from engines.warp.hints import wears_tucked
from engines.warp.pieces import Drape
from engines.warp.stages import Stages
from engines.warp.upper import drape_upper


def drape_garment(garment: Garment, body: BodyModel, stages: Stages) -> Drape:
    """Cut the garment out, measure it and lay it on the body.

    Raises:
        EngineError: ``garment_not_recognised``.
        RenderStopped: Between stages.
    """
    stages.begin("cut_out")
    cloth = cut_out(garment.picture)
    stages.begin("landmarks")
    if garment.category is Category.UPPER_BODY:
        marks = find_upper_landmarks(cloth)
        stages.begin("drape")
        return drape_upper(cloth, marks, body, tucked=wears_tucked(garment))
    raise EngineError("garment_not_recognised", f"No draper for {garment.category} yet.")
