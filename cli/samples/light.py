"""Light on cloth and ground: folds, rolled edges, shadows, and the camera."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from cli.samples.fabric import SRGB_GAMMA, Cloth, linear, smooth_noise
from cli.samples.outline import Canvas, Plane, Points

TOWARDS_LIGHT = (-0.46, -0.60, 0.60)
"""A large soft lamp at the upper left; x to the right, y down, z towards the camera."""

AMBIENT = 0.36
"""Share of the light that comes from everywhere."""

HOLLOW_CM = 1.6
"""Hollows about this wide see less of the room."""

HOLLOW_DARKNESS = 1.5
"""Share of the ambient light lost for each centimetre of depth."""

GROUND = (245, 244, 242)
"""The white paper the garment lies on, sRGB."""

EXPOSURE = 1.06
"""Cloth lying flat is a little brighter than its dye, as in photos for shops."""


@dataclass(frozen=True)
class Fold:
    """A soft ridge (or with negative height, a crease).

    Attributes:
        path: Where it runs, centimetres.
        width: Distance from its crest to where it has all but vanished, centimetres.
        height: Centimetres above the cloth.
    """

    path: Points
    width: float
    height: float


def fold_relief(canvas: Canvas, folds: Iterable[Fold]) -> Plane:
    """Height in pixels that the folds add; they fade at both ends."""
    by_width: dict[float, list[Fold]] = defaultdict(list)
    for fold in folds:
        by_width[fold.width].append(fold)
    total = np.zeros((canvas.height, canvas.width), dtype=np.float32)
    for width, group in by_width.items():
        lines = np.zeros_like(total)
        for fold in group:
            fading = np.sin(np.linspace(0, np.pi, len(fold.path))) ** 0.7
            lines += fold.height * canvas.scale * canvas.stroke(fold.path, 0.2, fading.tolist())
        sigma = max(0.5 * width * canvas.scale, 0.8)
        stroke_pixels = max(1, round(0.2 * canvas.scale))
        total += _wide_blur(lines, sigma) * np.float32(sigma * np.sqrt(2 * np.pi) / stroke_pixels)
    return total


def rumple(canvas: Canvas, rng: np.random.Generator, *, height: float, size: tuple[float, float]) -> Plane:
    """The faint unevenness of any cloth lying flat, pixels; ``size`` (high, wide) and ``height`` in centimetres."""
    high, wide = size[0] * canvas.scale, size[1] * canvas.scale
    shape = (canvas.height, canvas.width)
    coarse = smooth_noise(shape, (high, wide), rng)
    finer = smooth_noise(shape, (0.4 * high, 0.45 * wide), rng)
    return np.asarray(height * canvas.scale * (coarse + 0.16 * finer), dtype=np.float32)


def seam_relief(canvas: Canvas, path: Points, *, depth: float = 0.09, width: float = 0.22) -> Plane:
    """The groove along a seam, pixels; ``depth`` and ``width`` in centimetres."""
    groove = cv2.GaussianBlur(canvas.stroke(path, 0.1), (0, 0), max(width * canvas.scale / 2, 0.7))
    return np.asarray(-depth * canvas.scale * groove / max(float(groove.max()), 1e-6), dtype=np.float32)


def shading(relief: Plane, scale: float) -> Plane:
    """Light coming back from a surface, 1 where it lies flat: Lambert's law, less what hollows lose of the ambient.

    Args:
        relief: Height in pixels.
        scale: Pixels per centimetre.
    """
    slope_x = cv2.Sobel(relief, cv2.CV_32F, 1, 0, ksize=3, scale=0.125)
    slope_y = cv2.Sobel(relief, cv2.CV_32F, 0, 1, ksize=3, scale=0.125)
    light_x, light_y, light_z = TOWARDS_LIGHT
    facing = (light_z - light_x * slope_x - light_y * slope_y) / np.sqrt(1 + slope_x**2 + slope_y**2)
    hollow = (relief - _wide_blur(relief, HOLLOW_CM * scale)) / scale
    ambient = AMBIENT * np.clip(1 + HOLLOW_DARKNESS * hollow, 0.4, 1.25)
    return np.asarray(ambient + (1 - AMBIENT) * np.maximum(facing, 0) / light_z, dtype=np.float32)


def _wide_blur(plane: Plane, sigma: float) -> Plane:
    """Gaussian blur, on a smaller picture where nobody sees the difference."""
    step = max(1, int(sigma / 5))
    if step == 1:
        return np.asarray(cv2.GaussianBlur(plane, (0, 0), sigma), dtype=np.float32)
    height, width = plane.shape
    small = cv2.resize(plane, (width // step, height // step), interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(small, (0, 0), sigma / step)
    return np.asarray(cv2.resize(soft, (width, height), interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def distance_inside(cover: Plane) -> Plane:
    """Distance of every covered pixel from the outline, pixels.

    The cover of the outermost pixels places the outline between them; without that, a slightly slanting edge
    would be lit in steps.
    """
    covered = (cover > 0.5).astype(np.uint8)
    distance, nearest = cv2.distanceTransformWithLabels(covered, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    rim = np.zeros(int(nearest.max()) + 1, dtype=np.float32)
    outside = covered == 0
    rim[nearest[outside]] = cover[outside]
    return np.asarray(np.where(outside, 0, np.maximum(distance + rim[nearest] - 0.5, 0)), dtype=np.float32)


def shifted(plane: Plane, right: float, down: float) -> Plane:
    """The plane moved by so many pixels."""
    matrix = np.array([[1, 0, right], [0, 1, down]], dtype=np.float32)
    return np.asarray(cv2.warpAffine(plane, matrix, (plane.shape[1], plane.shape[0])), dtype=np.float32)


class FlatLay:
    """A photo in the making: pieces of cloth are laid on white paper one over the other."""

    def __init__(self, canvas: Canvas, rng: np.random.Generator) -> None:
        self._canvas = canvas
        self._rng = rng
        falloff = 1 - 0.018 * (np.hypot(*canvas.grid()) / np.hypot(*canvas.grid()).max()) ** 2
        self._light: NDArray[np.float32] = (falloff[..., None] * linear(GROUND)).astype(np.float32)

    def lay(self, cover: Plane, cloth: Cloth, *, roll: float = 0.5, lift: float = 0.3, shadow: float = 0.5) -> None:
        """Put a piece of cloth on top.

        Args:
            cover: Where it is, 0 to 1.
            cloth: What it is made of, folds included.
            roll: How far its edge bends down towards what lies below, centimetres.
            lift: How far it lies above that, which decides how soft its shadow is, centimetres.
            shadow: How dark the shadow is at its darkest, 0 to 1.
        """
        scale = self._canvas.scale
        inside = distance_inside(cover)
        bend = np.clip(inside / (roll * scale), 0, 1)
        belly = np.clip(inside / (5 * roll * scale), 0, 1)
        rolled = roll * scale * (0.5 * np.sqrt(1 - (1 - bend) ** 2) + 0.4 * (1 - (1 - belly) ** 2))
        relief = cloth.relief + cv2.GaussianBlur(rolled.astype(np.float32), (0, 0), 1.2)
        lit = shading(relief, scale) * (1 - 0.20 * np.exp(-inside / (0.5 * roll * scale)))
        close = _wide_blur(shifted(cover, 0.2 * lift * scale, 0.4 * lift * scale), 0.5 * lift * scale + 0.8)
        wide = _wide_blur(shifted(cover, 1.1 * lift * scale, 1.9 * lift * scale), 2.0 * lift * scale + 1.5)
        below = self._light * (1 - shadow * (0.55 * close + 0.45 * wide))[..., None]
        surface = cloth.albedo * (EXPOSURE * lit)[..., None]
        self._light = (below + (surface - below) * cover[..., None]).astype(np.float32)

    def photograph(self) -> NDArray[np.uint8]:
        """The finished picture: the lens softens a little, the sensor adds a little noise."""
        sharp = np.clip(self._light, 0, 1) ** np.float32(1 / SRGB_GAMMA) * 255
        picture = cv2.GaussianBlur(sharp, (0, 0), 0.55)
        picture += self._rng.standard_normal(picture.shape[:2], dtype=np.float32)[..., None] * 0.8
        return np.clip(np.round(picture), 0, 255).astype(np.uint8)
