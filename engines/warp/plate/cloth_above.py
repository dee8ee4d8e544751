"""The colours of trousers or a skirt above where the photo shows them."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import on_channels
from engines.filling import carried_out, fill_from
from engines.garment.regions import BoolMask, eroded
from engines.warp.body.model import BodyModel
from engines.warp.plate.waistband import UpperEnd

RIM = 3
"""Pixels of the seen garment beside the old one that are mixed with it."""

SHADED = 0.05
"""Strip of the seen garment beside the old hem whose colours do not count, in torso lengths: pockets, belt loops and
folds begin there."""

THREAD, MOST_THREAD, SURE = 0.015, 0.07, 0.99
"""Size of the weave that is carried on, in shoulder widths; its largest difference from the colour of the cloth, so
that buttons and pockets are not drawn twice; and the share of a pixel from which it is that cloth."""

NEAR, LEAST_NEAR = 0.03, 0.02
"""Over how far around a place its colour is that of the cloth beside it, in shoulder widths (standard deviation), and
the least share of cloth there."""


def cloth_above(photo: NDArray[np.float32], seen: BoolMask, body: BodyModel, end: UpperEnd) -> NDArray[np.float32]:
    """The garment below the waist as it is above its seen edge.

    Under a hem, that is its colour with the weave that is seen below; where the top hung a little over a waistband that
    is seen, that itself once more.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        seen: ``(height, width)``, the garment as far as it is seen.
        body: The body in the photo.
        end: Its upper end.

    Returns:
        ``(height, width, 3)`` float32, its colour in the window of its end, and that of plain cloth elsewhere.
    """
    inner = eroded(seen, RIM)
    deep = inner & (body.heights > end.edge.at(body.laterals) + SHADED)
    smooth = fill_from(photo, deep if deep.any() else inner)
    colour, window = smooth.copy(), end.window
    as_seen, known = _reflected(photo, inner, body, end)
    if end.hidden > 0.0:
        fine = as_seen - cv2.GaussianBlur(as_seen, (0, 0), max(THREAD * body.shoulder_width, 1.0))
        sure = cv2.GaussianBlur((known > SURE).astype(np.float32), (0, 0), 1.5)
        colour[window] += np.clip(fine, -MOST_THREAD, MOST_THREAD) * on_channels(np.asarray(sure, np.float32))
    if end.hidden < 1.0:
        near, weight = carried_out(photo[window], inner[window].astype(np.float32), NEAR * body.shoulder_width)
        beside = (weight > LEAST_NEAR) * np.float32(1.0 - end.hidden)
        colour[window] += (near - colour[window]) * on_channels(np.asarray(beside, np.float32))
        colour[window] += (as_seen - colour[window]) * on_channels(known * np.float32(1.0 - end.hidden))
    return colour


def _reflected(
    photo: NDArray[np.float32], inner: BoolMask, body: BodyModel, end: UpperEnd
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What lies as far below the upper edge of the seen garment, ``(h, w, 3)`` of the window of its end.

    Returns:
        The colours, and ``(h, w)`` from 0 to 1 where that is the garment.
    """
    rows, columns = end.window
    down, length = body.skeleton.down, np.float32(body.torso_length)
    above = np.maximum(end.seen.at(body.laterals[end.window]) - body.heights[end.window], 0.0) * length
    shift = 2.0 * above + np.where(above > 0.0, np.float32(RIM), np.float32(0.0))
    y, x = np.indices(above.shape, dtype=np.float32)
    x, y = x + np.float32(columns.start) + shift * down[0], y + np.float32(rows.start) + shift * down[1]
    x, y = np.asarray(x, np.float32), np.asarray(y, np.float32)
    colour = cv2.remap(photo, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(colour, np.float32), np.asarray(
        cv2.remap(inner.astype(np.float32), x, y, cv2.INTER_LINEAR), np.float32
    )
