"""The form of a bare leg in the photo's light: kneecap, shin, calves and ankle bones."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.warp.body.bare_parts import BarePart
from engines.warp.body.silhouette import ease
from engines.warp.skin.leg_surface import COLUMNS, END, ROWS, leg_surface

FROM_ABOVE, FROM_SIDE, MOST_FROM_SIDE = 0.75, 4.5, 0.95
"""How much more light comes from above than from the front, how much more comes from one side for each share by which
that edge of a limb is brighter than its axis, and the most of that."""

IN_VALLEY = 13.0
"""Loss of light of what lies a shoulder width below its surroundings."""

DARKEST, LIGHTEST, MOST_GLOSS = 0.28, 0.10, 1.6
"""Largest loss and gain of light by the form, both approached and never passed, and the most gloss of skin, with whose
square the gain grows: on dark skin the light that its surface throws back is most of what is seen."""

RIM = 0.22
"""Width of the edge, in half widths of the leg, at which the form fades: there its round turns away."""


def leg_relief(part: BarePart, tilt: float, contrast: float = 1.0, gloss: float = 1.0) -> NDArray[np.float32]:
    """Brightness factors of about 1 for the pixels of a leg, in the order of ``part.on``.

    Args:
        part: A leg; its knee lies at ``part.bend``.
        tilt: Brightness gained from the axis of a limb to its right edge, as a share.
        contrast: How much the form stands out, over the usual.
        gloss: How much more the leg shines than light skin.
    """
    outwards, downwards, above = leg_surface(part.side)
    aside = part.side * float(np.clip(FROM_SIDE * tilt, -MOST_FROM_SIDE, MOST_FROM_SIDE))
    shines = float(np.clip(gloss, 1.0, MOST_GLOSS)) ** 2
    table = contrast * (FROM_ABOVE * downwards - aside * outwards + IN_VALLEY * above)
    lit = shines * LIGHTEST * np.tanh(table / LIGHTEST)
    table = np.where(table < 0.0, DARKEST * np.tanh(table / DARKEST), lit)
    across, share = part.across[part.on], part.share[part.on]
    place = np.where(share < part.bend, share / part.bend, 1.0 + (share - part.bend) / max(1.0 - part.bend, 0.1))
    columns = (across * np.float32(part.side) + 1.0) * np.float32((COLUMNS - 1) / 2.0)
    rows = place.astype(np.float32) * np.float32((ROWS - 1) / END)
    relief = _read(np.asarray(table, np.float32), columns, rows)
    return np.asarray(1.0 + relief * ease((1.0 - np.abs(across)) / RIM), np.float32)


def _read(table: NDArray[np.float32], columns: NDArray[np.float32], rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(n,)`` values of a table at places between its cells."""
    width = 4096
    padded = -len(columns) % width
    x, y = (np.pad(places, (0, padded)).reshape(-1, width) for places in (columns, rows))
    if not x.size:
        return np.zeros(0, np.float32)
    read = cv2.remap(table, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(read, np.float32).reshape(-1)[: len(columns)]
