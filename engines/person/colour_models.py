"""How likely a colour is for cloth, hair or skin: densities over CIELAB."""

from __future__ import annotations

from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture
from engines.person.networks import Floats

Region: TypeAlias = NDArray[np.bool_]

_LIGHTNESS_BINS, _CHROMA_BINS, _BIN = 20, 32, 5.0
"""The histogram's cells are cubes of 5 CIELAB units; chroma reaches from -80 to 80."""

_UNIFORM = 1.0 / (100.0 * 160.0 * 160.0)
"""Density of a colour about which nothing is known."""

LOG_UNIFORM = float(np.log(_UNIFORM))


_BLUR = 0.8
"""Standard deviation, in cells, by which seen colours speak for their neighbours."""


def lab_of(photo: Picture) -> Floats:
    """CIELAB, ``(height, width, 3)`` float32, L 0 to 100, of a photo freed of fine noise."""
    calm = cv2.bilateralFilter(photo, 5, 18, 5)
    return np.asarray(cv2.cvtColor(calm.astype(np.float32) / 255.0, cv2.COLOR_RGB2LAB), dtype=np.float32)


def cells_of(lab: Floats) -> NDArray[np.intp]:
    """The histogram cell of every pixel, for `histogram` and `log_density`."""
    lightness = np.clip(lab[..., 0] / _BIN, 0, _LIGHTNESS_BINS - 1).astype(np.intp)
    chroma = [np.clip(lab[..., axis] / _BIN + _CHROMA_BINS / 2, 0, _CHROMA_BINS - 1).astype(np.intp) for axis in (1, 2)]
    cells = (lightness * _CHROMA_BINS + chroma[0]) * _CHROMA_BINS + chroma[1]
    return np.asarray(cells, dtype=np.intp)


def histogram(cells: NDArray[np.intp], region: Region) -> Floats:
    """Density of the colours inside ``region``, per cell, blurred; sums to one over the cells."""
    counts = np.bincount(cells[region], minlength=_LIGHTNESS_BINS * _CHROMA_BINS**2).astype(np.float32)
    cube = counts.reshape(_LIGHTNESS_BINS, _CHROMA_BINS, _CHROMA_BINS)
    for axis in range(3):
        cube = _blurred(cube, axis)
    flat = cube.ravel()
    return np.asarray(flat / max(float(flat.sum()), 1e-6), dtype=np.float32)


def log_density(shares: Floats, cells: NDArray[np.intp], unknown: float) -> Floats:
    """Logarithm of the density at every pixel; ``unknown`` is the share of colours that were not seen, 0 to 1."""
    density = (1.0 - unknown) * shares / _BIN**3 + unknown * _UNIFORM
    return np.asarray(np.log(density), dtype=np.float32).take(cells)


def _blurred(cube: Floats, axis: int) -> Floats:
    weights = np.exp(-0.5 * (np.arange(-2, 3) / _BLUR) ** 2)
    weights /= weights.sum()
    out = np.zeros_like(cube)
    length = cube.shape[axis]
    source, target = np.moveaxis(cube, axis, 0), np.moveaxis(out, axis, 0)
    for shift, weight in zip(range(-2, 3), weights, strict=True):
        low, high = max(shift, 0), min(length + shift, length)
        target[low:high] += weight * source[low - shift : high - shift]
    return out
