"""A plain T-shirt: short sleeves, crew neck, teal jersey."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cli.samples.fabric import Cloth, dyed, jersey
from cli.samples.light import FlatLay, Fold, fold_relief, rumple, seam_relief
from cli.samples.neckline import Neck, lay_front_rib, lay_inner_back
from cli.samples.outline import Canvas, Points, both_sides, curve, joined, mirrored, moved

TEAL = (32, 122, 124)
LENGTH_CM = 71.0
SHOULDER_TIP = (21.8, 5.4)
ARMPIT = (24.6, 23.5)
CUFF_OUTER = (35.4, 20.6)
CUFF_INNER = (27.2, 27.0)
STITCH_DARKNESS = 0.45

NECK = Neck(
    seam=curve((0, 9.4), (4.2, 8.5), (7.8, 5.0), (9.5, 0.2)),
    edge=curve((0, 7.4), (3.6, 6.6), (6.7, 3.4), (8.0, 0.0), (8.7, -0.9)),
    back_edge=curve((0, -0.1), (4.6, -0.4), (7.4, -1.0), (8.7, -0.9)),
    back_seam=curve((0, 1.8), (4.8, 1.3), (8.2, 0.2)),
    rib_colour=(30, 114, 117),
    rib_pitch=0.36,
)

ARMHOLE = curve(SHOULDER_TIP, (20.8, 11.0), (21.6, 18.5), ARMPIT)


def _body() -> Points:
    shoulder = curve((9.5, 0.2), (15.5, 2.5), SHOULDER_TIP)
    side = curve(ARMPIT, (24.1, 33.0), (24.2, 48.0), (24.9, 62.0), (25.2, LENGTH_CM - 0.6))
    hem = curve((25.2, LENGTH_CM - 0.6), (16.0, LENGTH_CM), (6.0, LENGTH_CM + 0.7), (0, LENGTH_CM + 0.6))
    return both_sides(joined(NECK.seam, shoulder, ARMHOLE, side, hem))


def _sleeve() -> Points:
    top = curve(SHOULDER_TIP, (25.4, 7.8), (30.8, 14.0), CUFF_OUTER)
    opening = curve(CUFF_OUTER, (31.6, 24.3), CUFF_INNER)
    return joined(top, opening, curve(CUFF_INNER, ARMPIT), curve(ARMPIT, (17.0, 18.0), SHOULDER_TIP))


def _folds() -> list[Fold]:
    return [
        Fold(curve((23.0, 24.5), (17.0, 29.5), (13.0, 38.0)), 2.2, 0.62),
        Fold(curve((23.5, 27.5), (19.0, 34.0), (17.5, 44.0)), 2.4, 0.55),
        Fold(curve((21.5, 21.0), (15.0, 23.0), (8.5, 28.5)), 2.3, 0.42),
        Fold(curve((-23.4, 25.0), (-18.5, 30.0), (-16.2, 39.0)), 2.4, 0.62),
        Fold(curve((-22.0, 21.5), (-15.5, 24.5), (-11.5, 30.0)), 2.0, 0.50),
        Fold(curve((-23.8, 30.0), (-21.0, 40.0), (-20.5, 50.0)), 2.8, 0.58),
        Fold(curve((24.0, 22.0), (27.0, 17.0), (26.8, 10.5)), 1.8, 0.50),
        Fold(curve((26.0, 24.5), (29.5, 19.5), (30.5, 15.5)), 1.5, 0.42),
        Fold(curve((-24.2, 22.5), (-26.2, 17.0), (-25.4, 10.0)), 1.8, 0.50),
        Fold(curve((-26.3, 25.2), (-30.0, 21.5), (-32.0, 17.5)), 1.6, 0.45),
        Fold(curve((-8.5, 34.0), (-6.5, 50.0), (-8.5, 69.0)), 3.6, 0.72),
        Fold(curve((2.0, 44.0), (1.0, 56.0), (3.0, 70.0)), 3.0, 0.48),
        Fold(curve((11.0, 40.0), (12.5, 54.0), (11.5, 70.0)), 3.6, 0.70),
        Fold(curve((-17.0, 52.0), (-16.0, 61.0), (-17.5, 70.0)), 2.6, 0.50),
        Fold(curve((19.0, 50.0), (18.5, 60.0), (20.0, 70.0)), 2.4, 0.52),
        Fold(curve((-10.0, 11.0), (-1.0, 16.0), (9.5, 11.5)), 2.8, 0.42),
        Fold(curve((-14.0, 5.5), (-11.5, 9.0), (-10.8, 14.0)), 1.6, 0.32),
        Fold(curve((14.5, 5.5), (12.0, 9.5), (11.6, 13.5)), 1.6, 0.32),
        Fold(curve((-13.0, 46.0), (-3.0, 49.5), (8.0, 47.0)), 2.2, 0.26),
    ]


def _surface(canvas: Canvas, rng: np.random.Generator) -> Cloth:
    x, y = canvas.grid()
    cloth = dyed(jersey(x, y, rng), TEAL)
    relief = rumple(canvas, rng, height=0.24, size=(12.0, 6.5)) + fold_relief(canvas, _folds())
    hem = curve((-26, LENGTH_CM - 3.2), (-10.0, LENGTH_CM - 2.2), (6.0, LENGTH_CM - 2.0), (26, LENGTH_CM - 3.2))
    stitching = np.zeros_like(x)
    for offset in (0.0, 0.45):
        stitching = np.maximum(stitching, canvas.dashes(moved(hem, 0, offset), 0.07, 0.34))
    relief += seam_relief(canvas, hem, depth=0.07, width=0.5)
    turn = np.array(CUFF_OUTER) - np.array(SHOULDER_TIP)
    turn /= np.linalg.norm(turn)
    for place in (lambda points: points, mirrored):
        relief += seam_relief(canvas, place(ARMHOLE), depth=0.12, width=0.3)
        for back in (2.1, 2.55):
            opening = curve(CUFF_OUTER, (31.6, 24.3), CUFF_INNER) - back * turn
            stitching = np.maximum(stitching, canvas.dashes(place(opening), 0.07, 0.34))
        relief += seam_relief(canvas, place(opening), depth=0.06, width=0.5)
    albedo = cloth.albedo * (1 - STITCH_DARKNESS * stitching[..., None])
    return Cloth(albedo.astype(np.float32), cloth.relief + relief)


def draw_tee() -> NDArray[np.uint8]:
    """The T-shirt on white paper, ``(1024, 928, 3)`` sRGB."""
    rng = np.random.default_rng(31)
    canvas = Canvas(width=928, height=1024, scale=12.3, top=78, seed=8)
    photo = FlatLay(canvas, rng)
    x, y = canvas.grid()
    lay_inner_back(photo, canvas, NECK, dyed(jersey(x, y, rng), TEAL), rng)
    silhouette = np.maximum.reduce([canvas.fill(_body()), canvas.fill(_sleeve()), canvas.fill(mirrored(_sleeve()))])
    photo.lay(silhouette, _surface(canvas, rng), roll=0.5, lift=0.7, shadow=0.6)
    lay_front_rib(photo, canvas, NECK, rng)
    return photo.photograph()
