"""From cloth to a drape on a body, whatever part of the body it is for."""

from __future__ import annotations

from engines.base import Category, Garment
from engines.garment.cloth import Cloth
from engines.garment.upper_landmarks import find_upper_landmarks
from engines.hint_sense import sensible_hints
from engines.warp.body.model import BodyModel
from engines.warp.drape.full import drape_full
from engines.warp.drape.hang import sizing_of
from engines.warp.drape.lower import drape_lower, waistband_height
from engines.warp.drape.upper import drape_upper
from engines.warp.hints import is_open, is_tucked
from engines.warp.ribbon import Drape


def drape_garment(
    garment: Garment, cloth: Cloth, body: BodyModel, *, under_tucked_top: bool = False, tucked_into_next: bool = False
) -> Drape:
    """Measure a garment and lay it on the body.

    Args:
        garment: What was asked for.
        cloth: The garment lifted off its picture.
        body: The body.
        under_tucked_top: Whether a top put on before was tucked in, so that the waistband is open to view.
        tucked_into_next: Whether a lower garment is put on after it.

    Raises:
        EngineError: ``garment_not_recognised``, or ``pose_not_usable`` for a skirt on somebody who sits.
    """
    hints = sensible_hints(garment)
    kind, sizing = hints.kind, sizing_of(hints.fit, garment.category)
    if garment.category is Category.LOWER_BODY:
        return drape_lower(cloth, body, kind, under_tucked_top=under_tucked_top, sizing=sizing)
    if garment.category is Category.FULL_BODY:
        return drape_full(cloth, body, kind, sizing)
    return drape_upper(
        cloth,
        find_upper_landmarks(cloth),
        body,
        tucked=is_tucked(garment),
        waistband=waistband_height(body, open_waist=True) if tucked_into_next else None,
        opened=is_open(garment),
        sizing=sizing,
    )
