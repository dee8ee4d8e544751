"""A closed garment worn open: its front parted along the axis, so that what is under it is seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engines.garment.cloth import Cloth
from engines.garment.upper_landmarks import UpperLandmarks
from engines.warp.pieces import Piece
from engines.warp.ribbon import Ribbon, draw

GAP_AT_NECK, GAP_AT_HEM = 0.16, 0.40
"""Half width of the opening over half width of the torso. Above 0.5 the cloth at the sides would fold over."""

GAP_POWER = 0.7
"""How fast the opening widens on its way down: below 1 it is wide early, as a coat hanging from the shoulders is."""

EDGE = 1.0
"""Width of the soft edge of the parted front, canvas pixels."""


def drawn_open(ribbon: Ribbon, cloth: Cloth, marks: UpperLandmarks, shape: tuple[int, int]) -> Piece:
    """Draw a torso whose front is open.

    Beside the opening the cloth keeps its scale; towards the sides it turns away and is seen ever narrower.

    Args:
        ribbon: The torso as it lies closed.
        cloth: The torso's cloth.
        marks: Of the garment.
        shape: ``(height, width)`` of the working photo.

    Returns:
        The piece ``torso``, both halves in one.
    """
    columns = np.arange(cloth.alpha.shape[1], dtype=np.float32)
    halves = []
    for side in (-1, 1):
        own = np.clip(0.5 + side * (columns - marks.axis) / EDGE, 0.0, 1.0)
        half = Cloth(cloth.colour, (cloth.alpha * own).astype(np.float32))
        halves.append(draw(parted(ribbon, side), half, shape, "torso"))
    first, second = halves
    seen = 1.0 - first.alpha
    return replace(
        first,
        colour=(first.colour + second.colour * seen[..., None]).astype(np.float32),
        alpha=(first.alpha + second.alpha * seen).astype(np.float32),
        across=np.where(first.alpha >= second.alpha, first.across, second.across).astype(np.float32),
        mesh=ribbon.target,
    )


def parted(ribbon: Ribbon, side: int) -> Ribbon:
    """One half of a torso moved off the axis.

    Args:
        ribbon: Of the whole torso; ``across`` runs from -1 to 1.
        side: -1 for the half at the left of the picture, 1 for that at the right.

    Returns:
        A ribbon of the same rows and of the columns of that half, whose outer edge stays where it was.
    """
    rows, columns = ribbon.source.shape[:2]
    even = np.linspace(-1.0, 1.0, columns, dtype=np.float32)
    across = np.broadcast_to(even if ribbon.across is None else ribbon.across, (rows, columns))
    down = np.linspace(0.0, 1.0, rows, dtype=np.float32)[:, None] ** GAP_POWER
    gap = GAP_AT_NECK + (GAP_AT_HEM - GAP_AT_NECK) * down
    share = side * across
    moved = gap + share - gap * np.clip(share, 0.0, 1.0) ** 2
    # Where along its own row a point of the moved half was before; what hangs over the outer edge stays.
    target = np.stack([_row_at(ribbon.target[row], across[row], side * moved[row]) for row in range(rows)])
    target = np.where(share[..., None] < 1.0, target, ribbon.target)
    # One column beyond the axis, so that the cloth's own edge ends the half and not the grid.
    own = slice(columns // 2 - 1, None) if side > 0 else slice(None, columns // 2 + 2)
    return Ribbon(ribbon.source[:, own], target[:, own].astype(np.float32), across[:, own].astype(np.float32))


def _row_at(
    points: NDArray[np.float32], across: NDArray[np.float32], wanted: NDArray[np.float32]
) -> NDArray[np.float32]:
    """``(n, 2)`` points of a row at other positions across it."""
    x, y = (np.interp(wanted, across, points[:, axis]) for axis in (0, 1))
    return np.stack([x, y], axis=1).astype(np.float32)
