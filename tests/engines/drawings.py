"""Garments drawn from polygons, with the landmarks that were drawn."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Mask, Picture

Colour = tuple[int, int, int]

NECK = (0.085, 0.10)
TIP = (0.19, 0.145)
ARMPIT = (0.195, 0.36)
HEM = (0.20, 0.90)
"""(offset from the axis, row) in picture heights, shared by all drawn tops."""

CUFFS = {
    "t-shirt": ((0.335, 0.33), (0.275, 0.40)),
    "long sleeve": ((0.345, 0.84), (0.265, 0.86)),
    "cap sleeve": ((0.265, 0.235), (0.202, 0.355)),
}
"""Outer and inner corner of the cuff."""


@dataclass(frozen=True)
class DrawnGarment:
    """A garment photo and what is known about it.

    Attributes:
        picture: The photo.
        mask: 255 on the garment.
        points: Landmarks as (offset from the axis, row) in pixels: ``neck``, ``tip``, ``armpit``, ``hem``, ``cuff``.
        axis: x of the mirror axis.
    """

    picture: Picture
    mask: Mask
    points: dict[str, NDArray[np.float64]]
    axis: float


def draw_garment(
    kind: str = "t-shirt",
    *,
    colour: Colour = (40, 90, 160),
    ground: Colour = (255, 255, 255),
    stripes: Colour | None = None,
    height: int = 800,
    width: int = 700,
    shadow: bool = False,
    folds: float = 0.04,
    seed: int = 0,
) -> DrawnGarment:
    """Draw a flat garment in the middle of a plain ground.

    Args:
        kind: ``t-shirt``, ``long sleeve``, ``cap sleeve`` or ``tank top``.
        colour: Of the cloth.
        ground: Behind it.
        stripes: Colour of horizontal stripes, if any.
        height: Of the photo, pixels.
        width: Of the photo, pixels.
        shadow: Lay a soft shadow on the ground below the garment.
        folds: Share by which the cloth's brightness varies.
        seed: Of the sensor noise.
    """
    outline = _tank_top() if kind == "tank top" else _sleeved(kind)
    axis = width / 2
    right = np.array(outline) * height + [axis, 0]
    left = (np.array(outline[::-1]) * [-1, 1]) * height + [axis, 0]
    mask = np.zeros((height, width), np.uint8)
    cv2.fillPoly(mask, [np.rint(np.concatenate([right, left])).astype(np.int32)], 255)

    picture = np.empty((height, width, 3), np.float32)
    picture[:] = ground
    if shadow:
        cast = cv2.GaussianBlur(np.roll(mask, (8, 5), axis=(0, 1)).astype(np.float32) / 255, (0, 0), 8)
        picture *= 1 - 0.18 * cast[..., None]
    picture[mask > 0] = colour
    if stripes is not None:
        striped = (np.arange(height) // max(2, height // 40)) % 2 == 1
        picture[(mask > 0) & striped[:, None]] = stripes
    depth = cv2.distanceTransform(mask, cv2.DIST_L2, 5) / height
    shade = 1 - 2 * folds * np.exp(-depth / 0.012)  # cloth turns away from the light at its edges
    shade = shade * (1 + folds * np.sin(np.arange(width) / width * 22))[None]
    picture = np.where(mask[..., None] > 0, picture * shade[..., None], picture)
    noise = np.random.default_rng(seed).normal(0, 0.7, picture.shape)
    noisy = np.asarray(cv2.GaussianBlur(picture, (0, 0), 0.8)) + noise
    points = {name: np.array(at) * height for name, at in _landmarks(kind).items()}
    return DrawnGarment(np.clip(noisy, 0, 255).astype(np.uint8), mask, points, axis)


def _sleeved(kind: str) -> list[tuple[float, float]]:
    outer, inner = CUFFS[kind]
    return [(0.0, 0.135), (0.05, 0.125), NECK, TIP, outer, inner, ARMPIT, HEM, (0.0, 0.905)]


def _tank_top() -> list[tuple[float, float]]:
    return [(0.0, 0.26), (0.055, 0.22), (0.085, 0.10), (0.125, 0.105), (0.135, 0.25), ARMPIT, HEM, (0.0, 0.905)]


def _landmarks(kind: str) -> dict[str, tuple[float, float]]:
    if kind == "tank top":
        return {"neck": (0.085, 0.10), "tip": (0.125, 0.105), "armpit": ARMPIT, "hem": HEM}
    outer, inner = CUFFS[kind]
    cuff = ((outer[0] + inner[0]) / 2, (outer[1] + inner[1]) / 2)
    return {"neck": NECK, "tip": TIP, "armpit": ARMPIT, "hem": HEM, "cuff": cuff}
