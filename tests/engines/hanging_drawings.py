"""Trousers, skirts and dresses drawn from polygons, as cloth that is already cut out and looked at."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np

from engines.base import Category, Picture
from engines.garment.cloth import Cloth, looked_at
from engines.garment.cutout import cut_out
from engines.garment.network import GarmentNetwork

HEIGHT, WIDTH = 900, 700
AXIS = WIDTH / 2

Outline = list[tuple[float, float]]
"""(offset from the axis, row) of the right half, from the top down."""


@cache
def network() -> GarmentNetwork:
    """The engine's own, loaded once."""
    return GarmentNetwork()


def cut(picture: Picture, category: Category = Category.UPPER_BODY) -> Cloth:
    """A garment's picture cut out, as the engine does it."""
    return cut_out(picture, category, network())


def cloth_of(*halves: Outline, colour: tuple[float, float, float] = (0.2, 0.3, 0.7)) -> Cloth:
    """Cloth filling mirrored outlines, with a soft edge."""
    mask = np.zeros((HEIGHT, WIDTH), np.uint8)
    for half in halves:
        right = [(AXIS + offset, row) for offset, row in half]
        left = [(AXIS - offset, row) for offset, row in half]
        for side in (right, left):
            cv2.fillPoly(mask, [np.rint(side).astype(np.int32)], 255)
    alpha = cv2.GaussianBlur(mask.astype(np.float32) / 255.0, (0, 0), 0.8)
    return looked_at(Cloth(np.broadcast_to(np.array(colour, np.float32), (HEIGHT, WIDTH, 3)).copy(), alpha), network())


def photographed(cloth: Cloth) -> Picture:
    """The cloth on white ground."""
    alpha = cloth.alpha[..., None]
    return np.asarray(255.0 * (cloth.colour * alpha + 1.0 - alpha), np.uint8)


def trousers(crotch: int = 330, hem: int = 830, waist: int = 60) -> Cloth:
    """Straight legs 90 pixels apart at the hem, closed at the crotch."""
    leg = [(0.0, waist), (110.0, waist), (135.0, crotch), (120.0, hem), (45.0, hem), (0.0, crotch)]
    return cloth_of(leg)


def shorts() -> Cloth:
    """Legs of a third of the rise."""
    return cloth_of([(0, 200), (180, 200), (230, 620), (40, 620), (0, 500)])


def skirt(hem: int = 800) -> Cloth:
    """Flares from 200 pixels at the waist to 400 at the hem."""
    return cloth_of([(0, 60), (100, 60), (200, hem), (0, hem)])


def dress(sleeves: bool = False, legs: bool = False, colour: tuple[float, float, float] = (0.7, 0.2, 0.3)) -> Cloth:
    """Drawn in at row 340; armholes end, or sleeves begin, at row 190."""
    body = [(0, 110), (55, 70), (105, 92), (94, 130), (98, 170), (116, 192), (90, 340), (150, 520), (170, 840)]
    inner = [(30, 840), (0, 560)] if legs else [(0, 840)]
    parts = [[*body, *inner]]
    if sleeves:
        parts.append([(105, 90), (215, 230), (165, 270), (108, 190)])
    return cloth_of(*parts, colour=colour)
