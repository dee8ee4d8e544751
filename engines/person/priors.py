"""How likely each material is at each place of the body, before any colour is looked at."""

from __future__ import annotations

import numpy as np

from engines.person.body import Body, Limb, nearest_limb
from engines.person.extents import Extents
from engines.person.naming import HAIR, LOWER, SKIN, UPPER
from engines.person.networks import Floats, sigmoid


def of(body: Body, extents: Extents) -> dict[int, Floats]:
    """Four ``(height, width)`` maps, 0 to 1, not summing to one."""
    face = body.face.mask(*body.shape).astype(np.float32)
    arm, _, _ = nearest_limb(body.arms)
    leg, _, _ = nearest_limb(body.legs)
    on_arm = sigmoid((1.05 - arm) * 8)
    on_leg = sigmoid((1.1 - leg) * 8)
    sleeved = _before(body.arms, extents.sleeves)
    covered = _before(body.legs, extents.hems)
    torso = sigmoid((body.height + 0.12) * 30) * sigmoid((0.75 - body.aside) * 12)
    above_waist = sigmoid((extents.waist - body.height) * 22)
    below_waist = sigmoid((body.height - extents.waist) * 22)

    skin = np.maximum.reduce(
        [
            0.02 * sigmoid((body.height + 0.3) * 20),
            0.97 * face,
            0.4 * _ears(body),
            0.8 * _neck(body),
            0.5 * _neckline(body),
            0.9 * on_arm * (1 - sleeved) * sigmoid((body.height + 0.05) * 20),
            0.9 * on_leg * (1 - covered),
            0.10 * sigmoid((body.height - 0.55) * 18) * sigmoid((1.0 - body.height) * 18),  # a bare midriff
        ]
    )
    flanks = (
        0.15 * sigmoid((body.aside - 0.3) * 12) * sigmoid((1.35 - body.height) * 12) * below_waist
    )  # an open jacket
    collar = 0.2 * _neck(body)
    upper = np.maximum.reduce([torso * above_waist, on_arm * sleeved, flanks, collar]) * (1 - face)
    lower = np.maximum(sigmoid((0.62 - body.aside) * 12), on_leg) * below_waist * (0.05 + 0.95 * covered) * (1 - face)
    hair = _hair(body) * (1 - 0.9 * face)
    return {HAIR: hair, SKIN: skin, UPPER: upper, LOWER: lower}


def _hair(body: Body) -> Floats:
    """Around the head surely, hanging down to the chest perhaps, never in front of chin and throat."""
    around = sigmoid((1.1 - body.head) * 7) * sigmoid((0.1 - body.below_chin) * 8)
    throat = sigmoid((body.below_chin + 0.05) * 25) * sigmoid((0.17 - body.aside) * 30)
    hanging = 0.25 * (1 - 0.97 * throat) * sigmoid((1.9 - body.head) * 5) * sigmoid((0.45 - body.height) * 12)
    return np.asarray(np.maximum(around, hanging), dtype=np.float32)


def _ears(body: Body) -> Floats:
    """Beside the face between eyes and chin."""
    beside = body.face.mask(*body.shape, scale=1.2).astype(np.float32)
    return beside * sigmoid((body.below_chin + 0.85) * 12)


def _neck(body: Body) -> Floats:
    return (
        sigmoid((body.below_chin + 0.15) * 20) * sigmoid((0.02 - body.height) * 25) * sigmoid((0.32 - body.aside) * 20)
    )


def _neckline(body: Body) -> Floats:
    below = np.maximum(body.height, 0.0)
    return np.asarray(np.exp(-((below / 0.22) ** 2) - (body.aside / 0.28) ** 2), dtype=np.float32)


def _before(limbs: tuple[Limb, Limb], ends: tuple[float, float]) -> Floats:
    """1 where the nearer limb is still covered, 0 past its end."""
    _, position, second = nearest_limb(limbs)
    end = np.where(second, np.float32(ends[1]), np.float32(ends[0]))
    return sigmoid((end - position) * 14)
