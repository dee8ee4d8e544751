"""All the light on one piece of a garment: that of the photo, the body's form, and folds."""

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
    chest_and_belly,
    falling_light,
    lightness_of,
    roundness,
)
from engines.warp.composite.shading import bounded, folds_of_old_cloth
from engines.warp.composite.shadows import shadow_of_arms
from engines.warp.composite.shine import deepened
from engines.warp.folds.break_on_shoe import break_on_shoe
from engines.warp.folds.hanging import hanging_folds
from engines.warp.folds.laid import sleeve_folds, torso_folds
from engines.warp.folds.leg_folds import leg_folds
from engines.warp.folds.shown import shown_on
from engines.warp.pieces import Piece

SHADE_SEEN = 0.85
"""Share of the old cloth's broad light that is taken over: the new cloth is of another form."""

WORN_AS = ((Label.UPPER, "torso"), (Label.FULL, "torso"), (Label.LOWER, "leg"))
"""Old garments, and the pieces of new ones that hang on the body as they did: trousers fold otherwise than a skirt."""

LEAST_WORN = 0.05
"""Area of old cloth from which its light is read, in squared shoulder widths."""

LIT, DIMMEST_LIT = 72, 0.94
"""Percentage of a garment that is darker than what counts as lit, and the least light there."""

HEM_UNTIL = 1.95
"""How far below the shoulders a top ends at most, in shoulder widths: what goes on is a dress."""

STRIDE = 4
"""That is measured at every so many pixels."""

SEEN_IN_DRESS, FOLDED_IN_DRESS = 0.35, 0.6
"""Shares of a loose top's light and of its folds that a bodice shows: the skirt sewn to it pulls it straight."""

FOLDS_SEEN = {"torso": 0.65, "leg": 0.5}
"""Share of the reliefs' folds that is left out where those of the old cloth are taken over: of trousers only wide ones
are."""


@dataclass(frozen=True)
class PieceLight:
    """What is known of the light before it falls on a piece.

    Attributes:
        body: Measured from the photo.
        broad: Where light comes from.
        everywhere: ``(h, w)`` factor of that light.
        seen: ``(h, w)`` change of light by the old cloth's folds, as the photo shows it.
        lacking: ``(h, w)`` share of the reliefs' folds that those leave room for, 0 to 1.
    """

    body: BodyModel
    broad: BroadLight
    everywhere: NDArray[np.float32]
    seen: NDArray[np.float32]
    lacking: NDArray[np.float32]

    def on_base(self, piece: Piece, arms: NDArray[np.float32], *, sleeved: bool) -> NDArray[np.float32]:
        """``(h, w)`` factor for torso, legs or skirt.

        Args:
            piece: What the light falls on.
            arms: ``(h, w)`` cover of the arms beside or before it.
            sleeved: Whether the garment goes on in sleeves.
        """
        body = self.body
        factor = self.everywhere * roundness(piece, body, self.broad, below_armpit=sleeved)
        folds = np.zeros(body.shape, dtype=np.float32)
        if piece.name == "torso":
            factor = factor * shadow_of_arms(arms, body) * chest_and_belly(body)
            to_waist = is_long(piece, body)
            pulled = np.float32(FOLDED_IN_DRESS if to_waist else 1.0)
            folds += pulled * torso_folds(piece, body, self.broad.way, to_waist=to_waist) * self.lacking
        elif piece.name.endswith("leg"):
            folds += leg_folds(piece, body, self.broad.way) * self.lacking + break_on_shoe(piece, body)
        if piece.name in ("torso", "skirt"):
            folds += hanging_folds(piece, body, self.broad.way)
        factor = deepened(factor, piece, self.body.shoulder_width) * self._folded(
            piece, folds, old_cloth=piece.name != "skirt"
        )
        return bounded(factor, body.shoulder_width, lightness_of(piece))

    def on_sleeve(self, piece: Piece) -> NDArray[np.float32]:
        """``(h, w)`` factor for a sleeve."""
        factor = self.everywhere * roundness(piece, self.body, self.broad, below_armpit=False)
        folds = sleeve_folds(piece, self.body, self.broad.way) * self.lacking
        factor = deepened(factor, piece, self.body.shoulder_width) * self._folded(piece, folds)
        return bounded(factor, self.body.shoulder_width, lightness_of(piece))

    def _folded(self, piece: Piece, folds: NDArray[np.float32], *, old_cloth: bool = True) -> NDArray[np.float32]:
        return shown_on(piece, folds, self.seen if old_cloth else None, self.body.shoulder_width)


def is_long(piece: Piece, body: BodyModel) -> bool:
    """Whether a torso goes on as a skirt."""
    below = body.heights[::STRIDE, ::STRIDE][piece.alpha[::STRIDE, ::STRIDE] > 0.5]
    if piece.name != "torso" or not len(below):
        return False
    return float(np.percentile(below, 99)) * body.torso_length / body.shoulder_width > HEM_UNTIL


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
    seen, lacking, unsaid = (np.full(body.shape, value, dtype=np.float32) for value in (0, 1, 1))
    # Every garment that is taken off has a usual brightness of its own.
    for label, kind in WORN_AS:
        worn = old & (body.labels == label)
        covers = [piece.alpha for piece in pieces if piece.name.endswith(kind)]
        alike = SEEN_IN_DRESS if label == Label.UPPER and any(is_long(piece, body) for piece in pieces) else 1.0
        if covers and worn.sum() > LEAST_WORN * unit**2:
            new = (
                np.maximum.reduce([*covers, *(piece.alpha for piece in pieces if piece.name.endswith("sleeve"))]) > 0.5
            )
            light = folds_of_old_cloth(photo, worn, new, unit, seamed=kind == "leg")
            seen += alike * (light.change + SHADE_SEEN * light.shade)
            lacking -= alike * FOLDS_SEEN[kind] * light.believed
            unsaid -= alike * SHADE_SEEN * light.broadly
    everywhere = 1 + (falling_light(body, broad) - 1) * np.maximum(unsaid, 0)
    return PieceLight(body, broad, everywhere, seen, np.maximum(lacking, 0))
