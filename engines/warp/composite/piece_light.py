"""All the light on one piece of a garment: that of the photo, the body's form, and folds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engines.garment.regions import BoolMask
from engines.warp.body.model import BodyModel
from engines.warp.composite.drawn_folds import arm_folds, deeper_on_dark, leg_folds, torso_folds
from engines.warp.composite.form import BroadLight, broad_light, chest_and_belly, falling_light, roundness
from engines.warp.composite.hanging_folds import hanging_folds
from engines.warp.composite.shading import bounded, folds_of_old_cloth
from engines.warp.composite.shadows import shadow_of_arms
from engines.warp.pieces import Piece

FOLDS_SEEN = 0.7
"""Share of the drawn folds that is left out where those of the old cloth are taken over."""


@dataclass(frozen=True)
class PieceLight:
    """What is known of the light before it falls on a piece.

    Attributes:
        body: Measured from the photo.
        broad: Where light comes from.
        everywhere: ``(h, w)`` factor of that light and of the old cloth's folds.
        lacking: Share of the drawn folds that those leave to be drawn, 0 to 1.
    """

    body: BodyModel
    broad: BroadLight
    everywhere: NDArray[np.float32]
    lacking: float

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
            factor = factor * shadow_of_arms(arms, body) * torso_folds(body, self.lacking) * chest_and_belly(body)
        elif piece.name.endswith("leg"):
            factor = factor * deeper_on_dark(self._on_legs, piece)
        if piece.name in ("torso", "skirt"):
            factor = factor * hanging_folds(piece, body)
        return bounded(factor, body.shoulder_width)

    def on_sleeve(self, piece: Piece) -> NDArray[np.float32]:
        """``(h, w)`` factor for a sleeve."""
        factor = self._on_arms * roundness(piece, self.body, self.broad, below_armpit=False)
        return bounded(factor, self.body.shoulder_width)

    @cached_property
    def _on_legs(self) -> NDArray[np.float32]:
        return leg_folds(self.body, self.lacking)

    @cached_property
    def _on_arms(self) -> NDArray[np.float32]:
        return self.everywhere * arm_folds(self.body, self.lacking)


def read_light(photo: NDArray[np.float32], old: BoolMask, body: BodyModel) -> PieceLight:
    """Read the light off a photo and the clothes worn in it.

    Args:
        photo: ``(h, w, 3)`` float32, 0 to 1.
        old: ``(h, w)`` bool, the old garment.
        body: Measured from the photo.
    """
    folds, believed = folds_of_old_cloth(photo, old, body.shoulder_width)
    broad = broad_light(photo, old, body)
    return PieceLight(body, broad, folds * falling_light(body, broad), 1 - FOLDS_SEEN * believed)
