"""Where cloth that hangs from the waist is longer than the body under it.

A place on a sheet is given in shoulder widths: ``x`` from its middle, ``y`` from its upper edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import cv2
import numpy as np
from numpy.typing import NDArray

CLUSTERED, SPREAD, MOST = 0.2, 1.1, 2.4
"""Mean, standard deviation and bound of what excess is multiplied by from place to place: folds come in clusters, and
no two garments were ever put on alike."""


class Band(NamedTuple):
    """Cloth pushed together in one direction, most in the middle of an area.

    Attributes:
        x: Of the middle.
        y: Of the middle.
        wide: Distance along x at which the excess is down to a third, shoulder widths.
        high: The same along y.
        turned: Direction in which it is pushed together, degrees; folds run across it.
        excess: By what share the cloth is longer than the body in that direction.
    """

    x: float
    y: float
    wide: float
    high: float
    turned: float
    excess: float

    def strength(self, x: NDArray[np.float32], y: NDArray[np.float32]) -> NDArray[np.float32]:
        """``(h, w)`` excess at each place."""
        return np.asarray(
            self.excess * np.exp(-(((x - self.x) / self.wide) ** 2) - ((y - self.y) / self.high) ** 2), dtype=np.float32
        )

    def way(self, x: NDArray[np.float32], y: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Unit vector of the excess at each place."""
        turned = np.radians(self.turned)
        return np.full_like(x, np.cos(turned)), np.full_like(y, np.sin(turned))


class Sheet(NamedTuple):
    """Cloth of one part of a garment, laid flat.

    Attributes:
        wide: Shoulder widths.
        high: Shoulder widths.
        spacing: Between neighbouring points, shoulder widths.
        cluster: Size of the clusters in which folds come, shoulder widths; 0 if they come everywhere alike.
        gathered: Where it is longer than the body.
        seed: Of everything that is by chance.
    """

    wide: float
    high: float
    spacing: float
    cluster: float
    gathered: Sequence[Band]
    seed: int

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of points."""
        return round(self.high / self.spacing) + 1, round(self.wide / self.spacing) + 1


def excess_of(sheet: Sheet) -> NDArray[np.float32]:
    """``(3, h, w)`` excess length of a sheet as a tensor: along x, between x and y, along y.

    Cloth that runs in the direction ``(u, v)`` is longer than the body by ``u * u * xx + 2 * u * v * xy + v * v * yy``.
    """
    rows, columns = sheet.shape
    x, y = np.meshgrid(
        np.linspace(-sheet.wide / 2, sheet.wide / 2, columns, dtype=np.float32),
        np.linspace(0, sheet.high, rows, dtype=np.float32),
    )
    tensor = np.zeros((3, rows, columns), dtype=np.float32)
    for place in sheet.gathered:
        strength, (u, v) = place.strength(x, y), place.way(x, y)
        tensor += np.stack([strength * u * u, strength * u * v, strength * v * v])
    if not sheet.cluster:
        return tensor
    cloudy = clouds(sheet, sheet.cluster, sheet.seed)
    clusters = np.clip(CLUSTERED + SPREAD * cloudy / cloudy.std(), 0, MOST)
    return np.asarray(tensor * clusters, dtype=np.float32)


def clouds(sheet: Sheet, size: float, seed: int) -> NDArray[np.float32]:
    """``(h, w)`` chance around 0 that changes smoothly over a sheet.

    Args:
        sheet: The cloth.
        size: Over which it changes, shoulder widths.
        seed: Of the chance.
    """
    chance = np.random.default_rng(seed).normal(size=sheet.shape).astype(np.float32)
    return np.asarray(cv2.GaussianBlur(chance, (0, 0), size / sheet.spacing), dtype=np.float32)


def skirt() -> tuple[Band, ...]:
    """A skirt from the waist, ``y`` 0, to its hem; ``x`` from edge to edge."""
    return (Band(0.00, 1.00, 0.90, 1.00, 0, 0.035),)
