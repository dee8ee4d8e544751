"""The gap between two legs that nearly touch: ground that the cut-out took for cloth, and the crease above it."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from engines.channels import brightness, distance
from engines.garment.cloth import Cloth
from engines.garment.edges import row_edges
from engines.garment.lower_landmarks import LowerLandmarks
from engines.garment.notch import find_notch
from engines.garment.regions import BoolMask, dilated, largest, opened, reaching

SEARCHED_ABOVE, SEARCHED_BESIDE = 0.25, 0.06
"""The forgotten ground lies within this share of the height above the notch, and of the width beside it."""

LEG_FROM, LEG_TO = 0.08, 0.18
"""Where the cloth of a leg is looked at beside the notch, as shares of the garment's width."""

LEAST_CONTRAST, SPREADS = 0.12, 2.5
"""Ground differs from both legs by this much in sRGB, and by so many times what the cloth itself varies."""

LEAST_GROUND = 0.012
"""Height of forgotten ground over that of the garment, from which it counts."""

NARROWEST = 2
"""Half width of a strip, canvas pixels, that may be ground; narrower ones are folds and seams."""

HALO = 3
"""Canvas pixels around it that mix ground and cloth."""

CREASE_ABOVE, CREASE_BESIDE = 0.55, 0.10
"""The crease above the crotch lies within this share of the way to the waistband, and of the waistband's width."""

WIDEST_CREASE = 0.07
"""Its width at most, as a share of the waistband's width."""

CREASE_DEPTH, CREASE_SOFTENED = 0.06, 0.8
"""By how much it is at least darker than the cloth beside it, 0 to 1, and how much of that is taken away: trousers that
lie flat fold there, worn ones are pulled straight."""

PLAIN = 0.03
"""Largest usual difference of that kind in plain cloth; in a weave or a print no crease is told from it."""

CREASE_STARTS = 8
"""Canvas pixels around the crotch in which it starts."""


def without_ground_between_legs(cloth: Cloth) -> Cloth:
    """The cloth with the gap between its legs open up to the crotch.

    A narrow gap is easily closed where it ends. What is unlike the cloth of either leg, lies above the gap's end
    and reaches it, is ground; on cloth as varied as a print nothing is that unlike, and nothing is changed.

    Args:
        cloth: A garment for the lower body, cut out.
    """
    mask = largest(cloth.alpha > 0.5, 0.5)
    filled = np.flatnonzero(mask.any(axis=1))
    if not len(filled):
        return cloth
    top, bottom = int(filled[0]), int(filled[-1])
    first, last = row_edges(mask)
    width = float(np.nanmax(last - first))
    notch = find_notch(mask, top, bottom, float(np.nanmedian((first + last) / 2.0)), width)
    if notch is None:
        return cloth
    ground = _forgotten(cloth, mask, notch, width, bottom - top)
    if not ground.any():
        return cloth
    kept = 1.0 - cv2.GaussianBlur(dilated(ground, HALO).astype(np.float32), (0, 0), 0.7)
    return replace(cloth, alpha=np.asarray(cloth.alpha * kept, np.float32))


def with_soft_crease(cloth: Cloth, marks: LowerLandmarks) -> Cloth:
    """The cloth with the deep dark crease that runs up from the crotch of trousers lying flat made a shallow one.

    Args:
        cloth: A garment with legs, cut out.
        marks: Its landmarks.
    """
    (x, y), width = marks.crotch, marks.waist_width
    reach, height = int(CREASE_BESIDE * width), int(CREASE_ABOVE * (y - marks.top))
    window = (slice(int(y) - height, int(y) + CREASE_STARTS), slice(max(0, int(x) - reach), int(x) + reach + 1))
    seen = cloth.colour[window]
    row = np.ones((1, int(WIDEST_CREASE * width) | 1), np.uint8)
    beside = np.asarray(cv2.morphologyEx(seen, cv2.MORPH_CLOSE, row), np.float32)
    darker = brightness(beside) - brightness(np.ascontiguousarray(seen))
    if np.median(darker) > PLAIN:
        return cloth
    dark = np.asarray(darker > CREASE_DEPTH)
    start = np.zeros_like(dark)
    start[-2 * CREASE_STARTS :, max(0, reach - CREASE_STARTS) : reach + CREASE_STARTS] = True
    crease = dilated(reaching(dark, start, connectivity=8), NARROWEST).astype(np.float32)
    share = CREASE_SOFTENED * np.asarray(cv2.GaussianBlur(crease, (0, 0), 1.2), np.float32)
    colour = cloth.colour.copy()
    colour[window] = seen + (cv2.GaussianBlur(beside, (0, 0), 1.5) - seen) * share[..., None]
    return replace(cloth, colour=colour)


def _forgotten(cloth: Cloth, mask: BoolMask, notch: tuple[float, float], width: float, height: int) -> BoolMask:
    """The ground above the end of the gap."""
    x, y = round(notch[0]), round(notch[1])
    reach = max(4, int(SEARCHED_BESIDE * width))
    begin = max(0, y - int(SEARCHED_ABOVE * height))
    rows, columns = slice(begin, y + 2), slice(max(0, x - reach), x + reach + 1)
    unlike = np.ones((y + 2 - begin, cloth.colour[rows, columns].shape[1]), bool)
    for side in (-1, 1):
        near, far = x + side * int(LEG_FROM * width), x + side * int(LEG_TO * width)
        leg = cloth.colour[rows, max(0, min(near, far)) : max(near, far)].reshape(-1, 3)
        typical = np.median(leg, axis=0)
        spread = float(np.median(distance(leg, typical)))
        unlike &= distance(cloth.colour[rows, columns], typical) > max(LEAST_CONTRAST, SPREADS * spread)
    window = np.zeros_like(mask)
    # Opened together with the gap below, whose end it continues.
    window[rows, columns] = opened(unlike | ~mask[rows, columns], NARROWEST) & mask[rows, columns]
    # The very end of the gap is soft; ground reaches to within a few pixels of it.
    end = np.zeros_like(mask)
    end[y - 2 * HALO : y + 2, columns] = True
    ground = reaching(window, end, connectivity=8)
    tall = ground.any(axis=1).sum() > LEAST_GROUND * height
    return ground if tall else np.zeros_like(mask)
