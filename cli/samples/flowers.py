"""A printed pattern of small flowers, as an image of the flat cloth that can be bent onto a garment."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from cli.samples.fabric import SRGB_GAMMA, Colour
from cli.samples.outline import Canvas, Plane

GROUND = (212, 162, 72)
PETALS = ((184, 72, 50), (222, 124, 92), (240, 220, 174))
CENTRES = ((244, 222, 168), (246, 226, 180), (160, 88, 44))
LEAF = (96, 112, 66)

SPACING_CM = 3.1
OVERSIZE = 2
"""The print is drawn this much finer than the canvas."""


def _flower(sheet: NDArray[np.uint8], centre: NDArray[np.float64], radius: float, kind: int, turn: float) -> None:
    petals = 6 if kind < 2 else 5
    for petal in range(petals):
        angle = turn + 2 * np.pi * petal / petals
        middle = centre + 0.58 * radius * np.array([np.cos(angle), np.sin(angle)])
        _ellipse(sheet, middle, (0.46 * radius, 0.27 * radius), angle, PETALS[kind])
    _ellipse(sheet, centre, (0.24 * radius, 0.24 * radius), 0.0, CENTRES[kind])


def _ellipse(
    sheet: NDArray[np.uint8], middle: NDArray[np.float64], axes: tuple[float, float], angle: float, colour: Colour
) -> None:
    centre = (round(16 * middle[0]), round(16 * middle[1]))
    half = (max(int(16 * axes[0]), 8), max(int(16 * axes[1]), 8))
    cv2.ellipse(sheet, centre, half, float(np.degrees(angle)), 0, 360, colour, -1, cv2.LINE_AA, 4)


def flower_print(canvas: Canvas, rng: np.random.Generator) -> NDArray[np.float32]:
    """Draw the flat cloth.

    Returns:
        ``(rows, columns, 3)`` linear albedo; `OVERSIZE` times the canvas in both directions.
    """
    step = SPACING_CM * canvas.scale * OVERSIZE
    height, width = canvas.height * OVERSIZE, canvas.width * OVERSIZE
    sheet = np.empty((height, width, 3), dtype=np.uint8)
    sheet[:] = GROUND
    for row, y in enumerate(np.arange(0, height + step, 0.87 * step)):
        for x in np.arange(0, width + step, step) + (row % 2) * step / 2:
            centre = np.array([x, y]) + rng.uniform(-0.24, 0.24, 2) * step
            turn = float(rng.uniform(0, 2 * np.pi))
            kind = int(rng.choice(3, p=(0.45, 0.3, 0.25)))
            radius = step * float(rng.uniform(0.20, 0.29)) * (0.72 if kind == 2 else 1.0)
            for side in (-1.0, 1.0):
                direction = turn + side * 0.7
                leaf = centre + 1.25 * radius * np.array([np.cos(direction), np.sin(direction)])
                _ellipse(sheet, leaf, (0.40 * radius, 0.15 * radius), direction, LEAF)
            _flower(sheet, centre, radius, kind, turn)
            bud = centre + rng.uniform(-0.5, 0.5, 2) * step
            _ellipse(sheet, bud, (0.035 * step, 0.035 * step), 0.0, PETALS[2])
    return np.asarray((sheet.astype(np.float32) / 255) ** SRGB_GAMMA, dtype=np.float32)


def bent(pattern: NDArray[np.float32], canvas: Canvas, u: Plane, v: Plane) -> NDArray[np.float32]:
    """The print as seen where the flat cloth's point (u, v), in centimetres, lies in every pixel."""
    columns = ((u * canvas.scale + canvas.width / 2) * OVERSIZE).astype(np.float32)
    rows = ((v * canvas.scale + canvas.top) * OVERSIZE).astype(np.float32)
    small = cv2.GaussianBlur(pattern, (0, 0), 0.8)
    return np.asarray(
        cv2.remap(small, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT), dtype=np.float32
    )
