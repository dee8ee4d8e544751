"""The parts that the drapers hand to the compositor."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engines.regions import window_of

Reals: TypeAlias = NDArray[np.floating[Any]]
"""What callers may pass where a float array is read: either precision."""


@dataclass(frozen=True)
class Piece:
    """One part of a garment laid on the body, in the pixels of the working photo.

    Attributes:
        name: ``torso``, ``left_sleeve``, ``right_leg``, ``skirt`` …
        colour: ``(H, W, 3)`` float32 sRGB, 0 to 1, premultiplied by ``alpha``.
        alpha: ``(H, W)`` float32, 0 to 1.
        across: ``(H, W)`` float32, -1 at one edge of the piece to 1 at the other, 0 on its axis; used for shading.
        mesh: ``(rows, cols, 2)`` float32, x and y of the points between which the cloth was stretched; the rows of a
            sleeve begin at its seam.
        behind: ``(H, W)`` float32, 0 to 1, cover of what lies behind the neck and throws no shadow on it; None if
            nothing does.
    """

    name: str
    colour: NDArray[np.float32]
    alpha: NDArray[np.float32]
    across: NDArray[np.float32]
    mesh: NDArray[np.float32] = field(default_factory=lambda: np.zeros((0, 0, 2), np.float32))
    behind: NDArray[np.float32] | None = None

    @cached_property
    def window(self) -> tuple[slice, slice]:
        """Rows and columns that it lies in; empty where it is nowhere."""
        return window_of(self.alpha > 0)


@dataclass(frozen=True)
class Drape:
    """A garment on the body.

    Attributes:
        pieces: Back to front.
        checks: Figures by which the fit is judged, each named for what it measures.
    """

    pieces: tuple[Piece, ...]
    checks: dict[str, float]

    @property
    def alpha(self) -> NDArray[np.float32]:
        """Cover of all pieces together, ``(H, W)`` float32, 0 to 1."""
        open_share = np.ones_like(self.pieces[0].alpha)
        for piece in self.pieces:
            open_share *= 1.0 - piece.alpha
        return 1.0 - open_share
