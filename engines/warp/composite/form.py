"""The broad light on a body: where it comes from in the photo, and how cloth turns away from it."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.channels import brightness
from engines.garment.regions import BoolMask
from engines.labels import labelled_as
from engines.warp.body.model import LEFT, RIGHT, SIDES, BodyModel
from engines.warp.body.silhouette import ease
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

SIDE = (0.5, 0.9)
"""Where the two sides of a torso are compared: beyond the flat front, and inside the blurred edge, in half widths."""

BANDS = (0.25, 0.95, 8)
"""Heights between which they are compared, torso lengths, and in how many bands: a hand or a print hides some."""

LEAST_ON_SIDE, LEAST_BANDS = 12, 3
"""Below so many pixels on a side a band says nothing, and below so many bands the cloth does not."""

BLACK, READABLE = 0.05, 0.20
"""Brightness of cloth up to which its light is nothing but noise, and from which it is believed."""

OTHER_COLOUR = 0.10
"""Difference in the shares of red, green and blue between both sides from which it is print and no light."""

MOST_LIGHT = 0.40
"""Half the relative difference from which it is print as well."""

SPREAD = 0.12
"""Disagreement of the bands at which nothing is believed any more."""


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


class Reading(NamedTuple):
    """What a cue says of the light.

    Attributes:
        tilt: Half the relative difference between the right and the left of the torso, positive where light comes from
            the right.
        sure: How surely, 0 to 1.
    """

    tilt: float
    sure: float


NOTHING = Reading(0.0, 0.0)


def read_off_cloth(photo: NDArray[np.float32], body: BodyModel, stride: int) -> Reading:
    """Compare the right side of the clothed torso with the left one.

    The sides of a torso turn away from a lamp in front and to one of its sides alike; what differs between them is
    where the lamp stands.

    Args:
        photo: ``(h, w, 3)`` float32, 0 to 1.
        body: Measured from the photo.
        stride: Every so many pixels are looked at.
    """
    every = (slice(None, None, stride), slice(None, None, stride))
    worn = labelled_as(body.labels[every], (Label.UPPER, Label.FULL))
    heights, offsets = body.heights[every], body.laterals[every] * np.float32(body.shoulder_width)
    colour = photo[every]
    low, high, count = BANDS
    edges = np.linspace(low, high, count + 1)
    tilts, levels = [], []
    for begin, end in pairwise(edges):
        band = worn & (heights >= begin) & (heights < end)
        sides = {}
        for side in (LEFT, RIGHT):
            place = side * offsets / max(float(body.half_width((begin + end) / 2, side)), 1.0)
            sides[side] = colour[band & (place > SIDE[0]) & (place < SIDE[1])]
        if min(len(pixels) for pixels in sides.values()) < LEAST_ON_SIDE:
            continue
        left, right = (np.median(sides[side], axis=0) for side in (LEFT, RIGHT))
        tilt, level = _difference(left, right)
        if abs(tilt) < MOST_LIGHT:
            tilts.append(tilt)
            levels.append(level)
    if len(tilts) < LEAST_BANDS:
        return NOTHING
    spread = float(np.median(np.abs(np.array(tilts) - np.median(tilts))))
    bright = np.clip((float(np.median(levels)) - BLACK) / (READABLE - BLACK), 0, 1)
    return Reading(float(np.median(tilts)), float(bright * np.clip(2 * (1 - spread / SPREAD), 0, 1)))


def _difference(left: NDArray[np.float32], right: NDArray[np.float32]) -> tuple[float, float]:
    """Half the relative difference of two colours and their mean brightness; more than any light where they differ."""
    sums = float(left.sum()), float(right.sum())
    shares = np.abs(left / max(sums[0], 1e-3) - right / max(sums[1], 1e-3)).max()
    if min(sums) > 3 * BLACK and shares > OTHER_COLOUR:
        return 1.0, 0.0
    return (sums[1] - sums[0]) / max(sum(sums), 1e-3), sum(sums) / 6
