"""How strongly light and dark, smooth and woven cloth show the light on their folds."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.warp.pieces import Piece

LIGHTNESS = (0.0, 0.12, 0.30, 0.55, 0.80, 1.0)
"""Brightness of cloth at which the next two are given."""

FLANKS_SHOWN = (3.2, 2.6, 1.6, 0.9, 0.4, 0.2)
"""How bright lit flanks are in such cloth over how the relief has them: black cloth shows its folds as highlights,
white cloth as shade."""

VALLEYS_SHOWN = (1.0, 1.0, 1.0, 0.95, 0.75, 0.6)
"""How dark valleys are in such cloth over how the relief has them: white cloth lights its own."""

VALLEYS_CARRIED, FLANKS_CARRIED = (1.6, 1.5, 1.2, 0.95, 0.7, 0.5), (2.0, 1.8, 1.3, 0.8, 0.3, 0.1)
"""How much of the folds that other cloth shows in the photo is seen in such cloth: dark cloth shines, white cloth
lights its own valleys, and what is lit in it is white and no more."""

WEAVE_SEEN, WEAVE_HIDES, DEEPER_IN_WEAVE, DEEPER_ON_LEGS = 0.008, 0.030, (1.0, 1.4), (1.0, 2.1)
"""Usual relative contrast of the cloth from one thread to the next up to which it is smooth, and from which folds are
lost in denim or a busy print, and how many times as deep they are shown there, and there on trouser legs: denim creases
deeper than a shirt."""

THREADS = 9
"""Side of the square with whose mean a pixel is compared for that, pixels."""

SURE, DARKEST_WEAVE = 0.98, 0.05
"""Cover from which a pixel is cloth alone, and brightness below which contrast is noise."""

LOOKED_AT = 4
"""The cloth's own brightness is read on a copy this many times smaller."""

AROUND = 0.05
"""Standard deviation over which it is averaged, in shoulder widths, so that letters are not told from their ground."""


def shown_on(
    piece: Piece, change: NDArray[np.float32], seen: NDArray[np.float32] | None, unit: float
) -> NDArray[np.float32]:
    """``(h, w)`` factor of folds as the cloth shows them.

    Folds that the photo shows are carried over as deep as they are, unless the cloth shines or is white. Those of a
    relief are as deep as it takes for them to be seen.

    Args:
        piece: The cloth.
        change: ``(h, w)`` change of light by folds of a relief, around 0.
        seen: ``(h, w)`` change of light by folds of other cloth in the photo, if there are any.
        unit: Shoulder width, pixels.
    """
    factor = np.ones(change.shape, dtype=np.float32)
    window = piece.window
    part = change[window]
    if not part.size:
        return factor
    light = lightness_around(piece, unit)
    deeper = DEEPER_ON_LEGS if piece.name.endswith("leg") else DEEPER_IN_WEAVE
    part = part * np.float32(np.interp(_weave(piece.bright, piece.alpha[window]), (WEAVE_SEEN, WEAVE_HIDES), deeper))
    shown = (_by_lightness(light, gains, part.shape) for gains in (VALLEYS_SHOWN, FLANKS_SHOWN))
    factor[window] += part * np.where(part < 0, *shown)
    if seen is not None:
        gains = (_by_lightness(light, carried, part.shape) for carried in (VALLEYS_CARRIED, FLANKS_CARRIED))
        factor[window] += seen[window] * np.where(seen[window] < 0, *gains)
    return factor


def _by_lightness(light: NDArray[np.float32], gains: tuple[float, ...], shape: tuple[int, ...]) -> NDArray[np.float32]:
    """``(h, w)`` gains of cloth whose lightness is given on a smaller copy."""
    gain = np.interp(light, LIGHTNESS, gains).astype(np.float32)
    return np.asarray(cv2.resize(gain, shape[::-1], interpolation=cv2.INTER_LINEAR), dtype=np.float32)


def _weave(bright: NDArray[np.float32], alpha: NDArray[np.float32]) -> float:
    """Usual relative contrast of a cloth's weave or print from one thread to the next."""
    around = cv2.blur(bright, (THREADS, THREADS))
    sure = cv2.erode((alpha > SURE).astype(np.uint8), np.ones((THREADS, THREADS), np.uint8)) > 0
    if not sure.any():
        return 0.0
    return float(np.median(np.abs(bright[sure] - around[sure]) / np.maximum(around[sure], DARKEST_WEAVE)))


def lightness_around(piece: Piece, unit: float) -> NDArray[np.float32]:
    """Brightness of cloth averaged over a few threads, on a smaller copy; of a bright print in dark cloth its own.

    Args:
        piece: The cloth; it is somewhere.
        unit: Shoulder width, pixels.
    """
    bright, alpha = piece.bright, piece.alpha[piece.window]
    height, width = alpha.shape
    size = (max(1, width // LOOKED_AT), max(1, height // LOOKED_AT))
    small = cv2.resize(bright, size, interpolation=cv2.INTER_AREA)
    cover = cv2.resize(alpha, size, interpolation=cv2.INTER_AREA)
    sigma = max(AROUND * unit / LOOKED_AT, 0.5)
    around = cv2.GaussianBlur(small, (0, 0), sigma) / (cv2.GaussianBlur(cover, (0, 0), sigma) + 1e-3)
    return np.asarray(np.maximum(around, cv2.dilate(small, np.ones((3, 3), np.uint8))), dtype=np.float32)
