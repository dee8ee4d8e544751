"""From a hard mask to a matte: partial cover in a thin ring, and cloth colours free of the ground."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture
from engines.garment.regions import BoolMask, dilated, eroded
from engines.warp.channels import distance
from engines.warp.pieces import Cloth

RING = 5
"""Half width of the ring around the outline in which pixels may mix cloth and ground, canvas pixels."""

TRUSTED_CONTRAST = (0.14, 0.30)
"""Between these distances of cloth and ground colour (sRGB, 0 to 1) the colour mix is trusted from not to fully."""

ALIKE_OUTLINE = 15
"""Over so many canvas pixels an outline is found in one way, wherever cloth and ground are alike in some of them."""


def _nearest_colour(colour: NDArray[np.float32], known: BoolMask, blur_sigma: float) -> NDArray[np.float32]:
    """Each pixel gets the colour of the nearest known one, smoothed."""
    unknown = np.asarray(~known, np.uint8)
    _, numbers = cv2.distanceTransformWithLabels(unknown, cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL)
    places = np.flatnonzero(known)
    numbered = np.zeros(len(places) + 1, np.int64)
    numbered[numbers.ravel()[places]] = places
    nearest = colour.reshape(-1, 3)[numbered[numbers]]
    return np.asarray(cv2.GaussianBlur(nearest, (0, 0), blur_sigma), dtype=np.float32)


def pull_matte(canvas: Picture, mask: BoolMask) -> Cloth:
    """Estimate alpha and pure cloth colours.

    In the ring around the outline a pixel is taken as a linear mix of the nearest sure cloth colour F and the
    nearest sure ground colour B; alpha is its projection on the line from B to F. Where F and B are too alike to
    tell, alpha is the softened mask.

    Args:
        canvas: ``(h, w, 3)`` uint8 sRGB.
        mask: ``(h, w)`` bool.
    """
    colour = canvas.astype(np.float32) / 255.0
    core, outside = eroded(mask, RING), ~dilated(mask, RING)
    if not core.any():
        core = mask
    if not outside.any():
        return Cloth(colour, mask.astype(np.float32))
    cloth_colour = _nearest_colour(colour, core, 1.2)
    ground_colour = _nearest_colour(colour, outside, 3.0)
    direction = cloth_colour - ground_colour
    contrast = distance(cloth_colour, ground_colour)
    along = (colour - ground_colour) * direction
    share = (along[..., 0] + along[..., 1] + along[..., 2]) / np.maximum(contrast**2, 1e-4)
    share = np.clip((share - 0.12) / 0.76, 0, 1)  # ends of the ramp are noise: pull them to 0 and 1

    depth = np.clip(cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, 5) / RING, 0, 1)
    reach = cv2.GaussianBlur(dilated(mask, 2).astype(np.float32), (0, 0), 0.8)
    mixed = np.maximum(share, depth**2) * reach
    softened = cv2.GaussianBlur(eroded(mask, 1).astype(np.float32), (0, 0), 1.0)
    low, high = TRUSTED_CONTRAST
    trust = np.clip((contrast - low) / (high - low), 0, 1)
    # Dark stripes beside pale ones would end farther out than those, and the outline would be a comb.
    trust = cv2.erode(trust, np.ones((ALIKE_OUTLINE, ALIKE_OUTLINE), np.uint8))
    ring = ~core & ~outside
    alpha = np.where(ring, trust * mixed + (1 - trust) * softened, mask.astype(np.float32))
    alpha[outside] = 0

    own = np.clip((alpha - 0.9) * 10, 0, 1) * (depth > 0.35)
    clean = colour * own[..., None] + cloth_colour * (1 - own[..., None])
    return Cloth(clean.astype(np.float32), alpha.astype(np.float32))
