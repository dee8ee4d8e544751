"""Boots that trousers are tucked into: the photo shows their shafts below the cloth, and no leg between."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.garment.regions import BoolMask, eroded, window_of
from engines.labels import labelled_as
from engines.warp.body.model import BodyModel
from engines.warp.body.sampling import nearest_pixels, values_at
from engines.warp.body.silhouette import reach

HIGHEST_SHAFT, SHAFT_UNTIL = 0.15, 0.86
"""How far below the knee a shaft ends at the highest, and above where it has to begin, in shares of the leg: below the
second is a shoe, which sticks out forwards."""

SAMPLES = 128
"""Samples of the leg in which its rim is looked for."""

BESIDE_RIM = 0.05
"""How far above and below the rim cloth and shaft are measured, in shares of the leg."""

WIDEST_CLOTH, WIDEST = 1.35, 0.60
"""Width of the cloth right above the rim over that of the shaft from which it hangs around it, and how far both are
looked at, in shoulder widths."""

MIXED = 1
"""Pixels along the rim that are mixed with the old cloth, over which what goes into it lies."""

TEETH, STEEPER = 1.6, 2.2
"""Blur that takes the teeth of the labels off the rim, pixels (standard deviation), and by how much what it leaves is
made steeper again."""

GOING_INTO = ((0.008, 0.40), (0.035, 0.22))
"""Reach, in shoulder widths (standard deviation), and depth of the dark line and of the soft shade in which a leg goes
into a boot."""

SHADE_GONE = 4.0
"""Distance at which nothing is left of a shade, over its reach."""


def rim_of_boot(body: BodyModel, side: int) -> float | None:
    """Share of a leg at which the boot begins that its trousers are tucked into; None without one.

    Args:
        body: The body.
        side: Side of the picture.
    """
    leg = body.legs[side]
    shares = np.linspace(leg.bend + HIGHEST_SHAFT - BESIDE_RIM, SHAFT_UNTIL, SAMPLES)
    there, framed = values_at(body.labels, leg.points(shares))
    shaft = np.flatnonzero(framed & (there == Label.FEET))
    if not len(shaft):
        return None
    above = np.asarray(framed & (there == Label.LOWER) & (shares > shares[shaft[0]] - BESIDE_RIM))[: shaft[0]]
    below = framed[shaft[0] :] & (there[shaft[0] :] == Label.FEET)
    if above.sum() * (shares[1] - shares[0]) < BESIDE_RIM / 2.0 or below.mean() < 0.5:
        return None
    rim = float(shares[shaft[0]])
    cloth, boot = (
        _width(body, side, rim + way * BESIDE_RIM, labels) for way, labels in ((-1.0, Label.LOWER), (1.0, Label.FEET))
    )
    return rim if 0.0 < cloth < WIDEST_CLOTH * boot else None


def cover_of_boot(body: BodyModel, side: int, rim: float) -> NDArray[np.float32]:
    """``(height, width)`` cover of the boot on a leg, 0 to 1, without the pixels that are mixed with what goes into it.

    Args:
        body: The body.
        side: Side of the picture.
        rim: Share of the leg at which the boot begins.
    """
    feet = np.asarray(body.labels == Label.FEET)
    window = window_of(feet, 2)
    numbered, _ = ndimage.label(feet[window])
    line = body.legs[side].points(np.linspace(rim, 1.0, SAMPLES))
    found = nearest_pixels(line - [window[1].start, window[0].start], numbered.shape)
    parts = numbered[found.rows, found.columns][found.framed]
    own: BoolMask = np.isin(numbered, parts[parts > 0])
    cover = np.zeros(body.shape, np.float32)
    soft = cv2.GaussianBlur(eroded(own, MIXED).astype(np.float32), (0, 0), TEETH)
    cover[window] = np.clip((soft - 0.5) * STEEPER + 0.5, 0.0, 1.0)
    return cover


def going_into(boot: NDArray[np.float32], shoulder_width: float) -> NDArray[np.float32]:
    """Darkening of a leg that goes into a boot, along the rim and above it, as a factor.

    Args:
        boot: ``(height, width)`` float32 cover of the boot, 0 to 1.
        shoulder_width: Pixels.
    """
    factor = np.ones_like(boot)
    for spread, depth in GOING_INTO:
        window = window_of(boot > 0, round(SHADE_GONE * spread * shoulder_width))
        soft = cv2.GaussianBlur(boot[window], (0, 0), max(spread * shoulder_width, 0.7))
        factor[window] *= 1.0 - depth * np.clip(2.0 * soft, 0.0, 1.0)
    return factor


def _width(body: BodyModel, side: int, share: float, label: Label) -> float:
    """Width in pixels of what has a label at a share of a leg; 0 where it does not end within the picture."""
    leg, at = body.legs[side], np.array([share])
    inside, line, outwards = labelled_as(body.labels, (label,)), leg.points(at), leg.outwards(at)
    ends = [float(reach(inside, line, way * outwards, WIDEST * body.shoulder_width)[0]) for way in (1.0, -1.0)]
    return sum(ends) if np.isfinite(ends).all() else 0.0
