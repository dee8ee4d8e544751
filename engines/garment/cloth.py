"""Cloth: a garment lifted off its ground."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Cloth:
    """A garment lifted off its ground.

    Attributes:
        colour: ``(h, w, 3)`` float32 sRGB, 0 to 1, free of the ground's colour up to the edge and beyond it.
        alpha: ``(h, w)`` float32, 0 to 1.
        worn: Whether it was lifted off somebody: then a neck filled its opening, and no inside of its back is in view.
        sleeveless: Whether both arms of that person are bare up to the shoulder.
    """

    colour: NDArray[np.float32]
    alpha: NDArray[np.float32]
    worn: bool = False
    sleeveless: bool = False
