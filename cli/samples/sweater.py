"""A sailor's jumper: long sleeves, crew neck, navy stripes on cream."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cli.samples.fabric import Cloth, dyed, knit, linear, rib, smooth_noise
from cli.samples.light import FlatLay, Fold, fold_relief, rumple, seam_relief
from cli.samples.neckline import Neck, lay_front_rib, lay_inner_back
from cli.samples.outline import Canvas, Plane, Points, both_sides, curve, joined, mirrored

CREAM = (224, 212, 187)
NAVY = (38, 46, 76)

STRIPE_ROWS = (7, 5)
"""Rows of stitches: cream, then navy."""

KNIT_ROW_CM = 0.27

PLAIN_YOKE_CM = 11.0
"""The stripes begin this far below the shoulder line."""

SHOULDER_TIP = (20.5, 5.2)
ARMPIT = (23.8, 25.0)
SLEEVE_START = (21.5, 11.0)
"""The sleeve's axis runs from here to `CUFF_MIDDLE`."""

CUFF_MIDDLE = (43.0, 59.2)
CUFF_CM = 6.5
CUFF_HALF_WIDTH = 4.1
HEM_CM = 5.5
BODY_LENGTH_CM = 64.0

NECK = Neck(
    seam=curve((0, 8.0), (3.9, 7.2), (7.2, 4.3), (9.1, 0.3)),
    edge=curve((0, 5.3), (3.2, 4.6), (5.9, 2.4), (7.4, -0.4), (8.2, -1.2)),
    back_edge=curve((0, -0.5), (4.2, -0.8), (7.0, -1.4), (8.2, -1.2)),
    back_seam=curve((0, 1.8), (4.4, 1.5), (8.6, 0.2)),
    rib_colour=NAVY,
)

ARMHOLE = curve(SHOULDER_TIP, (19.4, 12.0), (20.4, 20.0), ARMPIT)


def _sleeve_point(beside: float, down: float) -> tuple[float, float]:
    """A point of the right sleeve: centimetres beside its axis (outwards positive) and along it from its end."""
    start, end = np.array(SLEEVE_START), np.array(CUFF_MIDDLE)
    axis = (end - start) / np.linalg.norm(end - start)
    x, y = end + down * axis + beside * np.array([axis[1], -axis[0]])
    return float(x), float(y)


def _left(beside: float, down: float) -> tuple[float, float]:
    """The same for the left sleeve."""
    x, y = _sleeve_point(beside, down)
    return -x, y


def _body() -> Points:
    shoulder = curve((9.1, 0.3), (14.5, 2.4), SHOULDER_TIP)
    side = curve(ARMPIT, (23.5, 36.0), (23.9, 50.0), (23.4, 57.6), (22.3, 59.4), (22.0, BODY_LENGTH_CM))
    hem = curve((22.0, BODY_LENGTH_CM), (11.0, BODY_LENGTH_CM + 0.6), (0, BODY_LENGTH_CM + 0.8))
    return both_sides(joined(NECK.seam, shoulder, ARMHOLE, side, hem))


def _sleeve() -> Points:
    outer = curve(
        SHOULDER_TIP,
        (23.6, 7.8),
        _sleeve_point(8.0, -38),
        _sleeve_point(6.9, -20),
        _sleeve_point(6.0, -8.5),
        _sleeve_point(CUFF_HALF_WIDTH + 0.3, -CUFF_CM),
    )
    cuff_outer = curve(_sleeve_point(CUFF_HALF_WIDTH + 0.3, -CUFF_CM), _sleeve_point(CUFF_HALF_WIDTH, 0))
    end = curve(_sleeve_point(CUFF_HALF_WIDTH, 0), _sleeve_point(0, 0.5), _sleeve_point(-CUFF_HALF_WIDTH, 0))
    cuff_inner = curve(_sleeve_point(-CUFF_HALF_WIDTH, 0), _sleeve_point(-CUFF_HALF_WIDTH - 0.3, -CUFF_CM))
    inner = curve(
        _sleeve_point(-CUFF_HALF_WIDTH - 0.3, -CUFF_CM),
        _sleeve_point(-5.7, -9),
        _sleeve_point(-6.0, -20),
        (25.6, 28.2),
        ARMPIT,
    )
    under_body = curve(ARMPIT, (17.0, 20.0), (16.0, 9.0), SHOULDER_TIP)
    return joined(outer, cuff_outer, end, cuff_inner, inner, under_body)


def _striped(u: Plane, v: Plane, first: float, rng: np.random.Generator) -> Cloth:
    weave, row = knit(u, v, rng, row=KNIT_ROW_CM)
    period = sum(STRIPE_ROWS)
    begin = np.floor(first / KNIT_ROW_CM)
    navy = ((row - begin) % period >= STRIPE_ROWS[0]) & (row >= begin)
    # Dark yarn hides its own shadows, and a little cream shows between its stitches.
    colour = np.where(navy[..., None], linear(NAVY) + 0.012, linear(CREAM))
    return Cloth((weave.shade[..., None] * colour).astype(np.float32), weave.relief)


def _folds() -> list[Fold]:
    right = [
        Fold(curve((22.5, 24.5), (18.0, 29.0), (15.5, 36.0)), 2.2, 0.77),
        Fold(curve((21.5, 22.0), (16.0, 24.0), (11.0, 28.5)), 2.6, 0.59),
        Fold(curve((20.3, 19.0), (18.4, 13.0), (18.6, 7.0)), 2.0, 0.51),
        Fold(curve((23.5, 24.0), (26.5, 18.0), (26.0, 11.0)), 2.2, 0.77),
        Fold(curve((25.0, 27.0), (28.6, 23.0), (30.5, 19.0)), 1.8, 0.68),
        Fold(curve(_sleeve_point(-6.0, -31), _sleeve_point(-1.0, -29), _sleeve_point(4.5, -32)), 1.7, 0.71),
        Fold(curve(_sleeve_point(-6.2, -26), _sleeve_point(-1.5, -26), _sleeve_point(3.5, -23)), 1.6, 0.68),
        Fold(curve(_sleeve_point(6.0, -22), _sleeve_point(1.0, -20), _sleeve_point(-3.0, -16)), 2.0, 0.61),
        Fold(curve(_sleeve_point(-5.0, -11), _sleeve_point(0.0, -9.5), _sleeve_point(4.5, -11)), 1.5, 0.68),
        Fold(curve(_sleeve_point(-3.0, -30), _sleeve_point(0.5, -19), _sleeve_point(1.0, -8)), 3.4, 0.94),
        Fold(curve((20.5, 40.0), (18.5, 48.0), (19.0, 57.0)), 2.8, 0.71),
    ]
    left = [
        Fold(curve((-22.5, 25.5), (-17.0, 31.0), (-15.0, 40.0)), 2.4, 0.71),
        Fold(curve((-21.0, 22.0), (-15.0, 25.5), (-9.5, 27.5)), 2.4, 0.61),
        Fold(curve((-20.2, 18.0), (-18.2, 12.0), (-19.0, 7.0)), 2.0, 0.51),
        Fold(curve((-24.0, 24.0), (-27.0, 19.0), (-27.0, 12.0)), 2.3, 0.71),
        Fold(curve((-25.5, 29.0), (-29.0, 25.0), (-31.5, 23.5)), 1.8, 0.77),
        Fold(curve(_left(-5.8, -28), _left(-2.0, -30), _left(3.8, -33)), 1.7, 0.75),
        Fold(curve(_left(6.0, -21), _left(1.5, -20), _left(-3.0, -17)), 1.9, 0.65),
        Fold(curve(_left(-4.6, -10), _left(0, -10), _left(4.8, -13)), 1.5, 0.68),
        Fold(curve(_left(-3.0, -31), _left(0.2, -20), _left(-0.4, -9)), 3.4, 0.85),
        Fold(curve((-19.5, 43.0), (-20.5, 50.0), (-18.0, 57.5)), 2.6, 0.68),
    ]
    middle = [
        Fold(curve((-7.0, 30.0), (-4.5, 43.0), (-6.5, 57.0)), 4.2, 0.77),
        Fold(curve((8.0, 34.0), (6.5, 46.0), (9.0, 58.0)), 4.0, 0.77),
        Fold(curve((-9.5, 9.5), (-1.0, 14.0), (8.5, 10.0)), 3.4, 0.48),
    ]
    return right + left + middle


def _sleeve_axes(x: Plane, y: Plane, side: int) -> tuple[Plane, Plane]:
    """Centimetres across and along a sleeve; ``side`` is 1 for the one at the right of the picture."""
    start, end = np.array(SLEEVE_START, dtype=np.float32), np.array(CUFF_MIDDLE, dtype=np.float32)
    axis = ((end - start) / np.linalg.norm(end - start)).astype(np.float32)
    across = side * x - end[0]
    down = y - end[1]
    return across * axis[1] - down * axis[0], across * axis[0] + down * axis[1]


def _surface(canvas: Canvas, rng: np.random.Generator) -> Cloth:
    """The whole jumper as one piece of cloth: body, sleeves, hem and cuffs, with folds and seams."""
    x, y = canvas.grid()
    shape = (canvas.height, canvas.width)
    drift = 0.10 * smooth_noise(shape, (160, 190), rng)
    cloth = _striped(x + drift, y + drift, PLAIN_YOKE_CM, rng)
    hem = np.clip((y - (BODY_LENGTH_CM - HEM_CM)) * 4, 0, 1)
    cloth = cloth.patched(dyed(rib(x + drift, rng), NAVY), hem)
    relief = rumple(canvas, rng, height=0.16, size=(11.0, 8.0)) + fold_relief(canvas, _folds())
    relief += seam_relief(canvas, curve((-24, BODY_LENGTH_CM - HEM_CM), (0, BODY_LENGTH_CM - HEM_CM + 0.3), (24, 58.5)))
    body = canvas.fill(_body())
    for side in (1, -1):
        u, v = _sleeve_axes(x, y, side)
        sleeve = _striped(u + drift, v + drift + 60, 60 - 46.0, rng)
        sleeve = sleeve.patched(dyed(rib(u, rng), NAVY), np.clip((v + CUFF_CM) * 4, 0, 1))
        beside = (1 - body) * (side * x > 10)
        cloth = cloth.patched(sleeve, beside.astype(np.float32))
        placed = ARMHOLE if side == 1 else mirrored(ARMHOLE)
        cuff = curve(_sleeve_point(-5, -CUFF_CM), _sleeve_point(5, -CUFF_CM))
        relief += seam_relief(canvas, placed, depth=0.13, width=0.35)
        relief += seam_relief(canvas, cuff if side == 1 else mirrored(cuff))
    return Cloth(cloth.albedo, cloth.relief + relief)


def draw_sweater() -> NDArray[np.uint8]:
    """The jumper on white paper, ``(864, 1024, 3)`` sRGB."""
    rng = np.random.default_rng(20)
    canvas = Canvas(width=1024, height=864, scale=10.1, top=100, seed=4)
    x, y = canvas.grid()
    photo = FlatLay(canvas, rng)
    lay_inner_back(photo, canvas, NECK, dyed(knit(x, y, rng)[0], CREAM), rng)
    silhouette = np.maximum.reduce([canvas.fill(_body()), canvas.fill(_sleeve()), canvas.fill(mirrored(_sleeve()))])
    photo.lay(silhouette, _surface(canvas, rng), roll=0.9, lift=0.45, shadow=0.24)

    lay_front_rib(photo, canvas, NECK, rng)
    return photo.photograph()
