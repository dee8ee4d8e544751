"""The inner edge of a long sleeve below the armpit, where it lies on the torso: it leads on from the seam."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.garment.curves import Polyline, lengths_along
from engines.garment.sleeves import POINTS
from engines.garment.upper_landmarks import UpperLandmarks
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.drape.torso_loft import TorsoLoft

INWARDS, BENDING = 0.06, 0.35
"""How far inwards such an edge leads at the armpit, pixels per pixel down; and how much more with every shoulder width
further down. An arm that is thicker than that lies before the torso with its sleeve pressed flat."""

ON_TORSO, FREE = 0.45, 0.75
"""Distance from the armpit up to which cloth is held there, and from which it follows the arm alone: a forearm may lie
across the body. In shoulder widths along the edge."""

UNDER, BEGINS = 0.02, 0.2
"""How far the torso goes on under such an edge, in whose place only the torso may be seen, and within which distance
from the armpit; in shoulder widths."""

SLIT, SLIT_UNTIL = 0.06, (0.25, 0.5)
"""Width of a slit between such a sleeve and the torso which cloth closes at the armpit; one twice as wide stays open.
And the distances from there up to which it does so wholly and at all; in shoulder widths."""


def led_on_from_seam(lower: Polyline, torso_edge: Polyline, body: BodyModel, side: int) -> Polyline:
    """Hold the inner edge of a long sleeve where the seam leads it; an arm's own edge would leave it in a notch.

    Args:
        lower: ``(n, 2)`` from the armpit to the cuff, along the arm's inner edge.
        torso_edge: ``(m, 2)`` edge of the garment's torso from the armpit to the hem.
        body: The body.
        side: Picture side.
    """
    unit, origin, down = body.shoulder_width, body.skeleton.shoulders, body.skeleton.down
    across: NDArray[np.float64] = body.skeleton.right.astype(np.float64) * side
    along = lengths_along(lower) / unit
    out = (lower - origin) @ across
    held = out[0] - (INWARDS + BENDING * along) * along * unit
    covered = np.interp((lower - origin) @ down, (torso_edge - origin) @ down, (torso_edge - origin) @ across)
    covered = covered - UNDER * unit * ease(along / BEGINS)
    held = np.minimum(held, covered)
    moved = np.maximum(held - out, 0.0) * (1.0 - ease((along - ON_TORSO) / (FREE - ON_TORSO)))
    slit = np.maximum(out + moved - covered, 0.0) * ease(along / BEGINS)
    closing = ease(2 - slit / (SLIT * unit)) * (1 - ease((along - SLIT_UNTIL[0]) / np.ptp(SLIT_UNTIL)))
    return np.asarray(lower + (moved - slit * closing)[:, None] * across)


def edge_of_torso(loft: TorsoLoft, marks: UpperLandmarks, side: int) -> Polyline:
    """``(POINTS, 2)`` edge of a garment's torso on the body from the armpit to the hem, on one side of the picture."""
    rows = np.linspace(marks.armpits.row, marks.hem, POINTS)
    part = marks.torso_part[np.rint(rows).astype(int).clip(0, len(marks.torso_part) - 1)]
    offsets = side * (np.arange(part.shape[1]) - marks.axis)
    halves = np.where(part, offsets, 0.0).max(axis=1)
    return loft.place(np.stack([marks.axis + side * halves, rows], axis=1)).astype(np.float64)
