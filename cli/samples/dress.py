"""A summer dress: sleeveless, scoop neck, flared skirt, a print of small flowers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cli.samples.drape import Drape
from cli.samples.fabric import Cloth, linear, plain_weave
from cli.samples.flowers import bent, flower_print
from cli.samples.light import FlatLay, Fold, fold_relief, rumple, seam_relief
from cli.samples.outline import Canvas, Plane, Points, both_sides, curve, joined, mirrored, moved

LINING = (190, 146, 84)
LINING_SHADE = 0.42
"""How dark the inside lies in the shadow of the front."""

LENGTH_CM = 96.0
WAIST_Y = 39.0
WAIST_HALF = 16.2
SIDE_HEM = (34.0, 94.0)
APEX = WAIST_Y - WAIST_HALF * (SIDE_HEM[1] - WAIST_Y) / (SIDE_HEM[0] - WAIST_HALF)
"""Where the sides of the skirt would meet above the waist."""

RADIUS = math.hypot(SIDE_HEM[0], SIDE_HEM[1] - APEX)
SPREAD = math.atan2(SIDE_HEM[0], SIDE_HEM[1] - APEX)
SKIRT = Drape(APEX, 9, SPREAD, seed=9)

NECK = curve((0, 14.0), (4.8, 12.6), (8.2, 8.0), (9.6, 0.2))
ARMHOLE = curve((15.2, 1.6), (14.2, 8.0), (15.2, 16.0), (20.0, 21.0))
WAIST = curve((0, WAIST_Y + 0.9), (8.0, WAIST_Y + 0.6), (WAIST_HALF, WAIST_Y))
DART = curve((7.6, WAIST_Y + 0.4), (7.9, 32.0), (8.6, 25.5))


def _front() -> Points:
    side = curve((20.0, 21.0), (19.0, 27.0), (16.9, 34.5), (WAIST_HALF, WAIST_Y))
    skirt_side = curve((WAIST_HALF, WAIST_Y), (19.4, 48.0), (26.4, 70.0), SIDE_HEM)
    right = joined(NECK, curve((9.6, 0.2), (15.2, 1.6)), ARMHOLE, side, skirt_side)
    hem = SKIRT.hem(RADIUS, 1.3, SPREAD, -SPREAD)
    return joined(right, hem, mirrored(right)[::-1])


def _folds(rng: np.random.Generator) -> list[Fold]:
    folds = [
        Fold(curve((18.5, 22.5), (14.0, 24.5), (9.5, 26.0)), 1.5, 0.42),
        Fold(curve((-18.6, 23.0), (-13.5, 25.6), (-9.5, 25.8)), 1.6, 0.40),
        Fold(curve((15.5, 35.0), (10.5, 33.5), (5.0, 34.5)), 1.5, 0.32),
        Fold(curve((-15.0, 33.5), (-9.5, 34.6), (-4.0, 33.5)), 1.5, 0.32),
        Fold(curve((-2.0, 17.0), (-1.0, 26.0), (-1.8, 37.0)), 2.4, 0.36),
        Fold(curve((12.5, 4.0), (12.0, 11.0), (13.2, 18.0)), 1.4, 0.32),
        Fold(curve((-12.2, 3.5), (-11.8, 10.0), (-13.0, 17.5)), 1.4, 0.32),
    ]
    for x in np.linspace(-15, 15, 19):
        top = float(x + rng.uniform(-0.5, 0.5))
        length = float(rng.uniform(5, 15))
        foot = top * (1 + length / (WAIST_Y - APEX))
        folds.append(Fold(curve((top, WAIST_Y + 0.4), (foot, WAIST_Y + length)), 0.9, float(rng.uniform(0.18, 0.46))))
    return folds


def _pattern(canvas: Canvas, rng: np.random.Generator) -> NDArray[np.float32]:
    """The print: straight on the bodice, fanned out on the skirt."""
    x, y = canvas.grid()
    pattern = flower_print(canvas, rng)
    bodice = bent(pattern, canvas, x, y)
    away = np.hypot(x, y - APEX)
    bearing = np.arctan2(x, y - APEX).astype(np.float32)
    # Where folds turn away from the camera, more cloth is squeezed into less picture.
    around = bearing * away + 0.4 * SKIRT.wave(bearing)
    skirt = bent(pattern, canvas, around.astype(np.float32), (away + APEX + 1.3).astype(np.float32))
    below = _below_waist(canvas)[..., None]
    return np.asarray(bodice + (skirt - bodice) * below, dtype=np.float32)


def _below_waist(canvas: Canvas) -> Plane:
    bottom = curve((0, 140.0), (60.0, 140.0), (60.0, WAIST_Y))
    return canvas.fill(both_sides(joined(WAIST, bottom[::-1])))


def _surface(canvas: Canvas, rng: np.random.Generator) -> Cloth:
    weave = plain_weave((canvas.height, canvas.width), rng)
    relief = weave.relief + SKIRT.relief(canvas, start=WAIST_Y, end=LENGTH_CM, height=1.1) * _below_waist(canvas)
    relief += rumple(canvas, rng, height=0.14, size=(9.0, 5.0)) + fold_relief(canvas, _folds(rng))
    edge_stitch = np.zeros_like(relief)
    for place in (lambda points: points, mirrored):
        relief += seam_relief(canvas, place(WAIST), depth=0.16, width=0.3)
        relief += seam_relief(canvas, place(DART), depth=0.10, width=0.25)
        for line in (moved(ARMHOLE, -0.8, 0.1), moved(NECK, 0.55, 0.6)):
            edge_stitch = np.maximum(edge_stitch, canvas.dashes(place(line), 0.08, 0.3))
            relief += seam_relief(canvas, place(line), depth=0.05, width=0.3)
    shade = weave.shade * (1 - 0.25 * edge_stitch)
    return Cloth((_pattern(canvas, rng) * shade[..., None]).astype(np.float32), relief)


def draw_dress() -> NDArray[np.uint8]:
    """The dress on white paper, ``(1024, 768, 3)`` sRGB."""
    rng = np.random.default_rng(73)
    canvas = Canvas(width=768, height=1024, scale=9.4, top=48, seed=33)
    photo = FlatLay(canvas, rng)
    cloth = _surface(canvas, rng)
    back_neck = curve((0, 3.4), (5.0, 2.6), (8.4, 0.8), (9.9, -0.2))
    back = canvas.fill(both_sides(joined(back_neck, curve((11.0, 0.6), (11.0, 12.0), (0, 17.0)))))
    # The back is lined with plain cotton, so that nobody takes it for a part of the front.
    weave = plain_weave((canvas.height, canvas.width), rng)
    lining = linear(LINING) * weave.shade[..., None]
    flat = rumple(canvas, rng, height=0.06, size=(6.0, 5.0))
    photo.lay(back, Cloth((LINING_SHADE * lining).astype(np.float32), flat), roll=0.3, lift=0.4)
    photo.lay(canvas.fill(_front()), cloth, roll=0.45, lift=0.55, shadow=0.45)
    return photo.photograph()
