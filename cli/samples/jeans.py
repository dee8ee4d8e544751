"""Straight blue jeans with five pockets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cli.samples.fabric import Cloth, dyed, linear, smooth_noise, twill
from cli.samples.light import FlatLay, Fold, fold_relief, rumple, seam_relief
from cli.samples.outline import Canvas, Plane, Points, both_sides, curve, joined, mirrored, moved

INDIGO = (62, 86, 118)
WASHED = (120, 145, 172)
"""Where the cloth is worn pale: thighs, seams, edges."""

INSIDE = (128, 146, 168)
THREAD = (176, 122, 62)
COPPER = (150, 96, 58)

LENGTH_CM = 103.0
BAND_CM = 4.0
CROTCH = (0.0, 28.5)
FLY_END = (0.0, 19.5)

WAIST = curve((0, 1.7), (10.0, 1.1), (19.8, 0.0))
BAND_SEAM = curve((0, 5.7), (10.0, 5.1), (20.4, 3.9))
OUTSEAM = curve((20.4, 3.9), (22.6, 12.0), (23.9, 26.0), (23.9, 48.0), (23.7, 76.0), (23.6, LENGTH_CM))
INSEAM = curve(CROTCH, (0.9, 34.0), (1.5, 52.0), (2.1, 78.0), (2.5, LENGTH_CM + 0.5))
POCKET = curve((11.6, 5.0), (12.0, 8.6), (15.5, 11.6), (22.6, 12.4))
FLY = curve((-4.0, 5.8), (-4.0, 13.0), (-3.2, 17.5), FLY_END)
BUTTON = (0.2, 3.6, 0.85)
"""Its x, y and radius, centimetres."""

RIVETS = ((11.9, 6.6, 0.34), (21.6, 11.8, 0.34))
BELT_LOOPS = (-16.6, -7.6, 7.8, 16.8)


def _front() -> Points:
    side = joined(curve((19.8, 0.0), (20.4, 3.9)), OUTSEAM)
    hem = curve((23.6, LENGTH_CM), (13.0, LENGTH_CM + 0.9), (2.5, LENGTH_CM + 0.5))
    return both_sides(joined(WAIST, side, hem, INSEAM[::-1]))


def _folds() -> list[Fold]:
    creases = [
        ((2.0, 27.0), (7.0, 25.5), (13.5, 22.0), 1.4, 0.46),
        ((2.4, 30.0), (8.5, 30.0), (15.5, 27.0), 1.6, 0.46),
        ((3.0, 34.0), (8.5, 35.5), (14.0, 34.5), 1.8, 0.40),
        ((23.5, 18.0), (18.0, 21.0), (12.5, 21.0), 1.6, 0.30),
        ((5.0, 61.0), (11.5, 63.0), (18.0, 60.5), 2.0, 0.42),
        ((22.5, 66.0), (16.0, 68.5), (9.0, 67.0), 2.0, 0.38),
        ((6.0, 72.5), (12.0, 73.0), (17.0, 75.5), 1.8, 0.30),
        ((5.5, 95.0), (12.0, 93.0), (19.0, 95.5), 1.8, 0.38),
        ((21.5, 87.0), (15.5, 88.5), (10.5, 86.0), 1.8, 0.34),
        ((13.0, 36.0), (14.5, 62.0), (13.6, 97.0), 4.2, 0.80),
        ((8.0, 40.0), (7.0, 56.0), (9.0, 84.0), 2.6, 0.36),
    ]
    folds = []
    for number, (start, middle, end, width, height) in enumerate(creases):
        folds.append(Fold(curve(start, middle, end), width, height))
        # The other leg creases alike, not the same.
        folds.append(
            Fold(moved(mirrored(curve(start, middle, end)), 0.6, 1.7 * (-1) ** number), width * 1.1, height * 0.9)
        )
    return folds


def _wash(canvas: Canvas, rng: np.random.Generator) -> Plane:
    """Share of paleness, 0 to 1, that wear has left in every place."""
    x, y = canvas.grid()
    thigh = np.exp(-(((np.abs(x) - 13.2) / 6.0) ** 2) - ((y - 43.0) / 21.0) ** 2)
    shin = 0.2 * np.exp(-(((np.abs(x) - 13.6) / 6.0) ** 2) - ((y - 82.0) / 18.0) ** 2)
    seat = 0.2 * np.exp(-((y - 16.0) ** 2) / 90.0)
    patches = smooth_noise(x.shape, (70, 34), rng) * 0.035
    return np.asarray(np.clip(0.22 + 0.42 * thigh + shin + seat + patches, 0, 1), dtype=np.float32)


def _seams(canvas: Canvas, rng: np.random.Generator) -> tuple[Plane, Plane, Plane]:
    """Relief, paleness along the seams, and cover of the thread."""
    hem = curve((2.0, LENGTH_CM - 1.0), (14.0, LENGTH_CM - 0.8), (25.0, LENGTH_CM - 1.6))
    rise = curve(FLY_END, (0.3, 24.0), CROTCH)
    lines = [curve((0, 5.7), (0.1, 12.0), FLY_END), rise, BAND_SEAM, mirrored(BAND_SEAM), hem, mirrored(hem)]
    lines += [POCKET, mirrored(POCKET)]
    relief = np.sum([seam_relief(canvas, line, depth=0.16, width=0.3) for line in lines], axis=0)
    edges = [*lines, OUTSEAM, mirrored(OUTSEAM), INSEAM, mirrored(INSEAM)]
    near = np.maximum.reduce([canvas.stroke(line, 0.55) for line in edges])
    puckers = np.clip(0.55 + 0.6 * smooth_noise(near.shape, (5, 5), rng), 0, 1)
    inner = moved(INSEAM, 0.55, 0)
    twice = [POCKET, mirrored(POCKET), FLY, moved(rise, 0.45, 0)]
    stitched = [moved(line, 0, -0.55 if line is not FLY else 0) for line in twice]
    stitched += [moved(line, 0, -1.1) for line in twice[:2]]
    stitched += [moved(FLY, 0.55, 0)]
    stitched += [hem, mirrored(hem), inner, mirrored(inner)]
    stitched += [moved(BAND_SEAM, 0, -0.35), moved(mirrored(BAND_SEAM), 0, -0.35)]
    stitched += [moved(WAIST, 0, 0.4), moved(mirrored(WAIST), 0, 0.4)]
    thread = np.maximum.reduce([canvas.dashes(line, 0.11, 0.42) for line in stitched])
    return np.asarray(relief, dtype=np.float32), (near * puckers).astype(np.float32), thread


def _surface(canvas: Canvas, rng: np.random.Generator) -> Cloth:
    x, y = canvas.grid()
    weave = twill(x, y, rng)
    seams, worn, thread = _seams(canvas, rng)
    pale = np.clip(_wash(canvas, rng) + 0.30 * worn, 0, 1)[..., None]
    dye = linear(INDIGO) * (1 - pale) + linear(WASHED) * pale
    albedo = weave.shade[..., None] * dye
    albedo += (linear(THREAD) - albedo) * (0.8 * thread[..., None])
    relief = weave.relief + seams + 0.7 * thread
    relief += rumple(canvas, rng, height=0.20, size=(9.0, 6.0)) + fold_relief(canvas, _folds())
    return Cloth(albedo.astype(np.float32), relief.astype(np.float32))


def _lay_hardware(photo: FlatLay, canvas: Canvas, cloth: Cloth) -> None:
    """Belt loops, the button, and the rivets of the pockets."""
    for middle in BELT_LOOPS:
        left, right = middle - 0.6, middle + 0.6
        top = 1.35 - 0.0046 * middle**2
        loop = np.array([[left, top], [right, top], [right, top + 5.35], [left, top + 5.35]], dtype=np.float32)
        photo.lay(canvas.fill(loop), cloth, roll=0.3, lift=0.16, shadow=0.6)
    x, y = canvas.grid()
    rivets = [(side * across, down, radius) for side in (1, -1) for across, down, radius in RIVETS]
    turns = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    for centre_x, centre_y, radius in (BUTTON, *rivets):
        rim = np.stack([centre_x + radius * np.cos(turns), centre_y + radius * np.sin(turns)], axis=1)
        dome = -0.9 * canvas.scale * ((x - centre_x) ** 2 + (y - centre_y) ** 2) / radius / 4
        metal = Cloth(np.broadcast_to(linear(COPPER), (*x.shape, 3)).astype(np.float32), dome.astype(np.float32))
        photo.lay(canvas.fill(rim.astype(np.float32)), metal, roll=0.25, lift=0.12, shadow=0.6)


def draw_jeans() -> NDArray[np.uint8]:
    """The jeans on white paper, ``(1024, 704, 3)`` sRGB."""
    rng = np.random.default_rng(47)
    canvas = Canvas(width=704, height=1024, scale=9.15, top=42, seed=15)
    photo = FlatLay(canvas, rng)
    x, y = canvas.grid()
    back = canvas.fill(both_sides(joined(curve((0, -0.7), (10.0, -0.9), (19.6, -0.3)), moved(WAIST[::-1], 0, 2))))
    inside = dyed(twill(-x, y, rng), INSIDE)
    photo.lay(back, Cloth(inside.albedo * 0.6, inside.relief), roll=0.3, lift=0.4)
    cloth = _surface(canvas, rng)
    photo.lay(canvas.fill(_front()), cloth, roll=0.55, lift=0.5, shadow=0.40)
    band_step = canvas.fill(both_sides(joined(WAIST, BAND_SEAM[::-1])))
    photo.lay(band_step, cloth, roll=0.45, lift=0.16, shadow=0.4)
    _lay_hardware(photo, canvas, cloth)
    return photo.photograph()
