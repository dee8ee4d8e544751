"""Shapes of garments: curves through control points, and the sheet of paper they are drawn on.

Control points are centimetres: x to the right of the garment's middle, y downwards from its shoulder line
(or waist). Only `Canvas` knows about pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float32]
"""``(n, 2)`` x and y in centimetres."""

Plane = NDArray[np.float32]
"""``(height, width)``, one value for each pixel."""

STEPS_PER_SPAN = 14
"""Samples of a curve between two control points."""

SUBPIXEL_BITS = 4
"""Fraction bits of the coordinates handed to OpenCV's drawing calls."""

FILL_OVERSIZE = 4
"""Outlines are filled this much finer and then averaged: OpenCV's own smooth edges are uneven on gentle slopes."""

WOBBLE_CM = 0.22
"""How far a hand-laid garment strays from perfect symmetry."""


def curve(*points: tuple[float, float]) -> Points:
    """A Catmull-Rom curve through all the points, from the first to the last.

    An end on the middle line (x = 0) meets its mirror image without a corner.
    """
    knots = np.asarray(points, dtype=np.float32)
    before = mirrored(knots[1:2]) if knots[0, 0] == 0 else 2 * knots[:1] - knots[1:2]
    after = mirrored(knots[-2:-1]) if knots[-1, 0] == 0 else 2 * knots[-1:] - knots[-2:-1]
    padded = np.concatenate([before, knots, after])
    t = np.linspace(0, 1, STEPS_PER_SPAN, endpoint=False, dtype=np.float32)[:, None]
    spans = []
    for p0, p1, p2, p3 in zip(padded[:-3], padded[1:-2], padded[2:-1], padded[3:], strict=True):
        cubic = 3 * p1 - p0 - 3 * p2 + p3
        square = 2 * p0 - 5 * p1 + 4 * p2 - p3
        spans.append(p1 + 0.5 * ((p2 - p0) * t + square * t**2 + cubic * t**3))
    return np.concatenate([*spans, knots[-1:]]).astype(np.float32)


def straight(*points: tuple[float, float]) -> Points:
    """Straight lines from point to point."""
    return np.asarray(points, dtype=np.float32)


def joined(*parts: Points) -> Points:
    """Curves one after the other, with a corner wherever two of them meet."""
    return np.concatenate(parts)


def mirrored(points: Points) -> Points:
    """The same points on the other side of the middle."""
    return points * np.array([-1, 1], dtype=np.float32)


def moved(points: Points, right: float, down: float) -> Points:
    """The same points elsewhere."""
    return points + np.array([right, down], dtype=np.float32)


def both_sides(right: Points) -> Points:
    """Close a half outline, given from the top of the middle line to its bottom, with its mirror image."""
    return np.concatenate([right, mirrored(right)[::-1]])


def along(points: Points, first: float, last: float) -> Points:
    """The part of a polyline between two shares (0 to 1) of its length."""
    lengths = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    wanted = np.linspace(first, last, 40) * lengths[-1]
    return np.stack([np.interp(wanted, lengths, points[:, k]) for k in range(2)], axis=1).astype(np.float32)


@dataclass(frozen=True)
class Canvas:
    """Turns centimetres into pixels.

    Attributes:
        width: Pixels.
        height: Pixels.
        scale: Pixels per centimetre.
        top: Row of y = 0, pixels.
        seed: Decides how the garment strays from symmetry.
    """

    width: int
    height: int
    scale: float
    top: float
    seed: int

    def pixels(self, points: Points) -> NDArray[np.float32]:
        """Pixel coordinates ``(n, 2)``, with the small unevenness of something laid out by hand."""
        phases = np.random.default_rng(self.seed).uniform(0, 2 * np.pi, 4)
        x, y = points[:, 0].astype(np.float64), points[:, 1].astype(np.float64)
        shift_x = np.sin(x / 11 + y / 17 + phases[0]) + 0.4 * np.sin(y / 4.5 - x / 9 + phases[1])
        shift_y = np.sin(x / 13 - y / 15 + phases[2]) + 0.4 * np.sin(x / 5.0 + y / 12 + phases[3])
        placed = np.stack([x + WOBBLE_CM * shift_x, y + WOBBLE_CM * shift_y], axis=1) * self.scale
        return np.asarray(placed + np.array([self.width / 2, self.top]), dtype=np.float32)

    def grid(self) -> tuple[Plane, Plane]:
        """Coordinates x and y in centimetres of every pixel."""
        x = (np.arange(self.width, dtype=np.float32) - self.width / 2) / self.scale
        y = (np.arange(self.height, dtype=np.float32) - self.top) / self.scale
        across, down = np.meshgrid(x, y)
        return across.astype(np.float32), down.astype(np.float32)

    def fill(self, points: Points) -> Plane:
        """Cover (0 to 1) of the closed outline through the points."""
        finer = np.zeros((self.height * FILL_OVERSIZE, self.width * FILL_OVERSIZE), dtype=np.uint8)
        centred = (self.pixels(points) + 0.5) * FILL_OVERSIZE - 0.5
        corners = np.round(centred * (1 << SUBPIXEL_BITS)).astype(np.int32)
        cv2.fillPoly(finer, [corners], 255, cv2.LINE_8, SUBPIXEL_BITS)
        sheet = cv2.resize(finer, (self.width, self.height), interpolation=cv2.INTER_AREA)
        return sheet.astype(np.float32) / np.float32(255)

    def stroke(self, points: Points, width_cm: float, strengths: Sequence[float] | None = None) -> Plane:
        """Cover of a line; ``strengths`` (0 to 1 for each point) lets it fade along its way."""
        sheet = np.zeros((self.height, self.width), dtype=np.uint8)
        line = self._fixed_point(points)
        thickness = max(1, round(width_cm * self.scale))
        if strengths is None:
            cv2.polylines(sheet, [line], False, 255, thickness, cv2.LINE_AA, SUBPIXEL_BITS)
            return sheet.astype(np.float32) / np.float32(255)
        for start, end, strength in zip(line[:-1], line[1:], strengths, strict=False):
            level = int(255 * strength)
            cv2.line(sheet, start.tolist(), end.tolist(), level, thickness, cv2.LINE_8, SUBPIXEL_BITS)
        return sheet.astype(np.float32) / np.float32(255)

    def dashes(self, points: Points, width_cm: float, stitch_cm: float) -> Plane:
        """Cover of a stitched line: dashes with gaps of about half their length."""
        sheet = np.zeros((self.height, self.width), dtype=np.uint8)
        length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())
        count = max(2, round(length / stitch_cm))
        thickness = max(1, round(width_cm * self.scale))
        for number in range(count):
            dash = along(points, number / count, (number + 0.62) / count)[[0, 20, 39]]
            cv2.polylines(sheet, [self._fixed_point(dash)], False, 255, thickness, cv2.LINE_AA, SUBPIXEL_BITS)
        return sheet.astype(np.float32) / np.float32(255)

    def _fixed_point(self, points: Points) -> NDArray[np.int32]:
        return np.asarray(np.round(self.pixels(points) * (1 << SUBPIXEL_BITS)), dtype=np.int32)
