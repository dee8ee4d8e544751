"""How a flared skirt hangs: cones of cloth that widen from the waist to a wavy hem."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cli.samples.outline import Canvas, Plane, Points


@dataclass(frozen=True)
class Drape:
    """Folds that all point to one spot above the skirt.

    Attributes:
        apex: y of that spot, centimetres (negative: above the shoulder line or waist).
        folds: Folds between the skirt's two sides.
        spread: Bearing of its right side as seen from the apex, radians from straight down.
        seed: Decides where the folds are and how deep.
    """

    apex: float
    folds: int
    spread: float
    seed: int

    def wave(self, bearing: NDArray[np.float32]) -> NDArray[np.float32]:
        """Height of the cloth, 0 in the creases to 1 on the deepest folds, by bearing from the apex."""
        rng = np.random.default_rng(self.seed)
        knots = np.linspace(-1.3 * self.spread, 1.3 * self.spread, self.folds + 5)
        wandering = np.interp(bearing, knots, rng.uniform(-0.55, 0.55, knots.size))
        depth = np.interp(bearing, knots, rng.uniform(0.35, 1.0, knots.size))
        phase = np.pi * self.folds * bearing / (2 * self.spread) + wandering
        return np.asarray(depth * (np.abs(np.cos(phase)) ** 1.2), dtype=np.float32)

    def relief(self, canvas: Canvas, *, start: float, end: float, height: float) -> Plane:
        """Height in pixels that the folds add; they grow from y = ``start`` to their ``height`` at y = ``end`` (cm)."""
        x, y = canvas.grid()
        bearing = np.arctan2(x, np.maximum(y - self.apex, 1.0)).astype(np.float32)
        # No fold is quite straight.
        bearing += np.float32(0.02 * self.spread) * np.sin(y / 7.0 + 3.0 * x / 10.0)
        grown = np.clip((y - start) / (end - start), 0, 1.2) ** 0.9
        return np.asarray(height * canvas.scale * grown * self.wave(bearing), dtype=np.float32)

    def hem(self, radius: float, dip: float, first: float, last: float) -> Points:
        """The hem between two bearings (radians): an arc around the apex, ``dip`` centimetres lower on the folds."""
        bearing = np.linspace(first, last, 160).astype(np.float32)
        away = radius + dip * self.wave(bearing)
        return np.stack([away * np.sin(bearing), self.apex + away * np.cos(bearing)], axis=1).astype(np.float32)
