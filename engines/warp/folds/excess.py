"""Where cloth is longer than the body under it: at armpits, elbows, waist and hems.

A place on a sheet is given in shoulder widths: ``x`` from its middle, ``y`` from its upper edge. On sleeves ``x``
rises towards the body's middle.
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

INNERMOST = 0.15
"""Share of a fan's length from which it is as strong as it gets: in the very middle folds have no direction."""


class Fan(NamedTuple):
    """Cloth gathered in one place: folds run out from it like rays.

    Attributes:
        x: Of the place.
        y: Of the place.
        first: Direction of the first ray, degrees; 0 along x, 90 along y.
        last: Direction of the last one, more than the first.
        length: Distance at which the excess is down to a third, shoulder widths.
        excess: By what share the cloth is longer than the body across the rays.
    """

    x: float
    y: float
    first: float
    last: float
    length: float
    excess: float

    def strength(self, x: NDArray[np.float32], y: NDArray[np.float32]) -> NDArray[np.float32]:
        """``(h, w)`` excess at each place."""
        away = np.hypot(x - self.x, y - self.y)
        middle, half = (self.first + self.last) / 2, (self.last - self.first) / 2
        off = (np.degrees(np.arctan2(y - self.y, x - self.x)) - middle + 180) % 360 - 180
        sector = np.exp(-((off / half) ** 4) - (away / self.length) ** 2)
        return np.asarray(self.excess * sector * np.clip(away / (INNERMOST * self.length), 0, 1), dtype=np.float32)

    def way(self, x: NDArray[np.float32], y: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Unit vector of the excess at each place: across the rays."""
        away = np.hypot(x - self.x, y - self.y) + np.float32(1e-6)
        return -(y - self.y) / away, (x - self.x) / away


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
        creased: Whether wearing has set its folds; cloth that hangs freely keeps long soft ones.
    """

    wide: float
    high: float
    spacing: float
    cluster: float
    gathered: Sequence[Fan | Band]
    seed: int
    creased: bool = True

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


def torso() -> tuple[Fan | Band, ...]:
    """A top from the shoulders, ``y`` 0, over the waist, 0.94, to a hem below the hips, 1.6."""
    sides = (
        # From the armpit over the chest, towards the waist from its sides, and above the hip.
        Fan(0.50, 0.32, 105, 170, 0.32, 0.09),
        Fan(0.54, 0.98, 150, 215, 0.30, 0.07),
        Band(0.46, 1.28, 0.12, 0.18, 25, 0.03),
    )
    return (*sides, *(_mirrored(place) for place in sides))


def sleeve(bent: float) -> tuple[Fan | Band, ...]:
    """A sleeve from the shoulder joint, ``y`` 0, over the elbow, `ELBOW`, to the wrist, `WRIST`.

    Args:
        bent: 0 for a straight arm, 1 for one bent by a right angle.
    """
    return (
        # From the armpit.
        Fan(0.20, 0.12, 100, 180, 0.26, 0.08),
        # The crook of the elbow.
        Fan(0.20, ELBOW, 110, 250, 0.24, 0.05 + 0.08 * bent),
        Band(0.10, ELBOW + 0.03, 0.14, 0.08, 80, 0.05 * bent),
        # Above the cuff.
        Band(0.04, 1.38, 0.22, 0.08, 76, 0.06),
    )


def skirt() -> tuple[Fan | Band, ...]:
    """A skirt from the waist, ``y`` 0, to its hem; ``x`` from edge to edge."""
    return (Band(0.00, 1.00, 0.90, 1.00, 0, 0.035),)


ELBOW, WRIST = 0.75, 1.47
"""Where elbow and wrist are on a sleeve's sheet, shoulder widths."""


def _mirrored(place: Fan | Band) -> Fan | Band:
    if isinstance(place, Fan):
        return place._replace(x=-place.x, first=180 - place.last, last=180 - place.first)
    return place._replace(x=-place.x, turned=-place.turned)
