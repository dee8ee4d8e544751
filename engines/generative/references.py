"""Prepares garment pictures for a network: trimmed, and without the person who wears the garment."""

from __future__ import annotations

import cv2
import numpy as np

from engines.base import Garment, Mask, OnStep, Picture, ShouldStop
from engines.errors import blamed_on
from engines.garment.cloth import MARGIN, Cloth
from engines.garment.lifting import Lifter
from engines.generative.painter import Reference
from engines.hint_sense import sensible_hints
from engines.regions import window_of

ROOM = 0.04
"""Ground left around a garment, as a share of its longer side."""

WHITE = 255.0


def reference_of(garment: Garment, lifter: Lifter, on_step: OnStep, should_stop: ShouldStop) -> Reference:
    """Find the garment in its picture and trim the picture to it.

    Raises:
        EngineError: ``garment_not_recognised``: nothing in the picture is a garment, or its wearer hides too much.
        RenderStopped: ``should_stop`` said so.
    """

    def isolated(picture: Picture) -> tuple[Picture, Mask, bool]:
        with blamed_on(garment):
            cloth = lifter.lift(picture, garment.category, on_step, should_stop)
        if cloth.worn or cloth.turned:
            return *_trimmed(_on_white(cloth), _as_mask(cloth)), cloth.worn
        return *_trimmed(picture, _cover_in(picture, cloth)), False

    picture, cover, was_worn = isolated(garment.picture)
    back = None
    if garment.back_picture is not None and sensible_hints(garment).view_angle == "back":
        back, _, _ = isolated(garment.back_picture)
    return Reference(garment, picture, cover, back, was_worn)


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
