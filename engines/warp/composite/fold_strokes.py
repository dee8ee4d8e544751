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

FLANKS_SHOWN = (2.8, 2.3, 1.7, 1.1, 0.45, 0.2)
"""How bright lit flanks are in such cloth over how they are drawn: black cloth shows its folds as highlights, white
cloth as shade."""

VALLEYS_CARRIED, FLANKS_CARRIED = (1.0, 1.0, 1.0, 0.95, 0.7, 0.5), (1.0, 1.0, 1.0, 0.8, 0.3, 0.1)
"""How much of the folds that other cloth shows in the photo is seen in such cloth: white cloth lights its own valleys,
and what is lit in it is white and no more."""

WEAVE_SEEN, WEAVE_HIDES, DEEPER_IN_WEAVE = 0.008, 0.030, (1.7, 2.4)
"""Usual relative contrast of the cloth from one thread to the next up to which it is smooth, and from which folds are
lost in denim or a busy print, and how many times as deep they are drawn there: less on smooth cloth, where deep ones
look like stains and none like cardboard."""

THREADS = 9
"""Side of the square with whose mean a pixel is compared for that, pixels."""

SURE, DARKEST_WEAVE = 0.98, 0.05
"""Cover from which a pixel is cloth alone, and brightness below which contrast is noise."""

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


def shown_on(
    piece: Piece, change: NDArray[np.float32], seen: NDArray[np.float32] | None, unit: float
) -> NDArray[np.float32]:
    """``(h, w)`` factor of folds as the cloth shows them.

    Light is light whatever it falls on: folds that the photo shows are carried over as deep as they are. Drawn ones are
    as deep as it takes for them to be seen.

    Args:
        piece: The cloth.
        change: ``(h, w)`` of `drawn`.
        seen: ``(h, w)`` change of light by folds of other cloth in the photo, if there are any.
        unit: Shoulder width, pixels.
    """
    factor = np.ones(change.shape, dtype=np.float32)
    window = window_of(piece.alpha > 0)
    part = change[window]
    if not part.size:
        return factor
    bright = brightness(np.ascontiguousarray(piece.colour[window]))
    light = _lightness(bright, piece.alpha[window], unit)
    part = part * np.float32(_depth_in_weave(bright, piece.alpha[window]))
    factor[window] += np.where(part < 0, part, part * _by_lightness(light, FLANKS_SHOWN, part.shape))
    if seen is not None:
        gains = (_by_lightness(light, carried, part.shape) for carried in (VALLEYS_CARRIED, FLANKS_CARRIED))
        factor[window] += seen[window] * np.where(seen[window] < 0, *gains)
    return factor


def _by_lightness(light: NDArray[np.float32], gains: tuple[float, ...], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """``(h, w)`` gains of cloth whose lightness is given on a smaller copy."""
    gain = np.interp(light, LIGHTNESS, gains).astype(np.float32)
    return np.asarray(cv2.resize(gain, shape[::-1], interpolation=cv2.INTER_LINEAR), dtype=np.float32)


def _depth_in_weave(bright: NDArray[np.float32], alpha: NDArray[np.float32]) -> float:
    """By how much folds have to be deeper to be seen in a cloth's weave or print."""
    around = cv2.blur(bright, (THREADS, THREADS))
    sure = cv2.erode((alpha > SURE).astype(np.uint8), np.ones((THREADS, THREADS), np.uint8)) > 0
    if not sure.any():
        return 1.0
    contrast = float(np.median(np.abs(bright[sure] - around[sure]) / np.maximum(around[sure], DARKEST_WEAVE)))
    return float(np.interp(contrast, (WEAVE_SEEN, WEAVE_HIDES), DEEPER_IN_WEAVE))


def _lightness(bright: NDArray[np.float32], alpha: NDArray[np.float32], unit: float) -> NDArray[np.float32]:
    """Brightness of cloth averaged over a few threads, on a smaller copy; of a bright print in dark cloth its own."""
    height, width = alpha.shape
    size = (max(1, width // LOOKED_AT), max(1, height // LOOKED_AT))
    small = cv2.resize(bright, size, interpolation=cv2.INTER_AREA)
    cover = cv2.resize(alpha, size, interpolation=cv2.INTER_AREA)
    sigma = max(AROUND * unit / LOOKED_AT, 0.5)
    around = cv2.GaussianBlur(small, (0, 0), sigma) / (cv2.GaussianBlur(cover, (0, 0), sigma) + 1e-3)
    return np.asarray(np.maximum(around, cv2.dilate(small, np.ones((3, 3), np.uint8))), dtype=np.float32)
