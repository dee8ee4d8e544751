"""Garment photo in, cloth without its ground out."""

from __future__ import annotations

import numpy as np

from engines.base import EngineError, Picture
from engines.garment.canvas import MARGIN, clear_margin, lay_on_canvas
from engines.garment.cloth import Cloth
from engines.garment.clutter import mask_on_clutter
from engines.garment.ground import fit_ground
from engines.garment.matting import pull_matte
from engines.garment.plain import mask_on_plain_ground
from engines.garment.regions import BoolMask

LEAST_AREA = 0.03
"""A garment covers at least this share of its photo."""

MOST_AREA = 0.93
"""A mask larger than this share is the whole picture, not a garment."""

MOST_FRAME_CONTACT = 0.5
"""Largest share of the photo's border that a garment may touch; beyond it the cut-out is a detail or a failure."""


def cut_out(picture: Picture) -> Cloth:
    """Lift the garment off its ground.

    The cloth lies on a canvas of its own (`canvas.LONG_SIDE` plus a margin), not in the photo's pixels; landmarks
    are measured on that canvas.

    Args:
        picture: ``(height, width, 3)`` uint8 sRGB, upright.

    Raises:
        EngineError: ``garment_not_recognised`` when nothing stands out as one piece of clothing.
    """
    canvas = lay_on_canvas(picture)
    mask = garment_mask(canvas)
    return pull_matte(canvas, mask)


def garment_mask(canvas: Picture) -> BoolMask:
    """The garment's mask on the canvas: by its ground where that is plain, by its place and colours where not.

    Raises:
        EngineError: ``garment_not_recognised``.
    """
    ground = fit_ground(canvas)
    if ground.plain:
        mask = clear_margin(mask_on_plain_ground(canvas, ground))
        if _plausible(mask):
            return mask
    mask = clear_margin(mask_on_clutter(canvas))
    if _plausible(mask):
        return mask
    raise EngineError("garment_not_recognised", "No single garment stands out from the picture's ground.")


def _plausible(mask: BoolMask) -> bool:
    """Whether a mask has the size of a garment and is not cut by the frame all around."""
    photo_area = (mask.shape[0] - 2 * MARGIN) * (mask.shape[1] - 2 * MARGIN)
    if not LEAST_AREA < mask.sum() / photo_area < MOST_AREA:
        return False
    inner = mask[MARGIN:-MARGIN, MARGIN:-MARGIN]
    contact = np.concatenate([inner[0], inner[-1], inner[:, 0], inner[:, -1]]).mean()
    return bool(contact < MOST_FRAME_CONTACT)
