"""Below the end of its old sleeve the seen skin of an arm goes over into the invented one, along the arm."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.garment.regions import BoolMask, window_of
from engines.warp.body.bare_parts import BarePart, clothed_until
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.skin.faded_skin import like_skin

COLUMNS = 11
"""Strips across an arm in which the end of its sleeve is looked for."""

MOST_SLANT, LEAST_PIXELS = 0.12, 3
"""How far above or below its end on the arm's axis a sleeve ends at an edge, as a share of the arm, and pixels of it in
a strip that are enough; cloth that goes on further down is before the arm."""

ROUNDED = 1.2
"""Standard deviation over which the sleeve's end is smoothed, in strips."""

IN_SHADOW, SEEN_FROM = 0.05, 0.24
"""How far below its sleeve skin lies in its shadow, and from where on it is left as the photo shows it, in shoulder
widths."""

SEEN_AT_MOST = 0.5
"""Share of what is seen of an arm that may change."""


def below_cuffs(
    photo: NDArray[np.float32],
    skin: NDArray[np.float32],
    old: BoolMask,
    arms: dict[int, BarePart],
    body: BodyModel,
) -> NDArray[np.float32]:
    """How far invented skin takes the place of seen skin below old sleeves, ``(height, width)``, 0 to 1.

    What a sleeve threw its shadow on goes, and over a stretch that nobody sees as a line the rest comes.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        skin: The invented skin, of the same shape.
        old: ``(height, width)``, the old garment.
        arms: Both whole arms by picture side.
        body: The body in the photo.
    """
    share = np.zeros(body.shape, np.float32)
    for side, limb in body.arms.items():
        end, part = clothed_until(limb, old), arms[side]
        if end <= 0.0 or end >= 1.0 or not part.on.any():
            continue
        window = window_of(part.on & (part.share > end - MOST_SLANT), 1)
        on = part.on[window] & (body.labels[window] == Label.ARMS)
        below = (part.share[window] - _end_of_sleeve(part, old, end, window)) * part.length / body.shoulder_width
        until = min(SEEN_FROM, SEEN_AT_MOST * (1.0 - end) * part.length / body.shoulder_width)
        fading = 1.0 - ease((below - IN_SHADOW) / max(until - IN_SHADOW, 0.01))
        taken = fading * like_skin(photo[window], skin[window]) * on
        share[window] = np.maximum(share[window], taken)
    return share


def _end_of_sleeve(part: BarePart, old: BoolMask, end: float, window: tuple[slice, slice]) -> NDArray[np.float32]:
    """``(h, w)`` of a window: share of the arm at which its sleeve ends, at each place across it.

    Args:
        part: The whole arm.
        old: ``(height, width)``, the old garment.
        end: Share at which it ends on the axis.
        window: Rows and columns that hold its end and what is below.
    """
    across, share = part.across[window], part.share[window]
    near = part.on[window] & old[window] & (np.abs(share - end) < 2.0 * MOST_SLANT)
    strip = np.clip(((across[near] + 1.0) * (COLUMNS / 2.0)).astype(np.int64), 0, COLUMNS - 1)
    lowest = np.full(COLUMNS, -np.inf)
    np.maximum.at(lowest, strip, share[near])
    told = (np.bincount(strip, minlength=COLUMNS) >= LEAST_PIXELS) & (np.abs(lowest - end) < MOST_SLANT)
    index = np.arange(COLUMNS)
    line = np.interp(index, index[told], lowest[told]) if told.any() else np.full(COLUMNS, end)
    line = np.asarray(cv2.GaussianBlur(line[None], (0, 0), ROUNDED, borderType=cv2.BORDER_REPLICATE))[0]
    centres = (index + 0.5) * (2.0 / COLUMNS) - 1.0
    return np.asarray(np.interp(across, centres, line), np.float32)
