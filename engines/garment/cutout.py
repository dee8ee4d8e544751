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
from engines.garment.regions import BoolMask, runs_of

LEAST_AREA = 0.03
"""A garment covers at least this share of its photo."""

MOST_AREA = 0.93
"""A mask larger than this share is the whole picture, not a garment."""

MOST_FRAME_CONTACT = 0.5
"""Largest share of the photo's border that a garment may touch; beyond it the cut-out is a detail or a failure."""

MOST_PLACES = 6
"""Largest number of places in which it may; more are the joints of tiles, boards or bricks it lies on."""

CUT_ABOVE, CUT_BELOW, SOME_ROOM = 0.2, 0.4, 0.02
"""Shares of the garment's greatest width that the upper and the lower border may cut, and the room beside it or at its
other end, as a share of the picture, from which the border does cut: where there is none the picture is trimmed."""

SHOW_ALL = "Send a picture that shows all of the garment, with some plain ground around it."


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
    mask = clear_margin(mask_on_plain_ground(canvas, ground)) if ground.plain else np.zeros(canvas.shape[:2], bool)
    if not _plausible(mask):
        mask = clear_margin(mask_on_clutter(canvas))
    if not _plausible(mask):
        raise EngineError("garment_not_recognised", "No single garment stands out from the picture's ground.")
    if _cut_off(mask[MARGIN:-MARGIN, MARGIN:-MARGIN]):
        raise EngineError("garment_not_recognised", "The picture cuts the garment off.", advice=SHOW_ALL)
    return mask


def _plausible(mask: BoolMask) -> bool:
    """Whether a mask has the size of a garment and is not cut by the frame all around."""
    photo_area = (mask.shape[0] - 2 * MARGIN) * (mask.shape[1] - 2 * MARGIN)
    if not LEAST_AREA < mask.sum() / photo_area < MOST_AREA:
        return False
    inner = mask[MARGIN:-MARGIN, MARGIN:-MARGIN]
    sides = inner[0], inner[-1], inner[:, 0], inner[:, -1]
    places = sum(len(runs_of(side)) for side in sides)
    return bool(places <= MOST_PLACES and np.concatenate(sides).mean() < MOST_FRAME_CONTACT)


def _cut_off(mask: BoolMask) -> bool:
    """Whether the upper or the lower border of the picture runs through the garment: most often somebody wears it."""
    widths = mask.sum(axis=1)
    if max(widths[0] / CUT_ABOVE, widths[-1] / CUT_BELOW) < widths.max():
        return False
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    height, width = mask.shape
    beside = max(columns[0], width - 1 - columns[-1]) / width
    beyond = max(rows[0], height - 1 - rows[-1]) / height
    return bool(max(beside, beyond) > SOME_ROOM)
