"""Folds of tops and trouser legs: long creases that cloth has where a body moves, one by one.

Cloth hangs over a crease from above and goes in under itself: towards the crease it turns away from the light, in it
light is least, and just below it the cloth comes out again and faces up. Both ends of a crease run out into nothing, or
go on round the leg.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from engines.warp.body.silhouette import ease
from engines.warp.folds.excess import Sheet, clouds
from engines.warp.folds.reliefs import Relief, relief_of

Place: TypeAlias = tuple[float, float]

SAMPLES = 33
"""Points along a crease between which the nearest one is looked for."""

SOFTEST = 1.8
"""How many times as wide as in its deepest part the flanks of a crease are where it ends."""

BROADLY, BROADER = 0.35, 3.0
"""Share of its depth over which cloth sinks towards a crease from further away, and how many times as far."""

BULGING, BULGES_AT, BULGE = 0.5, 3.0, 2.0
"""How high cloth stands out below a crease over its depth, how far below it and over what distance, over the width in
which it comes out again."""

ROUNDED = 0.004
"""Cloth does not bend more sharply than this, shoulder widths."""

UNEVEN = (0.2, 1.8)
"""Bounds of how many times as deep a crease is in one place as it is drawn."""


def creased(beside: NDArray[np.float32], above: float, below: float) -> NDArray[np.float32]:
    """``(h, w)`` height of cloth across a crease that is 1 deep.

    Args:
        beside: ``(h, w)`` distance from the crease, positive below it, shoulder widths.
        above: Width over which cloth goes in above it, shoulder widths.
        below: Width over which it comes out again below it.
    """
    width = np.where(beside < 0, np.float32(above), np.float32(below))
    away = (np.sqrt(beside * beside + np.float32(ROUNDED**2)) - np.float32(ROUNDED)) / width
    sunk = np.float32(1 - BROADLY) * np.exp(-away) + np.float32(BROADLY) * np.exp(-away / np.float32(BROADER))
    bulge = (beside / np.float32(below) - np.float32(BULGES_AT)) / np.float32(BULGE)
    return np.asarray(np.float32(BULGING) * np.exp(-bulge * bulge) - sunk, dtype=np.float32)


class Crease(NamedTuple):
    """One crease.

    Attributes:
        begin: Where it begins, x and y on the sheet.
        towards: Where it would go if it did not bend.
        end: Where it ends.
        deep: Depth, shoulder widths.
        above: Width over which cloth goes in above it, shoulder widths.
        below: Width over which it comes out again below it.
        deepest: Share of its way at which it is deepest; 0 for a crease that comes round the leg.
    """

    begin: Place
    towards: Place
    end: Place
    deep: float
    above: float
    below: float
    deepest: float = 0.0

    def heights(self, x: NDArray[np.float32], y: NDArray[np.float32]) -> NDArray[np.float32]:
        """``(h, w)`` height of the cloth at each place, shoulder widths."""
        way = np.linspace(0, 1, SAMPLES, dtype=np.float32)[:, None]
        corners = np.asarray([self.begin, self.towards, self.end], np.float32)
        line = (1 - way) ** 2 * corners[0] + 2 * way * (1 - way) * corners[1] + way**2 * corners[2]
        step = np.gradient(line, axis=0)
        step /= np.linalg.norm(step, axis=1, keepdims=True)
        downwards = np.stack([-step[:, 1], step[:, 0]], axis=1)
        if downwards[SAMPLES // 2, 1] < 0:
            downwards = -downwards
        nearest = ((x[..., None] - line[:, 0]) ** 2 + (y[..., None] - line[:, 1]) ** 2).argmin(axis=-1)
        off = np.stack([x, y], axis=-1) - line[nearest]
        beside = np.einsum("hwk,hwk->hw", off, downwards[nearest])
        along = np.einsum("hwk,hwk->hw", off, step[nearest])
        share = np.clip(way[nearest, 0] + along / np.float32(self._length(line)), -1, 2)
        depth, wide = self._depth(share), 1 + np.float32(SOFTEST - 1) * np.clip(share, 0, 1) ** 2
        return np.float32(self.deep) * depth * creased(beside / wide, self.above, self.below)

    def _depth(self, share: NDArray[np.float32]) -> NDArray[np.float32]:
        """Depth at shares of its way, 0 to 1."""
        rising = ease(share / self.deepest) if self.deepest > 0 else np.float32(1)
        falling = 1 - ease((share - self.deepest) / (1 - self.deepest))
        return np.asarray(rising * falling, dtype=np.float32)

    @staticmethod
    def _length(line: NDArray[np.float32]) -> float:
        return float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())


class Wandering(NamedTuple):
    """How creases of cloth differ from drawn curves.

    Attributes:
        seed: Of what is by chance.
        aside: How far they wander, and over what length, shoulder widths.
        uneven: Standard deviation of how many times as deep they are.
        size: Of a place in which they are as deep alike, shoulder widths.
    """

    seed: int
    aside: tuple[tuple[float, float], ...]
    uneven: float
    size: float


def relief_of_creases(
    sheet: Sheet,
    parts: Sequence[tuple[float, tuple[Crease, ...]]],
    in_crease: float,
    wandering: Wandering | None = None,
) -> Relief:
    """Creases on a sheet of cloth.

    Args:
        sheet: The cloth.
        parts: Creases, each so many times as deep.
        in_crease: How much of what a valley is darkened each adds, over its depth for its width.
        wandering: How they differ from their curves, if they do.
    """
    rows, columns = sheet.shape
    x, y = np.meshgrid(
        np.linspace(-sheet.wide / 2, sheet.wide / 2, columns, dtype=np.float32),
        np.linspace(0, sheet.high, rows, dtype=np.float32),
    )
    x, y, uneven = _wandered(sheet, x, y, wandering) if wandering else (x, y, np.float32(1))
    heights, closed = np.zeros((2, *sheet.shape), np.float32)
    for deeper, creases in parts:
        for crease in creases:
            one = np.float32(deeper) * uneven * crease.heights(x, y)
            heights += one
            closed += np.minimum(one, 0) * np.float32(in_crease / (crease.above + crease.below))
    relief = relief_of(sheet, heights)
    relief.form[..., 2] += closed
    return relief


def _wandered(
    sheet: Sheet, x: NDArray[np.float32], y: NDArray[np.float32], wandering: Wandering
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    """``(h, w)`` places on the curves that creases wander from, and how many times as deep they are there."""
    seeds = itertools.count(wandering.seed)

    def chance(size: float) -> NDArray[np.float32]:
        cloudy = clouds(sheet, size, next(seeds))
        return np.asarray(cloudy / cloudy.std(), dtype=np.float32)

    uneven = np.clip(1 + np.float32(wandering.uneven) * chance(wandering.size), *UNEVEN)
    for far, size in wandering.aside:
        x, y = x + np.float32(far) * chance(size), y + np.float32(far) * chance(size)
    return x, y, np.asarray(uneven, dtype=np.float32)
