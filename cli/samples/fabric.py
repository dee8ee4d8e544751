"""Cloth seen from near by: what one square of knit, rib, jersey, twill or print looks like.

A weave is a pair of planes: a factor on the dye's colour, and a relief in pixels for the light to fall on.
Coordinates are centimetres along the cloth: u across its grain, v along it.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from cli.samples.outline import Plane

Colour = tuple[int, int, int]
"""sRGB, 0 to 255."""

SRGB_GAMMA = 2.2
"""Close enough to the sRGB curve for drawn pictures, and a great deal faster."""


@dataclass(frozen=True)
class Cloth:
    """A surface before light falls on it.

    Attributes:
        albedo: ``(height, width, 3)`` share of the light that comes back, linear.
        relief: ``(height, width)`` height in pixels.
    """

    albedo: NDArray[np.float32]
    relief: Plane

    def patched(self, piece: Cloth, cover: Plane) -> Cloth:
        """The same with another cloth sewn in where ``cover`` is 1."""
        return Cloth(
            self.albedo + (piece.albedo - self.albedo) * cover[..., None],
            self.relief + (piece.relief - self.relief) * cover,
        )


@dataclass(frozen=True)
class Weave:
    """The structure of a cloth: ``shade`` multiplies the dye's colour, ``relief`` is in pixels."""

    shade: Plane
    relief: Plane


def linear(colour: Colour) -> NDArray[np.float32]:
    """A colour as a share of reflected light."""
    return np.asarray((np.asarray(colour, dtype=np.float32) / 255) ** SRGB_GAMMA, dtype=np.float32)


def dyed(weave: Weave, colour: Colour) -> Cloth:
    """A cloth of one colour."""
    return Cloth(weave.shade[..., None] * linear(colour), weave.relief)


def smooth_noise(shape: tuple[int, int], cell: tuple[float, float], rng: np.random.Generator) -> Plane:
    """Random plane of zero mean and about unit spread whose blobs are ``cell`` (high, wide) pixels."""
    rows, columns = (max(2, round(length / size)) + 2 for length, size in zip(shape, cell, strict=True))
    coarse = rng.standard_normal((rows, columns)).astype(np.float32)
    return np.asarray(cv2.resize(coarse, (shape[1], shape[0]), interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def knit(
    u: Plane, v: Plane, rng: np.random.Generator, *, stitch: float = 0.36, row: float = 0.27
) -> tuple[Weave, Plane]:
    """Stockinette: columns of small Vs.

    Returns:
        The weave, and the number of the row of stitches that each pixel belongs to.
    """
    unevenness = smooth_noise(u.shape, (9, 7), rng)
    column = u / stitch + 0.05 * unevenness
    across = column - np.floor(column)
    row_phase = v / row + 0.7 * np.abs(across - 0.5) + 0.06 * smooth_noise(u.shape, (7, 12), rng)
    leg = np.abs(np.sin(2 * np.pi * across))
    bump = leg * (0.6 + 0.4 * np.cos(2 * np.pi * row_phase))
    shade = 0.84 + 0.24 * bump + 0.02 * unevenness + 0.03 * fibre_noise(u.shape, rng)
    return Weave(shade.astype(np.float32), (0.24 * bump).astype(np.float32)), np.floor(row_phase).astype(np.float32)


def rib(u: Plane, rng: np.random.Generator, *, pitch: float = 0.55) -> Weave:
    """Ribbed knit: ridges along v."""
    phase = 2 * np.pi * u / pitch + 0.25 * smooth_noise(u.shape, (40, 16), rng)
    ridge = np.sqrt(np.clip(0.5 + 0.5 * np.cos(phase), 0, 1))
    shade = 0.74 + 0.3 * ridge + 0.04 * fibre_noise(u.shape, rng)
    return Weave(shade.astype(np.float32), (0.42 * ridge).astype(np.float32))


def jersey(u: Plane, v: Plane, rng: np.random.Generator) -> Weave:
    """The fine, nearly plain knit of a T-shirt, slightly flecked."""
    fine = fibre_noise(u.shape, rng)
    wales = np.sin(2 * np.pi * u / 0.27) * (0.6 + 0.4 * np.sin(2 * np.pi * v / 0.23))
    flecks = smooth_noise(u.shape, (2, 9), rng)
    shade = 0.97 + 0.012 * wales + 0.03 * fine + 0.022 * flecks
    return Weave(shade.astype(np.float32), (0.05 * fine + 0.03 * wales).astype(np.float32))


def twill(u: Plane, v: Plane, rng: np.random.Generator, *, pitch: float = 0.26) -> Weave:
    """Diagonal ribs, with the upright streaks of unevenly spun yarn."""
    diagonal = np.sin(2 * np.pi * (u + 0.8 * v) / pitch + 0.5 * smooth_noise(u.shape, (10, 10), rng))
    slubs = smooth_noise(u.shape, (46, 1.3), rng)
    weft = smooth_noise(u.shape, (1.6, 14), rng)
    fine = fibre_noise(u.shape, rng)
    shade = 1.0 + 0.05 * diagonal + 0.045 * slubs + 0.04 * weft + 0.10 * fine
    return Weave(shade.astype(np.float32), (0.10 * diagonal + 0.07 * fine).astype(np.float32))


def plain_weave(shape: tuple[int, int], rng: np.random.Generator) -> Weave:
    """Smooth cotton or viscose: hardly any structure."""
    threads = smooth_noise(shape, (24, 1.4), rng) + smooth_noise(shape, (1.4, 24), rng)
    fine = fibre_noise(shape, rng)
    return Weave((0.98 + 0.012 * threads + 0.014 * fine).astype(np.float32), (0.03 * fine).astype(np.float32))


def fibre_noise(shape: tuple[int, int], rng: np.random.Generator) -> Plane:
    """Single fibres: noise just above the size of a pixel."""
    grain = rng.standard_normal(shape, dtype=np.float32)
    return np.asarray(1.9 * cv2.GaussianBlur(grain, (0, 0), 0.75), dtype=np.float32)
