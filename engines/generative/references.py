"""Garment pictures made ready for a network: trimmed, and without whoever wears them."""

from __future__ import annotations

import cv2
import numpy as np

from engines.base import EngineError, Garment, Mask, OnStep, PersonSegmenter, Picture, ShouldStop
from engines.garment.canvas import MARGIN
from engines.garment.cutout import cut_out
from engines.garment.regions import window_of
from engines.garment.wearer import lifted_off_wearer
from engines.generative.painter import Reference
from engines.hint_sense import sensible_hints
from engines.warp.lifting import ASK_FOR_ANOTHER
from engines.warp.pieces import Cloth

ROOM = 0.04
"""Ground left around a garment, as a share of its longer side."""

WHITE = 255.0


def reference_of(garment: Garment, segmenter: PersonSegmenter, on_step: OnStep, should_stop: ShouldStop) -> Reference:
    """Find the garment in its picture and trim the picture to it.

    Raises:
        EngineError: ``garment_not_recognised``: nothing in the picture is a garment, or its wearer hides too much.
        RenderStopped: ``should_stop`` said so.
    """
    picture, cover, was_worn = _isolated(garment, garment.picture, segmenter, on_step, should_stop)
    back = None
    if garment.back_picture is not None and sensible_hints(garment).view_angle == "back":
        back, _, _ = _isolated(garment, garment.back_picture, segmenter, on_step, should_stop)
    return Reference(garment, picture, cover, back, was_worn)


def _isolated(
    garment: Garment, picture: Picture, segmenter: PersonSegmenter, on_step: OnStep, should_stop: ShouldStop
) -> tuple[Picture, Mask, bool]:
    """The trimmed picture, the garment's cover in it, and whether somebody wore it."""
    if not segmenter.shows_person(picture):
        return *_trimmed(picture, _cover_in(picture, cut_out(picture))), False
    try:
        wearer = segmenter.segment(picture, on_step, should_stop)
        cloth = lifted_off_wearer(picture, wearer, garment.category)
    except EngineError as error:
        raise EngineError("garment_not_recognised", f"{error} {ASK_FOR_ANOTHER}") from None
    return *_trimmed(_on_white(cloth), _as_mask(cloth)), True


def _cover_in(picture: Picture, cloth: Cloth) -> Mask:
    """The cloth's cover in the pixels of the picture that it was cut out of."""
    size = (picture.shape[1], picture.shape[0])
    return np.asarray(cv2.resize(_as_mask(cloth)[MARGIN:-MARGIN, MARGIN:-MARGIN], size, interpolation=cv2.INTER_AREA))


def _on_white(cloth: Cloth) -> Picture:
    alpha = cloth.alpha[..., None]
    return np.asarray(np.rint(cloth.colour * alpha * 255 + WHITE * (1 - alpha)).clip(0, 255), dtype=np.uint8)


def _as_mask(cloth: Cloth) -> Mask:
    return np.asarray(np.rint(cloth.alpha * 255), dtype=np.uint8)


def _trimmed(picture: Picture, cover: Mask) -> tuple[Picture, Mask]:
    rows, columns = window_of(cover > 127)
    room = round(ROOM * max(rows.stop - rows.start, columns.stop - columns.start))
    window = window_of(cover > 127, room)
    return np.ascontiguousarray(picture[window]), np.ascontiguousarray(cover[window])
