"""How a shoe looks right below the hem that cut it off: what goes on above, and what is the hem's own."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.channels import brightness
from engines.garment.regions import BoolMask, eroded

LEARNT, SHADED, ALIKE_WITHIN = 0.075, 0.022, 0.020
"""Height of the strip of the shoe whose colours go on and of the part of it that lies in the hem's shadow, and standard
deviation over which neighbouring columns of it have one colour, in shoulder widths."""

LIT, LIT_WITHIN, NO_SOLE = 0.97, 0.05, 0.87
"""Least brightness of what goes on over that of the strip around it, how far around, in shoulder widths, and over that
of the whole strip, below which is the sole."""

HEM_LINE = (0.86, 0.96)
"""Brightness over that of the shoe below which what lies along its cut edge is the hem's dark line wholly, and from
which it is none."""

SEAM = 5
"""Columns over which a seam or an eyelet interrupts the hem's dark line."""

SKIN_LIKE, SKIN_LIT = 0.07, (0.75, 1.5)
"""Largest difference from skin of equal brightness of what is no shoe but a bare foot, and between which brightnesses
over that of skin: brown leather is darker."""


def strip_below_hem(
    photo: NDArray[np.float32], labels: NDArray[np.uint8], edge: NDArray[np.float32], below: int, unit: float
) -> BoolMask:
    """``(h, w)``, the part of the shoe whose colours go on: right below its cut edge."""
    depth = np.arange(len(labels), dtype=np.float32)[:, None] - edge
    strip = eroded(labels == Label.FEET, 1) & (depth > SHADED * unit) & (depth < below)
    if not strip.any():
        return np.asarray(strip)
    light = brightness(photo)
    strip &= light > NO_SOLE * np.median(light[strip])
    near = strip.astype(np.float32)
    reach = max(LIT_WITHIN * unit, 1.0)
    usual = cv2.GaussianBlur(light * near, (0, 0), reach) / np.maximum(cv2.GaussianBlur(near, (0, 0), reach), 1e-3)
    # Its folds, seams and the shadows of its laces do not go on; a side of it that lies in shade does.
    return np.asarray(strip & (light > LIT * usual))


def line_of_hem(
    photo: NDArray[np.float32],
    shoe: BoolMask,
    colour: NDArray[np.float32],
    edge: NDArray[np.float32],
    unit: float,
) -> NDArray[np.float32]:
    """``(h, w)``, how far what lies right below the cut edge is the dark line of the hem, not the shoe, 0 to 1."""
    depth = np.arange(len(photo), dtype=np.float32)[:, None] - np.floor(edge)
    # A line of the shoe further down is its own.
    near = np.clip(2.0 - depth / (SHADED * unit), 0.0, 1.0) * (depth >= 0.0)
    lit = cv2.GaussianBlur(brightness(photo), (0, 0), 0.6) / np.maximum(brightness(colour), 0.02)
    dark = np.where(depth < 0.0, 1.0, np.clip((HEM_LINE[1] - lit) / (HEM_LINE[1] - HEM_LINE[0]), 0.0, 1.0))
    dark = np.minimum.accumulate(dark, axis=0)
    # Where no shoe shines below it, it is a sole; a seam may interrupt it.
    ends = np.where((near > 0.0) & shoe, dark, 1.0).min(axis=0) < 0.5
    ends = ndimage.binary_opening(ndimage.binary_closing(ends, iterations=SEAM), iterations=SEAM)
    return np.asarray(dark * near * ends, np.float32)


def colours_going_on(photo: NDArray[np.float32], strip: BoolMask, unit: float) -> NDArray[np.float32]:
    """``(1, w, 3)``: the colour of the shoe in each column, as its strip has it there or nearest to it."""
    pixels, columns = strip.sum(axis=0), np.arange(strip.shape[1])
    sums, known = (photo * strip[..., None]).sum(axis=0), pixels > 0
    colours = [np.interp(columns, columns[known], sums[known, k] / pixels[known]) for k in range(3)]
    return ndimage.gaussian_filter1d(np.stack(colours, axis=1).astype(np.float32), ALIKE_WITHIN * unit, axis=0)[None]


def like_skin(shoe: NDArray[np.float32], skin: NDArray[np.float32]) -> bool:
    """Whether what stands below a leg is a bare foot."""
    one, other = (np.median(pixels, axis=0) for pixels in (shoe, skin))
    light, usual = max(float(one.mean()), 0.05), max(float(other.mean()), 0.05)
    return bool(np.abs(one / light - other / usual).max() < SKIN_LIKE and SKIN_LIT[0] < light / usual < SKIN_LIT[1])
