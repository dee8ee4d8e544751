"""What lies over worn cloth, hands, hair and straps of bags, painted over with the cloth around it."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Picture
from engines.channels import on_channels
from engines.filling import carried_out, fill_from
from engines.garment.regions import BoolMask, closed, dilated, eroded, nearest_known, window_of

RIM = 8
"""Width of the cloth's edge that is mixed with what lies over it, canvas pixels."""

SHADOW = 26
"""How far what lies over the cloth darkens and tints it, canvas pixels."""

WEAVE = 5.0
"""Detail finer than a blur of this deviation is weave, canvas pixels; coarser is the light on the cloth."""

EVEN = 2.0
"""Detail beyond so many times its usual size belongs to a seam or a print, and is not repeated elsewhere."""

AROUND = 6 * SHADOW
"""How far around the light of the cloth is read, canvas pixels."""


def without_chinks(cloth: BoolMask, covered: BoolMask) -> BoolMask:
    """What lies over the cloth, together with the chinks that labels leave between it and the cloth.

    Args:
        cloth: ``(h, w)``, cloth that is seen.
        covered: ``(h, w)``, cloth below something.
    """
    return covered | (closed(cloth | covered, RIM) & dilated(covered, RIM) & ~cloth)


def painted_over(canvas: Picture, cloth: BoolMask, covered: BoolMask) -> Picture:
    """The canvas with the cloth around it continued under what lay over it: its light smoothly, its weave mirrored.

    Args:
        canvas: ``(h, w, 3)`` uint8 sRGB.
        cloth: ``(h, w)``, cloth, the uncertain rim of what lies over it included.
        covered: ``(h, w)``, cloth below something; not empty.

    Returns:
        ``(h, w, 3)`` uint8, changed where something lay over the cloth, and in its light in the shadow around that.
    """
    window = window_of(covered, AROUND)
    part, hidden = canvas[window].astype(np.float32) / 255.0, covered[window]
    seen = eroded(cloth & ~covered, RIM)[window]
    if not seen.any():
        return canvas
    unshaded = seen & ~dilated(hidden, SHADOW)
    light = fill_from(part, unshaded if unshaded.any() else seen)
    own_light, _ = carried_out(part, (cloth[window] & ~hidden).astype(np.float32), WEAVE)
    away = cv2.distanceTransform((~hidden).astype(np.uint8), cv2.DIST_L2, 3)
    new = np.clip(1.0 - away / SHADOW, 0.0, 1.0).astype(np.float32) * cloth[window]
    new[hidden] = 1.0
    weave = np.where(on_channels(hidden), _mirrored(part - own_light, seen), part - own_light)
    painted = own_light + (light - own_light) * on_channels(new) + weave
    changed = canvas.copy()
    inside = new > 0.0
    changed[window][inside] = np.rint(np.clip(painted[inside], 0.0, 1.0) * 255).astype(np.uint8)
    return changed


def _mirrored(detail: NDArray[np.float32], seen: BoolMask) -> NDArray[np.float32]:
    """Detail of what is seen, without seams and prints, mirrored at its edge into what is not.

    Args:
        detail: ``(h, w, 3)`` float32.
        seen: ``(h, w)``, where it is known.
    """
    height, width = seen.shape
    nearest = nearest_known(seen)
    rows, columns = np.indices(seen.shape)
    across = np.clip(2 * (nearest // width) - rows, 0, height - 1)
    aside = np.clip(2 * (nearest % width) - columns, 0, width - 1)
    usual = 1.48 * np.median(np.abs(detail[seen]), axis=0)
    even = np.clip(detail, -EVEN * usual, EVEN * usual)
    return np.asarray(even.reshape(-1, 3)[nearest[across, aside]], np.float32)
