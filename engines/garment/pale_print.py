"""The outline of a garment whose print is as pale as its ground: white stripes or flowers that end at the edge.

Lightness tells nothing there: the flood runs into the print, or takes ground between two dark stripes for print. Two
things still tell. Shadow and ground keep the ground's hue, and the pale cloth may have another. Where it has none, the
darker parts of the print do: what lies between them is cloth.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.channels import distance as colour_distance
from engines.garment.ground import Ground
from engines.garment.regions import BoolMask, closed, dilated, eroded, largest, opened, window_of

REACH = 18
"""How far the outline may be wrong, canvas pixels."""

ALIKE, ALIKE_HUE = 12.0, 8.0
"""Distance from the ground's colour up to which cloth can be taken for ground, and its part in a and b, CIE Lab."""

LEAST_ALIKE, MOST_ALIKE = 0.01, 0.9
"""Share of the garment's inside that is so alike: with less there is no pale print, with more there is nothing else."""

TOLD_HUE, OVER_NOISE = 2.5, 3.0
"""Least difference in hue of the pale cloth, CIE Lab and in spreads of the ground's own hue; half of it is cloth."""

SURE_HUE, SURE_OVER_NOISE = 4.0, 2.0
"""Difference in hue from which anything is cloth, likewise."""

SURE_DEPTH = 0.5
"""Share of the ground's lightness below which nothing is shadow."""

DARKER = 2.0
"""By how much pale cloth is darker than its ground, CIE Lab, where it may pass for a shadow; else it is found without
this."""

GAPS = (3, 6, 9, 12)
"""Half the width of pale print that is bridged, canvas pixels; the narrowest that does is taken."""

BRIDGED = 0.985
"""Share of the garment's inside that sure cloth and bridges cover, or the outline is left as it was."""

STRAIGHT = 3.0
"""By how much farther gaps are bridged where the hue does not tell, so that bridges are straight."""

SCRAP = 4
"""Half the width of scraps that are taken off, canvas pixels."""

SCRAP_WIDTH, SCRAP_HEIGHT = 0.13, 0.04
"""Most that a scrap under the hem measures, as shares of the garment's width and height."""

PALE_GROUND = 50.0
"""Lightness of the ground, CIE Lab, from which the dark parts of a print can be told from it by darkness alone."""

PALE_SCRAP_WIDTH, THIN_END, PALE_ROWS = 0.25, 5, 3
"""The same width of one that is as pale as the ground for at least the last number of canvas pixels; the dark line that
may end it, at most so thick, is the back's. The hem ended above it, with the last dark part of its print."""


def settled_by_print(lab: NDArray[np.float32], ground: Ground, mask: BoolMask) -> BoolMask:
    """The mask with its outline put where the sure cloth ends, if the garment has a print as pale as its ground.

    Args:
        lab: ``(h, w, 3)`` CIE Lab of the canvas, a little blurred: cameras store hue more coarsely than lightness.
        ground: The surface fitted to its border.
        mask: ``(h, w)``, what was found so far.

    Returns:
        The mask itself where no such print is, or where too little of the garment is sure.
    """
    core = eroded(mask, REACH)
    alike = _alike(lab, ground, core)
    if not LEAST_ALIKE * core.sum() < alike.sum() < MOST_ALIKE * core.sum():
        return mask
    outer = dilated(mask, REACH)
    if outer.all():
        return mask
    change_a, change_b = (lab[..., channel] - ground.colour[..., channel] for channel in (1, 2))
    hue = cv2.magnitude(change_a, change_b)
    change_of_light = lab[..., 0][alike] - ground.colour[..., 0][alike]
    noise = float(np.percentile(hue[~outer], 98))
    dark = np.asarray(lab[..., 0] < SURE_DEPTH * ground.colour[..., 0])
    sure = (hue > max(SURE_HUE, SURE_OVER_NOISE * noise)) | dark
    pale = np.array([np.median(change_a[alike]), np.median(change_b[alike])])
    strength = float(np.hypot(*pale))
    told = strength > max(TOLD_HUE, OVER_NOISE * noise)
    if told:
        sure |= (change_a * pale[0] + change_b * pale[1]) > 0.5 * strength**2
    # Where two colours of the print run into one another, their mix has no hue.
    sure |= mask & (colour_distance(lab, ground.colour) > ALIKE)
    gap = _gap(sure, core)
    if gap is None or not (told or float(np.median(change_of_light)) < -DARKER):
        return mask
    gap = gap if told else round(STRAIGHT * gap)
    found = core | (outer & closed(sure & outer, gap))
    found = largest(opened(found, max(gap // 3, SCRAP)), keep_share=0.1)
    # Hue bleeds over the edge by a pixel, darkness does not.
    if told:
        return eroded(found, 1)
    pale_ground = float(np.median(ground.colour[..., 0])) > PALE_GROUND
    return _without_hem_scraps(found, dark if pale_ground else np.ones_like(dark))


def _alike(lab: NDArray[np.float32], ground: Ground, core: BoolMask) -> BoolMask:
    """``(h, w)``: what of the garment's inside can be taken for ground."""
    alike = np.zeros_like(core)
    window = window_of(core)
    seen, beside = lab[window], ground.colour[window]
    if not seen.size:
        return alike
    change_a, change_b = (seen[..., channel] - beside[..., channel] for channel in (1, 2))
    within = core[window] & (cv2.magnitude(change_a, change_b) < ALIKE_HUE)
    within[within] = colour_distance(seen[within][None], beside[within][None])[0] < ALIKE
    alike[window] = within
    return alike


def _without_hem_scraps(mask: BoolMask, dark: BoolMask) -> BoolMask:
    """The mask without what hangs out under the hem over a short stretch: the back, beyond a pale edge of the front.

    Args:
        mask: ``(h, w)``, the garment.
        dark: ``(h, w)``, what is too dark for ground in a shadow.
    """
    rows, columns = window_of(mask)
    if not mask[rows].size:
        return mask
    last = np.where(mask.any(axis=0), mask.shape[0] - 1 - mask[::-1].argmax(axis=0), 0)[columns]
    most = SCRAP_HEIGHT * (rows.stop - 1 - rows.start)
    ends = _levelled(last, SCRAP_WIDTH, most)
    hanging = _levelled(ends, PALE_SCRAP_WIDTH, most) < ends
    ends = np.where(hanging, _above_pale_end(dark[:, columns], ends, int(most)), ends)
    kept = mask.copy()
    kept[:, columns] &= np.arange(mask.shape[0])[:, None] <= ends[None]
    return kept


def _above_pale_end(dark: BoolMask, ends: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """``(n,)`` last rows above what is pale near the given ones, and those themselves where nothing is.

    Args:
        dark: ``(h, n)``, what is too dark for ground in a shadow.
        ends: ``(n,)`` last rows of the garment.
        most: How far up is looked, rows.
    """
    rows = np.arange(most)[:, None]
    upwards = np.take_along_axis(dark, np.clip(ends[None] - rows, 0, None), axis=0)
    thin = (~upwards).argmax(axis=0)
    again = (upwards & (rows > thin)).argmax(axis=0)
    return np.where((thin <= THIN_END) & (again - thin >= PALE_ROWS), ends - again, ends)


def _levelled(last: NDArray[np.int64], width: float, most: float) -> NDArray[np.int64]:
    """``(n,)`` last rows without stretches that hang down over a share of all columns, by so many rows at most."""
    level = ndimage.grey_opening(last, (max(3, int(width * len(last))),), mode="nearest")
    return np.where(last - level <= most, level, last)


def _gap(sure: NDArray[np.bool_], core: BoolMask) -> int | None:
    """Half the width of the gaps that have to be bridged to make one piece of the sure cloth; None if that fails."""
    for gap in GAPS:
        if (closed(sure, gap) & core).sum() > BRIDGED * core.sum():
            return gap
    return None
