"""Settles rough masks, of people and of garments, at the edges and by the colours of a picture.

The guided filter is that of He, Sun and Tang, "Guided Image Filtering", IEEE TPAMI 2013; its enlargement is "Fast
Guided Filter", 2015: the filter's two coefficients are computed small and applied to the large guide.
"""

from __future__ import annotations

from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture

Floats = NDArray[np.float32]

Region: TypeAlias = NDArray[np.bool_]

_LIGHTNESS_BINS, _CHROMA_BINS, _BIN = 20, 32, 5.0
"""The histogram's cells are cubes of 5 CIELAB units; chroma reaches from -80 to 80."""

_UNIFORM = 1.0 / (100.0 * 160.0 * 160.0)
"""Density of a colour that was not seen."""

LOG_UNIFORM = float(np.log(_UNIFORM))

_BLUR = 0.8
"""Standard deviation, in cells, by which seen colours speak for their neighbours."""

_LEAST_SPREAD = 2.0
"""Least standard deviation of a surface around its local mean, in CIELAB units."""

_COARSE = 4
"""Factor by which maps that change slowly over the photo are computed smaller."""

_UNSEEN_COLOUR = 0.05
"""Share of a thing's colours that its sure part does not show."""


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


def log_odds(chances: Floats, most: float) -> Floats:
    """Logarithm of the odds of chances from 0 to 1, within ``most`` of even."""
    logarithm = np.log((chances + np.float32(1e-3)) / (np.float32(1.001) - chances))
    return np.asarray(np.clip(logarithm, -most, most), dtype=np.float32)


def colour_odds(lab: Floats, cells: NDArray[np.intp], sure: Region, surely_not: Region) -> Floats:
    """How much likelier each pixel's colour is for a thing than for the ground nearby, as log odds.

    Args:
        lab: ``(height, width, 3)`` from `lab_of`.
        cells: From `cells_of`.
        sure: Pixels that are the thing.
        surely_not: Pixels that are ground.
    """
    thing = log_density(histogram(cells, sure), cells, _UNSEEN_COLOUR)
    # A plain shirt has as few colours as the wall beside it; the colours of the whole person do not show that.
    np.maximum(thing, log_density_nearby(lab, sure), out=thing)
    return np.asarray(thing - log_density_nearby(lab, surely_not))


def sigmoid(values: Floats) -> Floats:
    """The logistic function, without overflow."""
    # In place on a copy: whole maps pass through here.
    out = np.asarray(np.clip(values, -30.0, 30.0), dtype=np.float32)
    np.negative(out, out=out)
    np.exp(out, out=out)
    out += np.float32(1.0)
    return np.reciprocal(out, out=out)


def settled(
    odds: Floats, lab: Floats, cells: NDArray[np.intp], *, sure: float, least: Floats | float, most: float
) -> Floats:
    """How much of each pixel is the thing, 0 to 1: what networks say settled by colours and at the picture's edges.

    Args:
        odds: ``(height, width)``, what networks say, as log odds; changed in place.
        lab: ``(height, width, 3)`` from `lab_of`.
        cells: From `cells_of`.
        sure: Chances below this, or above one minus this, teach the colours of thing and ground.
        least: Least that a pixel's colour may say, as log odds.
        most: Most that it may say.
    """
    chance = sigmoid(odds)
    is_thing, is_ground = chance > 1.0 - sure, chance < sure
    if is_thing.any() and is_ground.any():
        odds += np.clip(0.8 * colour_odds(lab, cells, is_thing, is_ground), least, most)
    guide = Guide(np.ascontiguousarray(lab[..., 0]) / np.float32(100.0), max(2, max(lab.shape) // 256), 4e-4)
    return guide.smooth(sigmoid(1.5 * odds))


def log_density_nearby(lab: Floats, region: Region) -> Floats:
    """How likely each pixel's colour is under a Gaussian fitted to the part of a region nearby."""
    means, spreads = _colours_nearby(lab, region)
    height, width = region.shape
    total = np.full(region.shape, -2.76, np.float32)
    off = np.zeros(region.shape, np.float32)
    for axis in range(3):
        mean, variance = (cv2.resize(part[..., axis], (width, height)) for part in (means, spreads))
        difference = lab[..., axis] - mean
        difference *= difference
        off += difference / variance
        total -= 0.5 * np.log(variance)
    return np.asarray(total - 0.5 * np.minimum(off, 60.0), dtype=np.float32)


def _colours_nearby(lab: Floats, region: Region) -> tuple[Floats, Floats]:
    """Mean and variance of a region's colours around each pixel, drawn small: they change slowly."""
    size = (max(region.shape[1] // _COARSE, 1), max(region.shape[0] // _COARSE, 1))
    weight = region.astype(np.float32)
    weighted = lab * weight[..., None]
    weight, weighted, squared = (
        np.asarray(cv2.resize(part, size, interpolation=cv2.INTER_AREA), dtype=np.float32)
        for part in (weight, weighted, weighted * lab)
    )
    total = np.full(weight.shape, 1e-6, np.float32)
    mean, square = np.zeros_like(weighted), np.zeros_like(weighted)
    for reach, say in ((0.04, 1.0), (0.12, 0.05), (0.5, 0.0005)):  # near ground first, then farther ground
        window = (2 * int(reach * max(weight.shape)) + 1,) * 2
        total += say * _box(weight, window)
        mean += say * _box(weighted, window)
        square += say * _box(squared, window)
    mean /= total[..., None]
    return mean, np.maximum(square / total[..., None] - mean**2, _LEAST_SPREAD**2)


def _box(values: Floats, window: tuple[int, int]) -> Floats:
    return np.asarray(cv2.boxFilter(values, cv2.CV_32F, window, borderType=cv2.BORDER_REPLICATE), dtype=np.float32)


class Guide:
    """A grey picture prepared to guide several maps of the same size.

    Args:
        grey: ``(height, width)``, 0 to 1.
        radius: Half width of the window in pixels.
        flatness: Variance below which the guide counts as flat, in squared grey levels.
    """

    def __init__(self, grey: Floats, radius: int, flatness: float) -> None:
        self._window = (2 * radius + 1, 2 * radius + 1)
        self._grey = grey
        self._mean = self._box(grey)
        self._spread = self._box(grey * grey) - self._mean**2 + flatness

    def smooth(self, values: Floats) -> Floats:
        """``values`` smoothed, same shape."""
        slope, offset = self._coefficients(values)
        slope *= self._grey
        slope += offset
        return slope

    def enlarge(self, values: Floats, grey: Floats) -> Floats:
        """``values`` at the size of ``grey``, a larger copy of the guide."""
        height, width = grey.shape
        slope, offset = (
            np.asarray(cv2.resize(part, (width, height), interpolation=cv2.INTER_LINEAR), dtype=np.float32)
            for part in self._coefficients(values)
        )
        slope *= grey
        slope += offset
        return slope

    def _coefficients(self, values: Floats) -> tuple[Floats, Floats]:
        mean = self._box(values)
        slope = self._box(self._grey * values)
        slope -= self._mean * mean
        slope /= self._spread
        mean -= slope * self._mean  # now the offset
        return self._box(slope), self._box(mean)

    def _box(self, values: Floats) -> Floats:
        return np.asarray(cv2.boxFilter(values, cv2.CV_32F, self._window), dtype=np.float32)
