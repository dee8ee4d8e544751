"""One soft fold after the other drawn as light, and how strongly light and dark cloth show them."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.channels import brightness
from engines.garment.regions import window_of
from engines.warp.pieces import Piece

REDUCTION = 2
"""Folds are soft: they are drawn this many times smaller."""

LIT_SHARE = 0.55
"""Brightness of a fold's lit flank over the depth of its valley, in cloth of middle brightness."""

LIT_AT, LIT_SIZE = 1.7, 1.1
"""Where the lit flank lies beside the valley, and its size, in half widths."""

SHARPER_IN_SHADE = 1.5
"""By how much a valley is narrower on the side away from its lit flank: there cloth turns into its own shadow."""

DEEPEST_EARLY = 0.35
"""By how much a fold is deeper where it is gathered, and shallower where it runs out, at half its length."""

REACH = 1.7
"""Half lengths after which nothing of a fold is left."""

LIGHTNESS = (0.0, 0.12, 0.30, 0.55, 0.80, 1.0)
"""Brightness of cloth at which the next two are given."""

VALLEYS_SHOWN = (2.6, 2.5, 2.2, 1.7, 1.3, 1.15)
"""How deep valleys are in such cloth over how they are drawn: a soft one is lost in the weave of dark cloth."""

FLANKS_SHOWN = (7.0, 5.0, 3.0, 1.5, 0.5, 0.2)
"""How bright lit flanks are: black cloth shows its folds as highlights, white cloth as shade."""

LEAST_FLANK = 0.7
"""What is lit in white cloth is white and no more: it is not made more of than from this on."""

LOOKED_AT = 4
"""The cloth's own brightness is read on a copy this many times smaller."""

AROUND = 0.05
"""Standard deviation over which it is averaged, in shoulder widths, so that letters are not told from their ground."""


@dataclass(frozen=True)
class Fold:
    """A fold that is dark in its valley and lit on the flank that faces the light.

    Attributes:
        middle: x and y in pixels.
        way: Unit vector along it, away from where the cloth is gathered.
        length: Half length, pixels.
        width: Half width, pixels.
        depth: Share of the light that its valley loses.
        sag: How far it bends downwards at half its length, in half widths.
        spread: By how much of its width it is wider at its half length, and narrower the other way.
    """

    middle: NDArray[np.float32]
    way: NDArray[np.float32]
    length: float
    width: float
    depth: float
    sag: float = 0.9
    spread: float = 0.0


def drawn(shape: tuple[int, int], folds: list[Fold], light: tuple[float, float]) -> NDArray[np.float32]:
    """``(h, w)`` change of light around 0, below it in valleys and above it on flanks that face the light.

    Args:
        shape: Of the picture.
        folds: In any order; their light adds up.
        light: Where light comes from in the picture, x and y; y points down.
    """
    height, width = shape[0] // REDUCTION, shape[1] // REDUCTION
    change = np.zeros((height, width), dtype=np.float32)
    for fold in folds:
        _draw(change, fold, light)
    return np.asarray(cv2.resize(change, (shape[1], shape[0]), interpolation=cv2.INTER_LINEAR), dtype=np.float32)


def _draw(change: NDArray[np.float32], fold: Fold, light: tuple[float, float]) -> None:
    middle = fold.middle / REDUCTION
    long, thick = max(fold.length / REDUCTION, 1.0), max(fold.width / REDUCTION, 0.7)
    reach = REACH * long + 3 * thick
    low = np.maximum(np.floor(middle - reach), 0).astype(int)
    high = np.minimum(np.ceil(middle + reach), change.shape[::-1]).astype(int)
    if (low >= high).any():
        return
    x = np.arange(low[0], high[0], dtype=np.float32)[None] - middle[0]
    y = np.arange(low[1], high[1], dtype=np.float32)[:, None] - middle[1]
    along = (x * fold.way[0] + y * fold.way[1]) / np.float32(long)
    lit = np.array([fold.way[1], -fold.way[0]], np.float32)
    facing = float(lit @ np.asarray(light, np.float32))
    lit, facing = (lit, facing) if facing > 0 else (-lit, -facing)
    sag = np.float32(fold.sag if lit[1] < 0 else -fold.sag)
    squared = along * along
    aside = (x * lit[0] + y * lit[1]) / np.float32(thick) + sag * squared
    aside /= np.maximum(1 + np.float32(fold.spread) * along, np.float32(0.4))
    shaded = np.where(aside < 0, np.float32(SHARPER_IN_SHADE) * aside, aside)
    flank = (aside - np.float32(LIT_AT)) / np.float32(LIT_SIZE)
    # A fold that points at the light has no flank that faces it.
    share = np.float32(LIT_SHARE * (0.5 + 0.5 * facing))
    form = np.exp(-(shaded * shaded)) - share * np.exp(-(flank * flank))
    envelope = np.exp(-1.4 * squared) * np.clip(1 - np.float32(DEEPEST_EARLY) * along, 0.3, 1.5)
    change[low[1] : high[1], low[0] : high[0]] -= np.float32(fold.depth) * form * envelope


def shown_on(piece: Piece, change: NDArray[np.float32], unit: float) -> NDArray[np.float32]:
    """``(h, w)`` factor of folds as the brightness of the cloth shows them.

    Args:
        piece: The cloth.
        change: ``(h, w)`` of `drawn`.
        unit: Shoulder width, pixels.
    """
    factor = np.ones(change.shape, dtype=np.float32)
    window = window_of(piece.alpha > 0)
    part = change[window]
    if not part.size:
        return factor
    light = _lightness(piece.colour[window], piece.alpha[window], unit)
    valleys = np.interp(light, LIGHTNESS, VALLEYS_SHOWN).astype(np.float32)
    flanks = np.interp(light, LIGHTNESS, FLANKS_SHOWN).astype(np.float32)
    size = (part.shape[1], part.shape[0])
    below, above = (cv2.resize(gain, size, interpolation=cv2.INTER_LINEAR) for gain in (valleys, flanks))
    factor[window] += np.where(part < 0, part * below, part * above)
    return factor


def as_drawn(change: NDArray[np.float32], light: float) -> NDArray[np.float32]:
    """``(h, w)`` change of light that `drawn` would have given for folds that cloth of a brightness shows so."""
    # Whatever the cloth, light is light: only half of the difference is the cloth's.
    valley, flank = (float(np.interp(light, LIGHTNESS, gains)) for gains in (VALLEYS_SHOWN, FLANKS_SHOWN))
    divisor = np.where(change < 0, np.float32(valley**0.5), np.float32(max(flank, LEAST_FLANK) ** 0.5))
    return np.asarray(change / divisor, dtype=np.float32)


def _lightness(colour: NDArray[np.float32], alpha: NDArray[np.float32], unit: float) -> NDArray[np.float32]:
    """Brightness of cloth averaged over a few threads, on a smaller copy; of a bright print in dark cloth its own."""
    height, width = alpha.shape
    size = (max(1, width // LOOKED_AT), max(1, height // LOOKED_AT))
    small = cv2.resize(brightness(np.ascontiguousarray(colour)), size, interpolation=cv2.INTER_AREA)
    cover = cv2.resize(alpha, size, interpolation=cv2.INTER_AREA)
    sigma = max(AROUND * unit / LOOKED_AT, 0.5)
    around = cv2.GaussianBlur(small, (0, 0), sigma) / (cv2.GaussianBlur(cover, (0, 0), sigma) + 1e-3)
    return np.asarray(np.maximum(around, cv2.dilate(small, np.ones((3, 3), np.uint8))), dtype=np.float32)
