"""Light on invented skin: round limbs, the side the light comes from, the shadow under a hem."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.warp.body.bare_parts import BarePart, bare_arm, bare_leg
from engines.warp.body.model import SIDES, BodyModel

LIMB_SHADE, TORSO_SHADE = 0.30, 0.16
"""How much darker skin is at the edge of a limb or torso than on its axis."""

HEM_SHADE, HEM_REACH = 0.16, 0.10
"""Depth of the shadow right under a cuff or hem, and the shoulder widths over which it fades."""

KNEE_RELIEF = 0.045
"""How much lighter the kneecap and darker the hollow under it are."""

MOST_TILT = 0.08
"""Largest brightness difference from the axis to an edge that light from one side makes."""

LEAST_SEEN = 400
"""Pixels of skin on a limb from which it says where the light comes from."""


def shade_of(part: BarePart, tilt: float, shoulder_width: float, *, torso: bool = False) -> NDArray[np.float32]:
    """Brightness factors of about 1 for the pixels of a part, in the order of ``part.on``."""
    depth = TORSO_SHADE if torso else LIMB_SHADE
    across, share = part.across[part.on], part.share[part.on]
    edge = np.abs(across).clip(0.0, 1.0)
    # Seen skin, whose tone is used, has dark edges of its own: half of their loss is given back.
    shade = (1.0 - depth * edge**3) / (1.0 - depth / 8.0) * (1.0 + tilt * across)
    if part.begin > 0.0:
        below = np.maximum(share - part.begin, 0.0) * part.length
        shade = shade * (1.0 - HEM_SHADE * np.exp(-below / (HEM_REACH * shoulder_width)))
    if part.bend > 0.0:
        cap = np.exp(-(((share - part.bend + 0.012) / 0.022) ** 2))
        hollow = np.exp(-(((share - part.bend - 0.030) / 0.022) ** 2))
        shade = shade * (1.0 + KNEE_RELIEF * (cap - hollow) * (1.0 - edge**2))
    return np.asarray(shade, dtype=np.float32)


def light_tilt(photo: NDArray[np.float32], body: BodyModel) -> float:
    """From which side the light comes: brightness gained from the axis of a limb to its right edge, as a share.

    Measured on the skin that is seen on both arms or both legs; a single limb would show the shadow of the torso.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        body: The body in the photo.
    """
    brightness = photo.mean(axis=2)
    tilts = []
    for limb_of, label in ((bare_arm, Label.ARMS), (bare_leg, Label.LEGS)):
        seen = np.asarray(body.labels == label)
        if seen.sum() < 2 * LEAST_SEEN:
            continue
        both = [_tilt_of(limb_of(body, side, 0.0), seen, brightness) for side in SIDES]
        tilts += [] if None in both else [tilt for tilt in both if tilt is not None]
    return float(np.clip(np.mean(tilts), -MOST_TILT, MOST_TILT)) if tilts else 0.0


def _tilt_of(limb: BarePart, seen: NDArray[np.bool_], brightness: NDArray[np.float32]) -> float | None:
    area = limb.on & seen
    right = area & (limb.across > 0.3) & (limb.across < 0.8)
    left = area & (limb.across < -0.3) & (limb.across > -0.8)
    if min(right.sum(), left.sum()) < LEAST_SEEN / 2:
        return None
    light, dark = float(np.median(brightness[right])), float(np.median(brightness[left]))
    # The two bands lie about 1.1 half widths apart.
    return (light - dark) / max(light + dark, 1e-3) * 2.0 / 1.1
