"""Cuffs of trousers that the labels call shoes, and shoes that they call trousers, told by their colours."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.filling import fill_from
from engines.garment.regions import closed, dilated, eroded, largest, opened, pieces, spread, window_of
from engines.warp.plate.stray_cloth import (
    AROUND_FEET,
    CLEARLY_CLOSER,
    LIKE_CLOTH,
    REDUCED,
    SEAM,
    distance_from,
    smoothed,
)

CUFF = 0.32
"""How far below the trousers their rolled cuffs and the ankles may be called shoes, in shoulder widths."""

INNER = 0.07
"""Depth within trousers from which they are surely none of the shoe, in shoulder widths."""

SHOE_COLOURS, SHOE_PIXELS = 6, 1500
"""Into how many colours the shoes are gathered, and from how many of their pixels."""

FOLD = 0.04
"""Size of the dark folds and light edges of a cuff, in shoulder widths."""

SOLE, CORNER = 0.09, 0.03
"""Half the width from which what hangs from trousers is their cuff, and what is narrower the dark sole of a heel beside
them, and how far the corners of a cuff stand out of that, in shoulder widths."""

LEAST_SOLE = 0.002
"""Area of the smallest such strip, in squared shoulder widths: smaller ones are the shadow in a corner of a hem."""

GOES_ON, BESIDE_STRIP, LEAST_GOING_ON = 0.08, 0.04, 0.12
"""Largest difference per channel from such a strip of the shoe that it goes on in, of full white, how far beside it
that is looked for, in shoulder widths, and least area of it over that of the strip."""

CRUMB = 0.02
"""Regions smaller than this share of the largest one are no trouser leg."""


def shoes_told_from_trousers(photo: NDArray[np.float32], labels: NDArray[np.uint8], unit: float) -> NDArray[np.uint8]:
    """Labels in which cuffs that were called shoes are trousers, and the other way round.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        labels: ``(height, width)`` of `Label`.
        unit: Shoulder width in pixels.
    """
    feet, trousers = np.asarray(labels == Label.FEET), largest(np.asarray(labels == Label.LOWER), CRUMB)
    reach = max(3, round(CUFF * unit))
    window = window_of(feet, reach + AROUND_FEET)
    cloth, sure = eroded(trousers, max(2, round(INNER * unit))), np.zeros_like(feet)
    if feet[window].size:
        sure[window] = eroded(feet[window] & ~dilated(trousers[window], reach), 1)
    if not sure.any() or not cloth.any():
        return labels
    fills = [fill_from(photo, known, REDUCED)[window] for known in (cloth, sure)]
    told = labels.copy()
    told[window] = _told_beside_feet(
        photo[window], labels[window], trousers=trousers[window], sure=sure[window], fills=fills, unit=unit
    )
    return told


def _told_beside_feet(
    photo: NDArray[np.float32],
    labels: NDArray[np.uint8],
    *,
    trousers: NDArray[np.bool_],
    sure: NDArray[np.bool_],
    fills: Sequence[NDArray[np.float32]],
    unit: float,
) -> NDArray[np.uint8]:
    """The same in a window around the feet.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        labels: ``(height, width)`` of `Label`.
        trousers: ``(height, width)``, without crumbs.
        sure: ``(height, width)``, what is far enough from them to be shoes for certain.
        fills: The colours of the trousers and of the shoes, continued over the window.
        unit: Shoulder width in pixels.
    """
    feet, smooth = np.asarray(labels == Label.FEET), smoothed(photo)
    from_cloth, from_shoe = (distance_from(smooth, colour) for colour in fills)
    like_shoe = (from_cloth > 1.5 * LIKE_CLOTH) & (from_shoe < CLEARLY_CLOSER * from_cloth)
    beside = (labels == Label.LOWER) & dilated(feet, max(2, round(INNER * unit)))
    fold = max(2, round(FOLD * unit))
    asked = beside & (from_cloth > 1.5 * LIKE_CLOTH)
    coloured = _of_shoe(photo[sure], smooth, asked, from_cloth)
    shoes = opened(beside & like_shoe, 1) | opened(beside & (like_shoe | coloured), 2)
    # Black laces and soles between what is shoe are shoe.
    shoes |= closed(shoes | feet, fold) & beside & dilated(shoes, fold)
    like_cloth = (from_cloth < LIKE_CLOTH) & (from_cloth < CLEARLY_CLOSER * from_shoe)
    near = dilated(trousers, max(3, round(CUFF * unit)))
    alike = opened(feet & near & like_cloth, 2)
    sole = _sole(smooth, trousers, alike, feet & ~alike, unit)
    alike &= ~sole
    cuffs = spread(alike & dilated(trousers & ~shoes, SEAM), alike)
    dark_folds = dilated(cuffs, fold) & (from_cloth < 2.0 * LIKE_CLOTH) & (from_cloth < from_shoe)
    cuffs = closed(dilated(cuffs | (dark_folds & feet), 2), fold) & feet & ~sole
    shoes &= spread(sure, shoes | (feet & ~cuffs))
    told = np.where(shoes, np.uint8(Label.FEET), labels)
    return np.asarray(np.where(cuffs, np.uint8(Label.LOWER), told), np.uint8)


def _sole(
    smooth: NDArray[np.float32],
    trousers: NDArray[np.bool_],
    alike: NDArray[np.bool_],
    shoe: NDArray[np.bool_],
    unit: float,
) -> NDArray[np.bool_]:
    """``(height, width)``: strips beside a hem that look like it and go on in a shoe: its dark sole and its heel.

    Args:
        smooth: ``(height, width, 3)``, the photo without its grain.
        trousers: ``(height, width)``, without crumbs.
        alike: ``(height, width)``, what was called a shoe and looks like them.
        shoe: ``(height, width)``, what was called a shoe and does not.
        unit: Shoulder width in pixels.
    """
    wide = opened(trousers | alike, max(3, round(SOLE * unit)))
    narrow = alike & ~dilated(wide, max(1, round(CORNER * unit)))
    found, margin = np.zeros_like(narrow), max(2, round(BESIDE_STRIP * unit))
    for window, strip in pieces(narrow, margin):
        if strip.sum() < LEAST_SOLE * unit * unit:
            continue
        beside = smooth[window][shoe[window] & dilated(strip, margin)]
        colour = np.median(smooth[window][strip], axis=0)
        goes_on = np.abs(beside - colour).mean(axis=1) < GOES_ON
        if goes_on.sum() > LEAST_GOING_ON * strip.sum():
            found[window] |= strip
    return found


def _of_shoe(
    pixels: NDArray[np.float32], smooth: NDArray[np.float32], asked: NDArray[np.bool_], from_cloth: NDArray[np.float32]
) -> NDArray[np.bool_]:
    """Which of the pixels asked about have one of the several colours of a shoe's pixels, ``(height, width)``."""
    alike = np.zeros(asked.shape, bool)
    if not asked.any() or len(pixels) < SHOE_COLOURS:
        return alike
    pixels = np.ascontiguousarray(pixels[:: max(1, len(pixels) // SHOE_PIXELS)])
    stop = (cv2.TERM_CRITERIA_MAX_ITER, 10, 0.0)
    cv2.setRNGSeed(0)
    _, _, colours = cv2.kmeans(pixels, SHOE_COLOURS, np.empty(0, np.int32), stop, 1, cv2.KMEANS_PP_CENTERS)
    nearest = np.min([np.abs(smooth[asked] - colour).sum(axis=1) for colour in colours], axis=0) / 3.0
    alike[asked] = (nearest < LIKE_CLOTH) & (nearest < CLEARLY_CLOSER * from_cloth[asked])
    return alike
