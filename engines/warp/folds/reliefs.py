"""Reliefs of cloth, and light that falls on them; that of a skirt is buckled and kept.

``python -m engines.warp.folds.reliefs`` buckles it anew, in some seconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.warp.folds.buckling import buckled
from engines.warp.folds.excess import Sheet, skirt

Share: TypeAlias = NDArray[np.float32] | float
"""Part of a unit vector, everywhere the same or ``(h, w)``."""

SKIRT = Sheet(1.00, 1.70, 0.010, 0.50, skirt(), 4)
"""The only cloth that is buckled: what hangs freely has long soft folds."""

KEPT = Path(__file__).parent / "heights" / "skirt.png"

FINEST = 1e-6
"""Height of one step of what is kept, shoulder widths."""

HOLLOW = 0.05
"""Standard deviation of the surroundings that a place is compared with to tell whether it lies in a valley, shoulder
widths."""

LIT, SHADED = 0.8, 1.7
"""How much of the light that falls on slopes is seen, and share of the light that a valley loses for each hundredth of
a shoulder width of its depth, times a hundred: real light comes from everywhere, and fills both."""

UPWARDS, FORWARDS = 0.6, 0.9
"""How far light comes from the side that it is said to come from, over how far from the front."""


@dataclass(frozen=True)
class Relief:
    """Folds of one part of a garment.

    Attributes:
        sheet: The cloth.
        form: ``(h, w, 3)`` float32: slope along x and along y, and height over that of the surroundings.
    """

    sheet: Sheet
    form: NDArray[np.float32]

    def mixed(self, other: Relief, share: float) -> Relief:
        """Folds between these and a share of others of the same sheet."""
        return Relief(self.sheet, self.form + np.float32(share) * (other.form - self.form))

    def light(self, x: NDArray[np.float32], y: NDArray[np.float32], way: tuple[Share, Share]) -> NDArray[np.float32]:
        """Change of light around 0: below it in valleys and on slopes that face away.

        Args:
            x: ``(h, w)`` places on the sheet, shoulder widths from its middle; flat beyond its edge.
            y: ``(h, w)`` the same from its upper edge.
            way: Where light comes from along x and along y.
        """
        dots = np.float32(1 / self.sheet.spacing)
        form = cv2.remap(
            self.form, (x + np.float32(self.sheet.wide / 2)) * dots, y * dots, cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_CONSTANT, borderValue=0,
        )  # fmt: skip
        across, down, height = cv2.split(form)
        facing = 1 - np.float32(UPWARDS / FORWARDS) * (across * way[0] + down * way[1])
        lit = facing / np.sqrt(1 + across * across + down * down) - 1
        return np.asarray(np.float32(LIT) * lit + np.float32(SHADED) * height, dtype=np.float32)


@cache
def skirt_relief() -> Relief:
    """The folds of cloth that hangs from the waist, read once."""
    steps = np.asarray(cv2.imread(str(KEPT), cv2.IMREAD_UNCHANGED), dtype=np.float32)
    return relief_of(SKIRT, steps * np.float32(FINEST))


def relief_of(sheet: Sheet, heights: NDArray[np.float32]) -> Relief:
    """What light needs to know of the ``(h, w)`` heights of a sheet, shoulder widths."""
    down, across = np.gradient(heights, sheet.spacing)
    around = cv2.GaussianBlur(heights, (0, 0), HOLLOW / sheet.spacing)
    return Relief(sheet, np.dstack([across, down, heights - around]).astype(np.float32))


def make() -> None:
    """Buckle the sheet of a skirt, and keep its heights."""
    steps = np.rint(buckled(SKIRT) / FINEST).clip(0, 65535)
    cv2.imwrite(str(KEPT), steps.astype(np.uint16), [cv2.IMWRITE_PNG_COMPRESSION, 9])


if __name__ == "__main__":
    make()
