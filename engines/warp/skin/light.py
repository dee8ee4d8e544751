"""Light on invented skin: round limbs, the side the light comes from, the shadow under a hem."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.channels import brightness
from engines.garment.regions import BoolMask, eroded
from engines.warp.body.bare_parts import BarePart
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease

USUAL_DEPTH, DEPTHS = 0.33, (0.12, 0.42)
"""How much darker skin is at the edge of a limb than on its axis, usually and between which measures."""

DARKEST = 0.36
"""Largest loss of brightness of a limb's dark edge; it is approached, never passed."""

TORSO_DEPTH = 0.30
"""The same at the sides of the torso below the armpits."""

ROUNDNESS = 2.0
"""Exponent of the distance from the axis with which skin darkens."""

SHEEN, SHEEN_WIDTH, SHEEN_ASIDE = 0.06, 0.36, 0.30
"""How much lighter the middle of a limb shines, half the width of that stripe, and how far it lies towards the light;
widths in half widths of the limb."""

LEG_SHEEN = 0.5
"""Share of that on legs: a stripe from end to end is that of a doll."""

HEM_SHADE, HEM_REACH = 0.16, 0.10
"""Depth of the shadow right under a cuff or hem, and the shoulder widths over which it fades."""

ARM_SHADE, ARM_SHADE_REACH = 0.28, 0.055
"""Depth of the shadow on the torso beside a hanging arm, and its reach in shoulder widths."""

ARMPIT = (0.07, 0.18)
"""Between these heights, or shares of an arm, the edge between torso and arm comes into being."""

MOST_TILT, USUAL_TILT = 0.30, 0.14
"""Largest brightness difference from the axis to an edge that light from one side makes, on a limb where it is seen
and on the hidden ones."""

OUTWARDS, LEGS_OUTWARDS = 0.07, 0.14
"""The same towards the outer edge of an arm and of a leg, beside which stands the other one, where no limb is seen that
could tell."""

LEAST_SEEN = 400
"""Pixels of skin on a limb from which it says where the light comes from."""


@dataclass(frozen=True)
class SkinLight:
    """How the photo's light falls on a limb.

    Attributes:
        tilt: Brightness gained from the axis of a limb to its right edge, as a share.
        depth: Brightness lost from the axis to either edge, as a share.
    """

    tilt: float
    depth: float


def torso_shade(part: BarePart, heights: NDArray[np.float32]) -> NDArray[np.float32]:
    """Brightness factors of about 1 for the pixels of the torso, in the order of ``part.on``.

    Args:
        part: The torso.
        heights: ``(height, width)`` in torso lengths; above the armpits a torso has no edges.
    """
    edge = np.abs(part.across[part.on]).clip(0.0, 1.0)
    below_armpit = ease((heights[part.on] - ARMPIT[0]) / (ARMPIT[1] - ARMPIT[0]))
    return np.asarray(1.0 - TORSO_DEPTH * edge**2.5 * below_armpit, dtype=np.float32)


def limb_shade(part: BarePart, light: SkinLight) -> NDArray[np.float32]:
    """Brightness factors of about 1 for the pixels of a limb, in the order of ``part.on``."""
    across = part.across[part.on]
    edge = np.abs(across).clip(0.0, 1.0)
    shade = (1.0 - light.depth * edge**ROUNDNESS) * (1.0 + light.tilt * across)
    towards = SHEEN_ASIDE * light.tilt / MOST_TILT
    sheen = SHEEN * (LEG_SHEEN if part.bend > 0.0 else 1.0)
    shade = shade + sheen * (np.exp(-(((across - towards) / SHEEN_WIDTH) ** 2)) - 0.75)
    return lit_from_around(np.asarray(shade, np.float32))


def lit_from_around(shade: NDArray[np.float32]) -> NDArray[np.float32]:
    """Brightness factors with what surrounds a body lighting its dark sides: shades do not add up to black."""
    return np.where(shade < 1.0, 1.0 - DARKEST * np.tanh((1.0 - shade) / DARKEST), shade).astype(np.float32)


def hem_shade(part: BarePart, shoulder_width: float) -> NDArray[np.float32]:
    """Brightness factors for the pixels of a limb under the hem it comes out of, in the order of ``part.on``."""
    if part.begin <= 0.0:
        return np.ones(int(part.on.sum()), np.float32)
    below = np.maximum(part.share[part.on] - part.begin, 0.0) * part.length
    return np.asarray(1.0 - HEM_SHADE * np.exp(-below / (HEM_REACH * shoulder_width)), dtype=np.float32)


def shade_of_arms(torso: BoolMask, arms: BoolMask, body: BodyModel) -> NDArray[np.float32]:
    """Factors of about 1, ``(height, width)``: a hanging arm keeps light off the torso beside it."""
    below_armpit = ease((body.heights - ARMPIT[0]) / (ARMPIT[1] - ARMPIT[0]))
    beside = _beside(arms, ARM_SHADE_REACH * body.shoulder_width)
    return np.asarray(1.0 - ARM_SHADE * beside * below_armpit * (torso & ~arms), np.float32)


def _beside(mask: BoolMask, reach: float) -> NDArray[np.float32]:
    """1 at the rim of a mask and within it, fading over a distance in pixels, ``(height, width)``."""
    reduce = 4
    size = (max(4, mask.shape[1] // reduce), max(4, mask.shape[0] // reduce))
    small = cv2.resize(mask.astype(np.float32), size, interpolation=cv2.INTER_AREA)
    near = np.minimum(2.0 * cv2.GaussianBlur(small, (0, 0), max(reach / reduce, 0.6)), 1.0)
    return np.asarray(cv2.resize(near, (mask.shape[1], mask.shape[0]), interpolation=cv2.INTER_LINEAR), np.float32)


def limb_lights(
    photo: NDArray[np.float32], labels: NDArray[np.uint8], limbs: dict[Label, dict[int, BarePart]]
) -> dict[Label, dict[int, SkinLight]]:
    """Measure the light on the limbs that are seen; the hidden ones lie in the light of the others.

    The side from which light falls on hidden limbs is told by both arms or both legs together; a single limb would
    show the shadow of the torso.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        labels: ``(height, width)`` of `Label`.
        limbs: Whole limbs by the label of their skin and by picture side.

    Returns:
        For each of these limbs.
    """
    bright = brightness(photo)
    measured: dict[Label, dict[int, SkinLight]] = {label: {} for label in limbs}
    tilts, depths = [], []
    for label, both in limbs.items():
        seen = eroded(labels == label, 1)
        if seen.sum() < LEAST_SEEN:
            continue
        for side, limb in both.items():
            light = _light_of(limb, seen, bright)
            if light is not None:
                measured[label][side] = light
                depths.append(light.depth)
        if len(measured[label]) == len(both):
            tilts += [light.tilt for light in measured[label].values()]
    # What is measured on few limbs is led towards the usual.
    depth = (USUAL_DEPTH + sum(depths)) / (1 + len(depths))
    tilt = float(np.clip(np.mean(tilts), -USUAL_TILT, USUAL_TILT)) if tilts else None
    lights: dict[Label, dict[int, SkinLight]] = {}
    for label, both in limbs.items():
        # Where nothing tells the side of the light, that towards the body and the other leg is the darker one.
        outwards = LEGS_OUTWARDS if label is Label.LEGS else OUTWARDS
        usual = {side: SkinLight(outwards * side if tilt is None else tilt, depth) for side in both}
        found = {side: measured[label].get(side, usual[side]) for side in both}
        lights[label] = found
    return lights


def _light_of(limb: BarePart, seen: BoolMask, light: NDArray[np.float32]) -> SkinLight | None:
    """Least squares of the brightness ``light``, ``(height, width)``, of a limb over the position across it."""
    area = limb.on & seen & (np.abs(limb.across) < 0.9)
    across, bright = limb.across[area].astype(np.float64), light[area].astype(np.float64)
    if min((across > 0.3).sum(), (across < -0.3).sum()) < LEAST_SEEN / 2:
        return None
    terms = np.stack([np.ones_like(across), across, -(np.abs(across) ** ROUNDNESS)], axis=1)
    level, tilt, depth = np.linalg.lstsq(terms, bright, rcond=None)[0]
    if level < 1e-3:
        return None
    return SkinLight(float(np.clip(tilt / level, -MOST_TILT, MOST_TILT)), float(np.clip(depth / level, *DEPTHS)))
