"""A wrap skirt: a-line, rust-coloured linen, tied at the side."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cli.samples.drape import Drape
from cli.samples.fabric import Cloth, dyed, plain_weave, smooth_noise
from cli.samples.light import FlatLay, Fold, fold_relief, rumple, seam_relief
from cli.samples.outline import Canvas, Points, both_sides, curve, joined, mirrored, moved

RUST = (172, 84, 58)
BAND_CM = 4.2
WAIST_HALF = 17.5
SIDE_HEM = (35.0, 68.0)
APEX = -68.0 * WAIST_HALF / (SIDE_HEM[0] - WAIST_HALF)
"""Where the two sides would meet above the waist."""

RADIUS = math.hypot(SIDE_HEM[0], SIDE_HEM[1] - APEX)
SPREAD = math.atan2(SIDE_HEM[0], SIDE_HEM[1] - APEX)

WAIST = curve((0, 1.6), (9.0, 1.1), (WAIST_HALF, 0))
BAND_SEAM = curve((0, 1.6 + BAND_CM), (9.0, 1.1 + BAND_CM), (WAIST_HALF + 1.0, BAND_CM - 0.1))
WRAP_EDGE = curve((11.6, 4.8), (12.6, 22.0), (13.4, 44.0), (10.5, 62.0), (4.0, 71.5))
"""The free edge of the front that lies on top, from the waistband to the hem."""

UNDER = Drape(APEX, 8, SPREAD, seed=5)
OVER = Drape(APEX, 9, SPREAD, seed=12)
KNOT = (12.4, 3.6)


def _side() -> Points:
    return curve((WAIST_HALF, 0), (WAIST_HALF + 1.0, BAND_CM), (22.6, 18.0), (28.6, 42.0), SIDE_HEM)


def _whole() -> Points:
    hem = UNDER.hem(RADIUS, 0.9, SPREAD, -SPREAD)
    return joined(mirrored(WAIST)[::-1], WAIST, _side(), hem, mirrored(_side())[::-1])


def _wrapped_front() -> Points:
    x, y = WRAP_EDGE[-1]
    hem = OVER.hem(RADIUS + 0.7, 1.2, math.atan2(x, y - APEX), -SPREAD)
    return joined(mirrored(WAIST)[::-1], curve((0, 1.6), (11.4, 1.0)), WRAP_EDGE, hem, mirrored(_side())[::-1])


def _cloth(canvas: Canvas, drape: Drape, rng: np.random.Generator, folds: list[Fold]) -> Cloth:
    x, _ = canvas.grid()
    linen = plain_weave(x.shape, rng)
    cloth = dyed(linen, RUST)
    uneven = 1 + 0.025 * smooth_noise(x.shape, (60, 3), rng) + 0.018 * smooth_noise(x.shape, (3, 50), rng)
    relief = cloth.relief + drape.relief(canvas, start=BAND_CM + 2.0, end=68.0, height=1.45)
    relief += rumple(canvas, rng, height=0.16, size=(14.0, 5.0)) + fold_relief(canvas, folds)
    return Cloth((cloth.albedo * uneven[..., None]).astype(np.float32), relief)


def _tucks(rng: np.random.Generator, first: float, last: float) -> list[Fold]:
    """Short creases that run down from the waistband."""
    folds = []
    for x in np.linspace(first, last, 12):
        top = float(x + rng.uniform(-0.8, 0.8))
        length = float(rng.uniform(6, 17))
        foot = top * (1 + 0.022 * length)
        folds.append(Fold(curve((top, BAND_CM + 0.6), (foot, BAND_CM + length)), 1.0, float(rng.uniform(0.1, 0.34))))
    return folds


def _strip(outline: list[tuple[float, float]]) -> Points:
    """A ribbon given by its two edges, with a straight cut end."""
    half = len(outline) // 2
    return joined(curve(*outline[:half]), curve(*outline[half:]))


def _lay_tie(photo: FlatLay, canvas: Canvas, cloth: Cloth) -> None:
    """The bow: two tails, two loops, and the knot over them."""
    x, y = KNOT
    tails = (
        ((-0.5, 0.5), (0.6, 7.0), (-0.2, 14.0), (1.4, 21.5), (4.4, 20.6), (2.7, 13.5), (2.9, 7.0), (1.0, 0.4)),
        ((0.3, 0.3), (4.0, 5.5), (5.2, 11.5), (8.3, 17.0), (10.6, 15.2), (8.0, 10.5), (6.6, 4.8), (1.4, 0.0)),
    )
    loops = (
        ((0.3, -0.4), (-2.6, -1.5), (-6.0, 0.1), (-7.2, 2.8), (-5.4, 4.3), (-2.4, 2.6), (0.2, 0.8)),
        ((0.2, -0.4), (3.2, -2.2), (6.8, -1.6), (8.2, 0.9), (6.6, 2.9), (3.4, 2.2), (0.3, 0.9)),
    )
    knot = ((-1.1, -0.8), (0.2, -1.3), (1.3, -0.6), (1.3, 0.9), (0.1, 1.5), (-1.2, 0.8), (-1.1, -0.8))
    for number, shape in enumerate((*tails, *loops, knot)):
        outline = [(x + right, y + down) for right, down in shape]
        placed = _strip(outline) if number < len(tails) else curve(*outline, outline[0])
        lift = 0.2 if number < len(tails) else 0.4
        middle = len(shape) // 2
        crease = curve((x, y), (x + 0.55 * shape[middle][0], y + 0.55 * (shape[middle][1] + shape[middle - 1][1]) / 2))
        relief = cloth.relief + fold_relief(canvas, [Fold(crease, 0.8, -0.45)])
        photo.lay(canvas.fill(placed), Cloth(cloth.albedo, relief), roll=0.35, lift=lift, shadow=0.5)


def draw_skirt() -> NDArray[np.uint8]:
    """The skirt on white paper, ``(1024, 960, 3)`` sRGB."""
    rng = np.random.default_rng(58)
    canvas = Canvas(width=960, height=1024, scale=12.3, top=58, seed=21)
    photo = FlatLay(canvas, rng)
    back = canvas.fill(
        both_sides(joined(curve((0, -0.6), (9.0, -0.8), (WAIST_HALF - 0.1, -0.2)), moved(WAIST[::-1], 0, 2)))
    )
    cloth = _cloth(canvas, UNDER, rng, _tucks(rng, 13.0, 18.0))
    photo.lay(back, Cloth(cloth.albedo * 0.5, 0 * cloth.relief), roll=0.3, lift=0.4)
    photo.lay(canvas.fill(_whole()), cloth, roll=0.5, lift=0.7, shadow=0.6)

    wrapped = _cloth(canvas, OVER, rng, _tucks(rng, -16.0, 10.0))
    hem_line = moved(WRAP_EDGE, -1.4, 0)
    seams = seam_relief(canvas, hem_line, depth=0.045)
    photo.lay(canvas.fill(_wrapped_front()), Cloth(wrapped.albedo, wrapped.relief + seams), roll=0.45, lift=0.45)
    flat = Cloth(cloth.albedo, (rumple(canvas, rng, height=0.08, size=(3.0, 6.0))).astype(np.float32))
    band_cover = canvas.fill(both_sides(joined(WAIST, BAND_SEAM[::-1])))
    topstitch = canvas.dashes(moved(joined(mirrored(BAND_SEAM)[::-1], BAND_SEAM), 0, -0.4), 0.08, 0.3)
    stitched = Cloth((flat.albedo * (1 - 0.3 * topstitch[..., None])).astype(np.float32), flat.relief)
    photo.lay(band_cover, stitched, roll=0.45, lift=0.16, shadow=0.45)
    _lay_tie(photo, canvas, flat)
    return photo.photograph()
