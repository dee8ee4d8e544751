"""The bare body that clothes hide, and the light on it: known before the garment that is put on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.warp.body.bare_parts import BarePart, bare_arm, bare_leg, bare_torso
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.skin.light import SkinLight, limb_lights


@dataclass(frozen=True)
class BareBody:
    """All of a body as if it wore nothing.

    Attributes:
        limbs: Whole arms and legs by the label of their skin and by picture side.
        lights: On each of these.
        torso: Neck, shoulders, chest and midriff.
    """

    limbs: dict[Label, dict[int, BarePart]]
    lights: dict[Label, dict[int, SkinLight]]
    torso: BarePart


def bare_body(photo: NDArray[np.float32], body: BodyModel) -> BareBody:
    """Find where the parts of a bare body would be seen, and how light falls on them.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        body: The body in the photo.
    """
    limbs = {
        Label.ARMS: {side: bare_arm(body, side, 0.0) for side in SIDES},
        Label.LEGS: {side: bare_leg(body, side, 0.0) for side in SIDES},
    }
    return BareBody(limbs, limb_lights(photo, body.labels, limbs), bare_torso(body))
