"""The outline of a short sleeve: from the shoulder straight to a hem that stands off the arm and ends in no spike."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.curves import Polyline, lengths_along, smoothed
from engines.garment.regions import dilated, opened
from engines.warp.body.limbs import Limb
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import towards
from engines.warp.drape.taut import tautened
from engines.warp.pieces import Piece

STANDS_OFF = (0.05, 0.075)
"""How far the outer corner of a hem stands off the arm at least and at most, in shoulder widths: by 0.04 that of ribbed
knitwear that people wear, by 0.05 on strong arms, and by 0.08 to 0.10 that of other T-shirts. As far as the last,
without the folds that hold such a hem out, it looks blown up."""

MOST_SLANT = 0.18
"""By how much a hem, which keeps its length from the shoulder outside and from the armpit inside, may rise outwards
over its width, measured across the arm. Boxy sleeves, laid out, point sideways: theirs would rise more."""

ROUNDED = 2.0
"""Points of a sleeve's edge over which it goes over from the round of the shoulder into a straight line (standard
deviation)."""

SPIKE, AT_CORNER = 0.012, 0.16
"""Half the width of what is cut off as a spike at a corner of a cuff, and how far around the corner; in
shoulder widths. Where the armpit lies little above the cuff, the inner corner is drawn out to a torn point, and
the outer one of a cap is a thorn."""

EDGE, SOFT = 2, 0.7
"""Width of the soft edge of a spike, and softness of the outline where it was (standard deviation), pixels."""


def slanting(by_length: float, inner_end: float, inner: Polyline, arm: Limb, body: BodyModel) -> float:
    """Share of the arm at which the outer edge of a short sleeve ends.

    Laid out, a wide sleeve is long below the armpit's height only outside. Drawn as long as the armpit lies low, its
    outer edge would be half as long again as it is cut, and the sleeve a tube.

    Args:
        by_length: Where the edge ends by its own length.
        inner_end: Share at which the inner edge ends; the outer one ends nowhere below.
        inner: ``(2,)`` the hem's inner corner.
        arm: The arm.
        body: The body.
    """
    at = np.array([inner_end])
    width = arm.outer_at(at)[0] + (arm.points(at)[0] - inner) @ arm.outwards(at)[0]
    across = max(float(width), 0.0) + STANDS_OFF[1] * body.shoulder_width
    least = inner_end - MOST_SLANT * _hanging(arm, at, body) * across / arm.length
    return float(np.clip(by_length, least, inner_end))


def flared(
    edges: tuple[Polyline, Polyline], cuff: float, end: tuple[Limb, float], body: BodyModel, side: int
) -> Polyline:
    """The outer edge of a short sleeve, taut from the shoulder to a hem that stands off the arm.

    Cloth does not follow an arm inwards: people's own hems are the outermost points of their sleeves.

    Args:
        edges: ``(n, 2)`` the outer edge from the shoulder tip to the hem, along the arm, and the inner one from the
            armpit.
        cuff: Width of the hem laid flat, in pixels of the photo; 0 for a cap, which lies on the shoulder.
        end: The arm, and the share of it at which the edge ends.
        body: The body.
        side: Picture side.
    """
    (upper, lower), (arm, share), unit = edges, end, body.shoulder_width
    at = np.array([share])
    outwards = arm.outwards(at)[0].astype(np.float64)
    off = float((upper[-1] - arm.points(at)[0]) @ outwards) - float(arm.outer_at(at)[0])
    inwards = float((upper @ outwards).max() - upper[-1] @ outwards)
    room = cuff - float(np.linalg.norm(upper[-1] - lower[-1]))
    least = max(room, inwards, STANDS_OFF[0] * unit - off) if cuff else inwards
    moved = min(least, max(STANDS_OFF[1] * unit - off, 0.0))
    along = lengths_along(upper)
    taut = tautened(upper + outwards * (moved * _hanging(arm, at, body) * along / along[-1])[:, None], side)
    return smoothed(taut, ROUNDED)


def _hanging(arm: Limb, at: NDArray[np.float64], body: BodyModel) -> float:
    """How far an arm hangs down, 0 to 1: off one that is raised to the side cloth falls inwards, not outwards."""
    return float(towards(arm.points(at)[0] - arm.line[0]) @ body.skeleton.down) ** 2


def without_spikes(sleeve: Piece, unit: float) -> Piece:
    """A sleeve without what stands out like a spike at the corners of its cuff.

    Args:
        sleeve: As it was drawn; the rows of its mesh run from the outer to the inner edge.
        unit: Shoulder width in pixels.
    """
    if not sleeve.mesh.size:
        return sleeve
    alpha, colour = sleeve.alpha.copy(), sleeve.colour.copy()
    reach = round(AT_CORNER * unit)
    for x, y in np.rint(sleeve.mesh[-1, [0, -1]]).astype(int):
        # One window larger than the place by what is looked at.
        top, left = (max(int(at) - 2 * reach, 0) for at in (y, x))
        window = slice(top, max(int(y) + 2 * reach, 0)), slice(left, max(int(x) + 2 * reach, 0))
        cloth = alpha[window] > 0.5
        if not cloth.any():
            continue
        broad = opened(cloth, max(1, round(SPIKE * unit)))
        # With its soft edge, but without that of the cloth that stays.
        thin = dilated(cloth & ~broad, EDGE) & ~dilated(broad, 1)
        spike = cv2.GaussianBlur(thin.astype(np.float32), (0, 0), SOFT)
        rows, columns = np.indices(cloth.shape, np.float32)
        away = np.hypot(rows + np.float32(top - y), columns + np.float32(left - x)) / np.float32(reach)
        kept = np.asarray(1.0 - spike * np.clip(3.0 * (1.0 - away), 0.0, 1.0), np.float32)
        alpha[window] *= kept
        colour[window] *= kept[..., None]
    return replace(sleeve, alpha=alpha, colour=colour)
