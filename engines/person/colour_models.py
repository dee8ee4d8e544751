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

LEAST_SKIN = float(np.log(0.02 * _UNIFORM))
"""Logarithm of the density of skin at colours that no skin has."""

_BLUR = 0.8
"""Standard deviation, in cells, by which seen colours speak for their neighbours."""

_PALEST_SKIN = 0.6
"""Chroma of a person's skin elsewhere over that of the face, at least; pale cloth and metal have less."""

_SKIN_SPREAD = np.array([11.0, 3.5, 4.5])
"""Standard deviation of skin in L, at least, and in a and b; light and shade make it wider than a cheek."""


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


def likeness(one: Floats, other: Floats) -> float:
    """Bhattacharyya coefficient of two histograms: 0 nothing shared, 1 the same."""
    return float(np.sqrt(one * other).sum())


class Skin:
    """The colours of one person's skin: a Gaussian per place where skin was seen.

    Args:
        samples: ``(n, 3)`` CIELAB per place; places with too few are passed over.
    """

    def __init__(self, samples: list[Floats]) -> None:
        self.centres: list[Floats] = []
        self._spreads: list[Floats] = []
        for place in samples:
            if len(place) >= 40:
                self._add(place)
        if not self.centres:  # nobody's skin is known: a Gaussian wide enough for all
            self.centres.append(np.array([60.0, 13.0, 18.0], np.float32))
            self._spreads.append(np.array([20.0, 6.0, 7.0], np.float32))

    def _add(self, place: Floats) -> None:
        middle = np.median(place, axis=0)
        near = place[(np.abs(place - middle) < (22.0, 10.0, 12.0)).all(axis=1)]
        near = near if len(near) >= 20 else place
        self.centres.append(near.mean(axis=0))
        lightness = max(float(near[:, 0].std()), float(_SKIN_SPREAD[0]))
        # Of lightness alone: what widens the chroma is cloth beside a hand.
        self._spreads.append(np.array([lightness, *_SKIN_SPREAD[1:]], np.float32))

    def resembles(self, colour: Floats) -> bool:
        """Whether the colour may be the same person's skin in other light, which changes lightness most."""
        return any(
            bool((np.abs(colour - centre) < (28.0, 7.0, 9.0)).all())
            and np.hypot(*colour[1:]) > _PALEST_SKIN * np.hypot(*centre[1:])
            for centre in self.centres
        )

    def log_density(self, lab: Floats) -> Floats:
        """Logarithm of the density at every colour of ``(..., 3)``; `LEAST_SKIN` where it is nobody's."""
        planes = [np.ascontiguousarray(lab[..., axis]) for axis in range(3)]  # sums over an axis of three are slow
        best = np.full(lab.shape[:-1], LEAST_SKIN, np.float32)
        for centre, spread in zip(self.centres, self._spreads, strict=True):
            density = np.full(best.shape, -np.log(float(np.prod(spread)) * (2.0 * np.pi) ** 1.5), np.float32)
            for plane, middle, width in zip(planes, centre, spread, strict=True):
                off = plane - np.float32(middle)
                off *= off
                off *= np.float32(0.5 / width**2)
                density -= off
            np.maximum(best, density, out=best)
        return best


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
