"""Necks of tops: the inside of the back that shows above the front, and the rib that runs round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cli.samples.fabric import Cloth, Colour, dyed, fibre_noise, linear, rib, smooth_noise
from cli.samples.light import FlatLay
from cli.samples.outline import Canvas, Points, both_sides, curve, joined, moved, straight

INSIDE_BRIGHTNESS = 0.5
"""The inside of the back lies in the shadow of the front."""

LABEL = (236, 234, 230)


@dataclass(frozen=True)
class Neck:
    """A round neck, given by its right half; every curve runs from the middle outwards.

    Attributes:
        seam: Where the rib is sewn to the front.
        edge: The front rib's free edge.
        back_edge: The top of the back.
        back_seam: Where the rib is sewn to the back.
        rib_colour: sRGB.
        rib_pitch: Distance between ribs, centimetres.
    """

    seam: Points
    edge: Points
    back_edge: Points
    back_seam: Points
    rib_colour: Colour
    rib_pitch: float = 0.55


def band(inner: Points, outer: Points) -> Points:
    """The closed outline between two half curves, on both sides of the middle."""
    return both_sides(joined(inner, outer[::-1]))


def _radial_rib(canvas: Canvas, neck: Neck, centre: float, radius: float, rng: np.random.Generator) -> Cloth:
    """Rib whose ridges point to a spot on the middle line ``centre`` centimetres down."""
    x, y = canvas.grid()
    around = np.arctan2(x, y - centre) * np.float32(radius)
    return dyed(rib(around.astype(np.float32), rng, pitch=neck.rib_pitch), neck.rib_colour)


def lay_inner_back(photo: FlatLay, canvas: Canvas, neck: Neck, cloth: Cloth, rng: np.random.Generator) -> None:
    """Lay the back's upper end down, darker than the front, with its rib and a label."""
    bottom = moved(neck.seam, 0, 2.0)
    cover = canvas.fill(band(neck.back_edge, bottom))
    rib_cover = canvas.fill(band(moved(neck.back_edge, 0, -3), neck.back_seam))
    lying = cloth.patched(_radial_rib(canvas, neck, -16.0, 15.0, rng), rib_cover)
    top = float(neck.back_seam[0, 1]) + 0.25
    label = canvas.fill(both_sides(straight((0, top), (1.75, top), (1.75, top + 1.5), (0, top + 1.5))))
    woven = (linear(LABEL) * (1 + 0.03 * fibre_noise(cover.shape, rng)[..., None])).astype(np.float32)
    lying = lying.patched(Cloth(woven, np.zeros_like(cover)), label)
    printed = canvas.dashes(curve((-1.0, top + 0.7), (1.0, top + 0.72)), 0.22, 0.5)
    dark = INSIDE_BRIGHTNESS * (1 - 0.45 * printed * label) * (1 + 0.06 * smooth_noise(cover.shape, (30, 40), rng))
    photo.lay(cover, Cloth((lying.albedo * dark[..., None]).astype(np.float32), lying.relief), roll=0.4, lift=0.4)


def lay_front_rib(photo: FlatLay, canvas: Canvas, neck: Neck, rng: np.random.Generator) -> None:
    """Lay the front half of the rib over the seam."""
    outer = joined(neck.seam, np.stack([neck.seam[-1], neck.edge[-1]]))
    cover = canvas.fill(band(neck.edge, outer))
    photo.lay(cover, _radial_rib(canvas, neck, -2.0, 8.5, rng), roll=0.7, lift=0.2, shadow=0.45)
