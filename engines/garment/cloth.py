"""Cloth: a garment cut from its background, with partial cover at its outline and without the background's colour."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture
from engines.channels import distance, on_channels
from engines.garment.network import GarmentNetwork, Seen
from engines.regions import BoolMask, dilated, eroded, nearest_known, window_of

LONG_SIDE = 1024
"""Length of the photo's longer side on the canvas, pixels."""

MARGIN = 30
"""Blank frame around the photo, pixels, so that a cloth at the photo's edge still has an outside."""

PLAIN = 236
"""Grey on which cloth is shown to the network."""

RING = 5
"""Half width of the ring around the outline in which pixels may mix cloth and ground, canvas pixels."""

TRUSTED_CONTRAST = (0.14, 0.30)
"""Distances of cloth and ground colour (sRGB, 0 to 1) from which the colour mix is trusted a little, and fully."""

BEYOND = 48
"""How far beyond the garment its colours are carried on, canvas pixels: bites in its outline are filled with them."""

ALIKE_OUTLINE = 15
"""Side of the square, canvas pixels, in which one place with similar colours lowers the trust in all of them."""

SMOOTH = (2.2, 4.0)
"""Blur for finding an outline, canvas pixels (standard deviation), since cloth has no finer detail there; and the blur
where cloth and ground have similar colours, so that their surroundings tell where it runs."""

RAMP, LEAST_SLOPE = 1.6, 0.04
"""Width of the outline, canvas pixels, and the least change per pixel that is taken for its slope."""

MIXED_RIM, LIKE_CLOTH = 2, 0.95
"""How far inside the outline the photo mixes cloth and ground, canvas pixels. Farther inside, pixels with at most this
share of cloth are no cloth, but skin inside an outline that was drawn too wide."""


@dataclass(frozen=True)
class Cloth:
    """A garment lifted off its ground.

    Attributes:
        colour: ``(h, w, 3)`` float32 sRGB, 0 to 1, free of the ground's colour up to the edge and beyond it.
        alpha: ``(h, w)`` float32, 0 to 1.
        worn: Whether a person wore it in the picture: then the neck filled its opening, and the inside of its back is
            not in view.
        turned: Whether its picture was turned to have it upright.
        seen: What the network says of it, in its pixels.
    """

    colour: NDArray[np.float32]
    alpha: NDArray[np.float32]
    worn: bool = False
    turned: bool = False
    seen: Seen | None = None

    @property
    def shown(self) -> Seen:
        """What the network says of it.

        Raises:
            ValueError: It is a part of a garment, which the network has not seen.
        """
        if self.seen is None:
            raise ValueError("nobody looked at it")
        return self.seen


def lay_on_canvas(picture: Picture) -> Picture:
    """Scale a garment photo to the canvas and continue its border outwards.

    Args:
        picture: ``(height, width, 3)`` uint8 sRGB.

    Returns:
        ``(h + 2 * MARGIN, w + 2 * MARGIN, 3)`` uint8, where ``max(h, w) == LONG_SIDE``.
    """
    height, width = picture.shape[:2]
    scale = LONG_SIDE / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    interpolation = cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC
    resized = cv2.resize(picture, size, interpolation=interpolation)
    bordered = cv2.copyMakeBorder(resized, MARGIN, MARGIN, MARGIN, MARGIN, cv2.BORDER_REPLICATE)
    return np.asarray(bordered, dtype=np.uint8)


def looked_at(cloth: Cloth, network: GarmentNetwork) -> Cloth:
    """The cloth with what the network says of it when it is shown alone, on plain grey."""
    shown = PLAIN + (255.0 * cloth.colour - PLAIN) * cloth.alpha[..., None]
    return replace(cloth, seen=network.look(np.clip(shown, 0, 255).astype(np.uint8), MARGIN))


def _nearest_colour(colour: NDArray[np.float32], known: BoolMask, blur_sigma: float) -> NDArray[np.float32]:
    """Each pixel gets the colour of the nearest known one, smoothed."""
    nearest = colour.reshape(-1, 3).take(nearest_known(known), axis=0)
    return np.asarray(cv2.GaussianBlur(nearest, (0, 0), blur_sigma), dtype=np.float32)


def _ground_around(colour: NDArray[np.float32], outside: BoolMask) -> NDArray[np.float32]:
    """The ground's colour continued under the garment; it is smooth, so it is computed at half the size."""
    height, width = outside.shape
    size = (max(1, width // 2), max(1, height // 2))
    known = np.asarray(cv2.resize(outside.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST), dtype=bool)
    if not known.any():
        return _nearest_colour(colour, outside, 3.0)
    small = np.asarray(cv2.resize(colour, size, interpolation=cv2.INTER_AREA), dtype=np.float32)
    carried = _nearest_colour(small, known, 1.5)
    return np.asarray(cv2.resize(carried, (width, height), interpolation=cv2.INTER_LINEAR), dtype=np.float32)


def pull_matte(canvas: Picture, mask: BoolMask) -> Cloth:
    """Estimate alpha and pure cloth colours.

    Args:
        canvas: ``(h, w, 3)`` uint8 sRGB.
        mask: ``(h, w)`` bool.
    """
    colour = canvas.astype(np.float32) / 255.0
    alpha = mask.astype(np.float32)
    window = window_of(mask, BEYOND)
    if not mask[window].all():
        colour[window], alpha[window] = _matte_within(colour[window], mask[window])
    return Cloth(colour, alpha)


def _matte_within(colour: NDArray[np.float32], mask: BoolMask) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Pure cloth colours and alpha in a window of the canvas."""
    core, outside = eroded(mask, RING), ~dilated(mask, RING)
    if not core.any():
        core = mask
    if not outside.any():
        return colour, mask.astype(np.float32)
    rough, trust = _rough_matte(colour, mask, core, outside)
    unsure = (1 - trust) * dilated(core, RING + 3)
    alpha = _settled_outline(rough, ~core & ~outside, unsure.astype(np.float32))
    own = eroded(alpha > 0.5, MIXED_RIM) & (rough > LIKE_CLOTH)
    clean = np.where(on_channels(own), colour, _nearest_colour(colour, own if own.any() else core, 0.7))
    return clean.astype(np.float32), alpha


def _rough_matte(
    colour: NDArray[np.float32], mask: BoolMask, core: BoolMask, outside: BoolMask
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """``(h, w)`` the share of cloth by the colours, and how far the colours are trusted, 0 to 1.

    Between ``core`` and ``outside`` a pixel is taken as a linear mix of the nearest sure cloth colour F and the nearest
    sure ground colour B; its share is its projection on the line from B to F. Where F and B are too alike to tell, the
    softened mask stands.
    """
    cloth_colour = _nearest_colour(colour, core, 1.2)
    ground_colour = _ground_around(colour, outside)
    direction = cloth_colour - ground_colour
    contrast = distance(cloth_colour, ground_colour)
    along = (colour - ground_colour) * direction
    share = (along[..., 0] + along[..., 1] + along[..., 2]) / np.maximum(contrast**2, 1e-4)
    share = np.clip((share - 0.12) / 0.76, 0, 1)  # the ends of the ramp are noise, so they become 0 and 1

    depth = np.clip(cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, 5) / RING, 0, 1)
    reach = cv2.GaussianBlur(dilated(mask, 2).astype(np.float32), (0, 0), 0.8)
    mixed = np.maximum(share, depth**2) * reach
    softened = cv2.GaussianBlur(eroded(mask, 1).astype(np.float32), (0, 0), 1.0)
    low, high = TRUSTED_CONTRAST
    trust = np.clip((contrast - low) / (high - low), 0, 1)
    # Otherwise dark stripes would end farther out than the pale ones beside them, and the outline would look like a
    # comb.
    trust = cv2.erode(trust, np.ones((ALIKE_OUTLINE, ALIKE_OUTLINE), np.uint8))
    rough = np.where(~core, trust * mixed + (1 - trust) * softened, mask.astype(np.float32))
    rough[outside] = 0
    return rough.astype(np.float32), np.asarray(trust, dtype=np.float32)


def _settled_outline(rough: NDArray[np.float32], ring: BoolMask, unsure: NDArray[np.float32]) -> NDArray[np.float32]:
    """A matte with one smooth outline, as sharp as that of cloth in a photo.

    Grain and print of the cloth make the mix of colours ragged, and cloth that is hardly told from its ground leaves
    it as soft as a halo. An outline has neither: where the smoothed matte is a half it passes from nothing to all
    within `RAMP`.

    Args:
        rough: ``(h, w)`` the matte as colours tell it.
        ring: Where the outline may be.
        unsure: ``(h, w)`` 1 where they hardly do, 0 where they do or where the cloth is too thin for more smoothing.
    """
    fine, broad = (np.asarray(cv2.GaussianBlur(rough, (0, 0), sigma), dtype=np.float32) for sigma in SMOOTH)
    smooth = fine + (broad - fine) * unsure
    slope = cv2.magnitude(cv2.Scharr(smooth, cv2.CV_32F, 1, 0), cv2.Scharr(smooth, cv2.CV_32F, 0, 1)) / 32
    away = (smooth - 0.5) / np.maximum(slope, LEAST_SLOPE)
    return np.where(ring, np.clip(away / RAMP + 0.5, 0, 1), rough).astype(np.float32)
