"""The plain ground a product photo is taken on: what colour it has, and where."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture

BORDER_SHARE = 0.03
"""Width of the strip in which the ground's colour is read, as a share of the shorter side."""

PLAIN_NOISE = 6.0
"""Largest spread of the border around the fitted surface, in CIE Lab units, of a ground that counts as plain."""

PLAIN_SHARE, QUIET_SHARE, QUIET = 0.72, 0.65, 0.5
"""Least share of the border that the fitted surface must explain on a plain ground, and on one whose noise is below the
third: there nothing but a garment that is cut off by its picture can be on the rest."""

TOUCHED, MOST_SPREAD = 0.99, 2.0
"""Share of the border explained below which something lies on it, and the noise over the median distance up to which it
is the ground's own: beyond, it is that of cloth, and pale stripes would drown in it."""


@dataclass(frozen=True)
class Ground:
    """The fitted ground.

    Attributes:
        colour: ``(h, w, 3)`` float32 CIE Lab, the ground's colour at each pixel as if nothing lay on it.
        noise: 90th percentile of the border's distance from that surface, in Lab units.
        explained: Share of the border that belongs to the surface, 0 to 1.
    """

    colour: NDArray[np.float32]
    noise: float
    explained: float

    @property
    def plain(self) -> bool:
        """Whether a flood from the border can be trusted."""
        return self.noise < PLAIN_NOISE and self.explained > (QUIET_SHARE if self.noise < QUIET else PLAIN_SHARE)


def to_lab(picture: Picture) -> NDArray[np.float32]:
    """CIE Lab (D65): L 0 to 100, a and b about -127 to 127, as float32."""
    return np.asarray(cv2.cvtColor(picture.astype(np.float32) / 255.0, cv2.COLOR_RGB2LAB), dtype=np.float32)


def _surface_terms(y: NDArray[np.float32], x: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(n, 6)``: the monomials up to degree two of coordinates in -1 to 1."""
    return np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=-1)


def _surface(weights: NDArray[np.float32], y: NDArray[np.float32], x: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(height, width, 3)``: the terms weighted, over a whole grid; most of them lie along one axis."""
    planes = []
    for flat, of_x, of_y, of_xx, of_xy, of_yy in weights.T:
        of_rows, of_columns = y * of_y + y * y * of_yy, flat + x * of_x + x * x * of_xx
        planes.append(of_rows[:, None] + of_columns + (y * of_xy)[:, None] * x)
    return np.asarray(cv2.merge(planes), dtype=np.float32)


def fit_ground(picture: Picture) -> Ground:
    """Fit a smooth colour surface to the border of a picture.

    A quadratic surface follows vignettes and lights from one side. Pixels far from the current surface are left
    out and the fit is repeated, so that a sleeve at the frame does not bend it.

    Args:
        picture: ``(h, w, 3)`` uint8 sRGB.
    """
    height, width = picture.shape[:2]
    strip = max(4, round(BORDER_SHARE * min(height, width)))
    border = np.zeros((height, width), dtype=bool)
    border[:strip] = border[-strip:] = True
    border[:, :strip] = border[:, -strip:] = True
    y, x = np.linspace(-1, 1, height, dtype=np.float32), np.linspace(-1, 1, width, dtype=np.float32)
    rows, columns = np.nonzero(border)
    rows, columns = rows[::7], columns[::7]
    samples, design = to_lab(picture[rows, columns][None])[0], _surface_terms(y[rows], x[columns])
    residual = np.linalg.norm(samples - np.median(samples, axis=0), axis=1)
    weights = np.zeros((6, 3), dtype=np.float32)
    for degree_terms in (3, 3, 6, 6):  # a plane first: it is steadier while strangers are still in the sample
        limit = max(3.0, 3.0 * float(np.median(residual)))
        inliers = residual < limit
        terms = design[inliers, :degree_terms].astype(np.float64)
        weights[:] = 0
        # The normal equations: six unknowns are quicker found than by taking thousands of rows apart.
        weights[:degree_terms] = np.linalg.lstsq(terms.T @ terms, terms.T @ samples[inliers], rcond=None)[0]
        residual = np.linalg.norm(samples - design @ weights, axis=1)
    inliers = residual < max(3.0, 3.0 * float(np.median(residual)))
    noise, explained = float(np.percentile(residual[inliers], 90)), float(inliers.mean())
    if explained < TOUCHED:
        noise = min(noise, MOST_SPREAD * float(np.median(residual[inliers])))
    return Ground(_surface(weights, y, x), noise, explained)
