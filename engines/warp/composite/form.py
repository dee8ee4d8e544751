"""The broad light on a body: where it comes from in the photo, and how cloth turns away from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.channels import brightness
from engines.garment.regions import BoolMask
from engines.labels import labelled_as
from engines.warp.body.model import LEFT, RIGHT, SIDES, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.composite.light_aside import Reading, read_off_cloth
from engines.warp.pieces import Piece

EDGE_FALLOFF, WHITE_LOSES_LESS = 0.20, 0.06
"""How much darker dark cloth is at the edge of a body part than on its axis, and by how much less white cloth is."""

USUAL_DROP = 0.05
"""How much darker cloth gets over a torso length downwards where the photo does not say."""

MOST_TILT, MOST_DROP = 0.10, 0.10
"""Bounds of what is read off the photo: half the difference between left and right, change over a torso length."""

STRIDE = 4
"""Broad light is measured at every so many pixels."""

LEAST_PIXELS = 150
"""Below this many of those, nothing is measured."""

DARK_CLOTH, BRIGHT_CLOTH = 0.12, 0.35
"""Brightness of old cloth up to which its shading is nothing but noise, and from which it is believed."""

PRINT = 0.25
"""Relative difference from the usual brightness from which it is a print or a deep fold."""

AWAY_SIDE = 0.9
"""How much stronger than the average the edge that faces away from the light is darkened, at `MOST_TILT`: the edge that
faces a lamp at the side is as light as the front."""

SKIN_SAYS, BESIDE_CLOTH = 0.5, 0.8
"""How surely arms and face say where light comes from, and by which share less where cloth says it."""


@dataclass(frozen=True)
class BroadLight:
    """How light changes over the person.

    Attributes:
        tilt: Half the relative difference between the right and the left edge of the torso in the picture; positive
            when light comes from the right.
        drop: Relative loss over one torso length downwards.
    """

    tilt: float
    drop: float


def broad_light(photo: NDArray[np.float32], old: BoolMask, body: BodyModel) -> BroadLight:
    """Read the broad light off the person's own clothes and skin.

    Args:
        photo: ``(h, w, 3)`` float32, 0 to 1.
        old: ``(h, w)`` bool, the old garment.
        body: Measured from the photo.
    """
    every = (slice(None, None, STRIDE), slice(None, None, STRIDE))
    bright = brightness(np.ascontiguousarray(photo[every]))
    heights, laterals, labels = body.heights[every], body.laterals[every], body.labels[every]
    across = read_off_cloth(photo, body, STRIDE)
    tilts = [across]
    drop = USUAL_DROP
    worn = old[every] & (np.abs(laterals) < 0.6)
    if worn.sum() > LEAST_PIXELS:
        usual = float(np.median(bright[worn]))
        plain = worn & (np.abs(bright - usual) < PRINT * usual)
        sure = float(np.clip((usual - DARK_CLOTH) / (BRIGHT_CLOTH - DARK_CLOTH), 0, 1)) * float(
            plain.sum() / worn.sum()
        )
        if plain.sum() > LEAST_PIXELS and sure > 0:
            aside = np.clip(laterals[plain] / 0.45, -1, 1)
            around = np.stack([np.ones_like(aside), aside, heights[plain]], axis=1)
            (_, _, down), *_ = np.linalg.lstsq(around, bright[plain] / usual, rcond=None)
            drop += sure * 0.5 * (float(np.clip(-down, -MOST_DROP, MOST_DROP)) - USUAL_DROP)
    skin = labelled_as(labels, (Label.ARMS, Label.FACE))
    halves = {side: bright[skin & (side * laterals > 0.03)] for side in SIDES}
    if min(len(half) for half in halves.values()) > LEAST_PIXELS / 2:
        left, right = (float(np.median(halves[side])) for side in (LEFT, RIGHT))
        sure = SKIN_SAYS * (1 - BESIDE_CLOTH * across.sure)
        tilts.append(Reading((right - left) / max(right + left, 0.1), sure))
    weight = sum(sure for _, sure in tilts)
    tilt = sum(value * sure for value, sure in tilts) / max(weight, 1.0)
    return BroadLight(float(np.clip(tilt, -MOST_TILT, MOST_TILT)), float(np.clip(drop, 0.0, MOST_DROP)))


def roundness(piece: Piece, body: BodyModel, light: BroadLight, *, below_armpit: bool) -> NDArray[np.float32]:
    """Cloth turns away from the light towards the edges of a body part, most at the edge away from the light.

    Args:
        piece: A part of the garment.
        body: The body it lies on.
        light: Where light comes from.
        below_armpit: Leave the shoulders alone, where torso and sleeve are one surface.
    """
    falloff = EDGE_FALLOFF - WHITE_LOSES_LESS * lightness_of(piece)
    window = piece.window
    position = np.clip(piece.across[window], -1, 1)
    squared = position * position
    away = np.float32(light.tilt / MOST_TILT)
    turned = squared * np.abs(position)
    if piece.name == "torso":
        # The front of a torso is flat, as far as it does not lie away from the light.
        turned = squared * squared + (turned - squared * squared) * np.maximum(-np.sign(position) * away, 0)
    bend = falloff * turned * (1 - np.float32(AWAY_SIDE) * away * position)
    if below_armpit:
        bend = bend * ease((body.heights[window] - 0.16) / 0.3)
    factor = np.ones(body.shape, dtype=np.float32)
    factor[window] -= bend
    return factor


def lightness_of(piece: Piece) -> float:
    """How light the cloth of a piece is in the mean, 0 to 1."""
    colour, alpha = piece.colour[::STRIDE, ::STRIDE], piece.alpha[::STRIDE, ::STRIDE]
    sure = alpha > 0.9
    return float(colour[sure].mean()) if sure.any() else 0.5


def falling_light(body: BodyModel, light: BroadLight) -> NDArray[np.float32]:
    """``(h, w)`` factor of the broad light over the whole person: from the side, and from above."""
    across = 1 + np.float32(light.tilt) * np.clip(body.laterals / np.float32(0.5), -1, 1)
    # Floor and walls throw light back on what hangs below: a skirt has the colour of its bodice.
    down = 1 - np.float32(light.drop) * np.clip(body.heights - np.float32(0.35), -0.35, 0.5)
    return np.asarray(across * down, dtype=np.float32)
