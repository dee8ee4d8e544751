"""Streaks of light along a plain sleeve: the crease it was pressed in shines on a table, and not on a round arm."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import on_channels
from engines.garment.cloth import Cloth
from engines.garment.ground import to_lab
from engines.garment.regions import BoolMask, dilated, window_of
from engines.garment.sleeves import Sleeve

LONG = 1.5
"""Length from which a sleeve has such creases, in lengths of its seam."""

USUAL, RARE, PLAIN, PLAIN_LIGHT = 50, 98, (4.0, 8.0), 16.0
"""Percentiles of the distance from a sleeve's middle colour, and up to which hue and lightness differ there where it is
plain, CIE Lab: stripes along a sleeve and letters on it are no light."""

FEW = 3
"""Steps in which pixels are asked whether the sleeve is plain."""

ACROSS, ALONG, FINE = 0.12, 0.02, 1.0
"""Blur of the colours across the sleeve, in lengths of its seam, and along it, in its lengths; and across it where
streaks are still seen, canvas pixels."""

FAINT = 14.0
"""Difference up to which a streak is light, CIE Lab; at twice as much, it is something else."""

AROUND, EDGE = 24, 4
"""Canvas pixels around a sleeve that are looked at, and over which what is changed goes over into what is not."""


def without_streaks(cloth: Cloth, sleeves: tuple[Sleeve, Sleeve], parts: BoolMask) -> Cloth:
    """The cloth with the light of plain long sleeves evened out across them; weave and folds across them stay.

    Args:
        cloth: The garment.
        sleeves: Left and right in the picture.
        parts: ``(2, h, w)`` bool, the sleeves' cloth.
    """
    colour = cloth.colour
    for sleeve in {id(sleeve): sleeve for sleeve in sleeves}.values():
        part = parts[0 if sleeve.side < 0 else 1]
        window = window_of(part, AROUND)
        seam = float(np.linalg.norm(sleeve.upper[0] - sleeve.lower[0]))
        if sleeve.length < LONG * seam or not part[window].size:
            continue
        pixels = np.clip(cloth.colour[window] * 255, 0, 255).astype(np.uint8)
        some = pixels[::FEW, ::FEW][(part[window] & (cloth.alpha[window] > 0.9))[::FEW, ::FEW]]
        if not len(some) or not _plain(to_lab(some[None])[0]):
            continue
        lab = to_lab(pixels)
        near = cv2.GaussianBlur(dilated(part[window], EDGE).astype(np.float32), (0, 0), EDGE)
        even = lab + _evening(lab, sleeve, seam) * on_channels(near)
        colour = colour.copy() if colour is cloth.colour else colour
        change = cv2.cvtColor(even, cv2.COLOR_LAB2RGB) - cv2.cvtColor(lab, cv2.COLOR_LAB2RGB)
        colour[window] = np.clip(colour[window] + change.astype(np.float32), 0, 1)
    return cloth if colour is cloth.colour else replace(cloth, colour=colour)


def _plain(lab: NDArray[np.float32]) -> bool:
    """Whether ``(n, 3)`` colours are those of cloth without a print."""
    away = np.abs(lab - np.median(lab, axis=0))
    hue = np.linalg.norm(away[:, 1:], axis=1)
    usual = float(np.percentile(np.linalg.norm(away, axis=1), USUAL))
    rare = float(np.percentile(hue, RARE))
    return usual < PLAIN[0] and rare < PLAIN[1] and float(np.percentile(away[:, 0], 90)) < PLAIN_LIGHT


def _evening(lab: NDArray[np.float32], sleeve: Sleeve, seam: float) -> NDArray[np.float32]:
    """``(h, w, 3)`` what is missing for a light that goes evenly across a sleeve, CIE Lab."""
    middle = (sleeve.upper + sleeve.lower) / 2
    # Near the seam the middle line bends towards it.
    way = middle[-1] - middle[len(middle) // 6]
    angle = float(np.arctan2(way[0], way[1]))
    height, width = lab.shape[:2]
    cos, sin = abs(np.cos(angle)), abs(np.sin(angle))
    size = (int(width * cos + height * sin) + 2, int(width * sin + height * cos) + 2)
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), -float(np.degrees(angle)), 1.0)
    turn = np.asarray(turn, np.float64) + np.array([[0, 0, (size[0] - width) / 2], [0, 0, (size[1] - height) / 2]])
    upright = cv2.warpAffine(lab, turn, size, borderMode=cv2.BORDER_REPLICATE)
    along, across = max(ALONG * sleeve.length, 1.0), max(ACROSS * seam, 1.0)
    streaked = cv2.GaussianBlur(upright, (0, 0), sigmaX=FINE, sigmaY=along)
    missing = cv2.GaussianBlur(upright, (0, 0), sigmaX=across, sigmaY=along) - streaked
    missing *= on_channels(np.clip(2 - np.linalg.norm(missing, axis=2) / FAINT, 0, 1).astype(np.float32))
    back = cv2.warpAffine(missing, turn, (width, height), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
    return np.asarray(back, np.float32)
