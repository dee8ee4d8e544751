"""All the light on one piece of a garment: that of the photo, the body's form, and the folds of the old cloth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.garment.regions import BoolMask
from engines.warp.body.model import BodyModel
from engines.warp.composite.form import (
    BroadLight,
    broad_light,
    falling_light,
    lightness_of,
    roundness,
)
from engines.warp.composite.shading import bounded, folds_of_old_cloth
from engines.warp.composite.shadows import shadow_of_arms
from engines.warp.pieces import Piece

SHADE_SEEN = 0.85
"""Share of the old cloth's broad light that is taken over: the new cloth is of another form."""

WORN_AS = ((Label.UPPER, "torso"), (Label.FULL, "torso"), (Label.LOWER, "leg"))
"""Old garments, and the pieces of new ones that hang on the body as they did: trousers fold otherwise than a skirt."""

LEAST_WORN = 0.05
"""Area of old cloth from which its light is read, in squared shoulder widths."""

LIT, DIMMEST_LIT = 72, 0.94
"""Percentage of a garment that is darker than what counts as lit, and the least light there."""

STRIDE = 4
"""That is measured at every so many pixels."""

LIGHTNESS = (0.0, 0.12, 0.30, 0.55, 0.80, 1.0)
"""Brightness of cloth at which the next are given."""

SHOWN = (1.6, 1.5, 1.2, 0.95, 0.7, 0.5), (2.0, 1.8, 1.3, 0.8, 0.3, 0.1)
"""How much of the valleys and of the lit flanks of folds that other cloth shows in the photo is seen in such cloth:
what is lit in white cloth is white and no more."""


@dataclass(frozen=True)
class PieceLight:
    """What is known of the light before it falls on a piece.

    Attributes:
        body: Measured from the photo.
        broad: Where light comes from.
        everywhere: ``(h, w)`` factor of that light.
        seen: ``(h, w)`` change of light by the old cloth's folds, as the photo shows it.
    """

    body: BodyModel
    broad: BroadLight
    everywhere: NDArray[np.float32]
    seen: NDArray[np.float32]

    def on_base(self, piece: Piece, arms: NDArray[np.float32], *, sleeved: bool) -> NDArray[np.float32]:
        """``(h, w)`` factor for torso, legs or skirt.

        Args:
            piece: What the light falls on.
            arms: ``(h, w)`` cover of the arms beside or before it.
            sleeved: Whether the garment goes on in sleeves.
        """
        body = self.body
        factor = self.everywhere * roundness(piece, body, self.broad, below_armpit=sleeved)
        if piece.name == "torso":
            factor = factor * shadow_of_arms(arms, body)
        if piece.name != "skirt":
            factor = factor * self._folded(piece)
        return bounded(factor, body.shoulder_width, lightness_of(piece))

    def on_sleeve(self, piece: Piece) -> NDArray[np.float32]:
        """``(h, w)`` factor for a sleeve."""
        factor = self.everywhere * roundness(piece, self.body, self.broad, below_armpit=False)
        return bounded(factor * self._folded(piece), self.body.shoulder_width, lightness_of(piece))

    def _folded(self, piece: Piece) -> NDArray[np.float32]:
        """``(h, w)`` factor of the folds that the photo shows: dark cloth shines, white cloth lights its valleys."""
        factor, window = np.ones(self.body.shape, np.float32), piece.window
        part, light = self.seen[window], lightness_of(piece)
        factor[window] += part * np.where(part < 0, *(np.float32(np.interp(light, LIGHTNESS, gain)) for gain in SHOWN))
        return factor


def lit_level(pieces: Sequence[Piece], factors: Sequence[NDArray[np.float32]]) -> np.float32:
    """Factor of light on the lit part of a garment, by which all of it is divided: there it has its product's colour.

    Args:
        pieces: Torso, legs or skirt.
        factors: ``(h, w)`` light on each.
    """
    every = (slice(None, None, STRIDE), slice(None, None, STRIDE))
    seen = [factor[every][piece.alpha[every] > 0.9] for piece, factor in zip(pieces, factors, strict=True)]
    light = np.concatenate(seen) if seen else np.zeros(0, dtype=np.float32)
    return np.float32(np.clip(np.percentile(light, LIT), DIMMEST_LIT, 1.0) if len(light) else 1.0)


def read_light(photo: NDArray[np.float32], old: BoolMask, body: BodyModel, pieces: Sequence[Piece]) -> PieceLight:
    """Read the light off a photo and the clothes worn in it.

    Args:
        photo: ``(h, w, 3)`` float32, 0 to 1.
        old: ``(h, w)`` bool, the old garment.
        body: Measured from the photo.
        pieces: The new one.
    """
    broad, unit = broad_light(photo, old, body), body.shoulder_width
    seen, unsaid = np.zeros(body.shape, np.float32), np.ones(body.shape, np.float32)
    # Every garment that is taken off has a usual brightness of its own.
    for label, kind in WORN_AS:
        worn = old & (body.labels == label)
        covers = [piece.alpha for piece in pieces if piece.name.endswith(kind)]
        if covers and worn.sum() > LEAST_WORN * unit**2:
            new = (
                np.maximum.reduce([*covers, *(piece.alpha for piece in pieces if piece.name.endswith("sleeve"))]) > 0.5
            )
            light = folds_of_old_cloth(photo, worn, new, unit)
            seen += light.change + SHADE_SEEN * light.shade
            unsaid -= SHADE_SEEN * light.broadly
    everywhere = 1 + (falling_light(body, broad) - 1) * np.maximum(unsaid, 0)
    return PieceLight(body, broad, everywhere, seen)
