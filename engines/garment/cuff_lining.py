"""The inside of a short sleeve that is seen through its opening, beyond the edge of its front.

On a table the front of a sleeve ends above its back, and a strip of the inside lies between both edges; on an arm it
would be a patch at the cuff.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from engines.garment.cloth import Cloth
from engines.garment.curves import Polyline
from engines.garment.neckline import even_cover
from engines.garment.regions import BoolMask, dilated, eroded, window_of
from engines.garment.sleeves import Sleeve
from engines.garment.steady_edge import Reals, steadiness

SHORT = 1.1
"""Length of a sleeve up to which its opening is wide enough to be looked into, in lengths of its seam."""

BOWS = np.arange(-0.025, 0.15, 0.0125)
"""How far the front's edge is bent inwards in its middle, in distances of the cuff's corners."""

ENDS = (0.0, 0.04, 0.08, 0.12, 0.16)
"""How far above the sleeve's lower end it meets the torso, likewise."""

POINTS = 40
"""Places along an edge at which it is looked for."""

RIM = 5
"""Width of the outline in which colours say nothing, canvas pixels."""

LEAST_SCORE = 0.9
"""How steadily colours change across the edge, 1 for a clear edge all along."""

LEAST_DEPTH = 0.07
"""Depth of the inside that is seen, in distances of the cuff's corners: a stripe or a band along the end of a cuff is
met by an arc only where it is narrower."""


def without_cuff_linings(cloth: Cloth, sleeves: tuple[Sleeve, Sleeve], parts: BoolMask) -> Cloth:
    """The cloth without what lies beyond the front's edge of its sleeves.

    Args:
        cloth: The garment.
        sleeves: Left and right in the picture, as they were traced.
        parts: ``(2, h, w)`` bool, the sleeves' cloth.
    """
    beyond = np.zeros(cloth.alpha.shape, bool)
    for sleeve in {id(sleeve): sleeve for sleeve in sleeves}.values():
        beyond |= _lining(cloth, sleeve, parts[0 if sleeve.side < 0 else 1])
    if not beyond.any():
        return cloth
    return replace(cloth, alpha=np.asarray(cloth.alpha * (1.0 - even_cover(beyond)), np.float32))


def _lining(cloth: Cloth, sleeve: Sleeve, part: BoolMask) -> BoolMask:
    """``(h, w)`` bool, the part of one sleeve beyond its front's edge; empty where none is seen."""
    nothing = np.zeros_like(part)
    seam = float(np.linalg.norm(sleeve.upper[0] - sleeve.lower[0]))
    window = window_of(part, 2 * RIM)
    if sleeve.length > SHORT * seam or not part[window].size:
        return nothing
    origin = np.array([window[1].start, window[0].start], np.float64)
    sleeved = (cloth.alpha[window] > 0.5) & dilated(part[window], RIM)
    inside = eroded(sleeved, RIM)
    arcs = _arcs(sleeve) - origin
    scores, changes = steadiness(cloth.colour[window], inside, arcs)
    best = int(np.argmax(np.where(scores < LEAST_SCORE, 0.0, changes)))
    arc = arcs[best]
    chord = float(np.linalg.norm(sleeve.upper[-1] - sleeve.lower[0]))
    if scores[best] < LEAST_SCORE or _deepest(sleeved, arc) < LEAST_DEPTH * chord:
        return nothing
    # On from the edge away from the seam, farther than any cuff, and down along the seam.
    out = 2.0 * (arc[[0, -1]].mean(axis=0) - (sleeve.upper[0] + sleeve.lower[0]) / 2 + origin)
    down = arc[-1] + sleeve.lower[0] - sleeve.upper[0]
    corners = np.rint(np.concatenate([arc, [down, down + out, arc[0] + out]])).astype(np.int32)
    drawn = cv2.fillPoly(np.zeros(part[window].shape, np.uint8), [corners], 1) > 0
    nothing[window] = drawn & dilated(part[window], RIM)
    return nothing


def _deepest(mask: BoolMask, arc: Reals) -> float:
    """How far inside a mask an arc runs where it is deepest, pixels."""
    depth = cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, 5)
    x, y = (np.clip(np.rint(arc[:-1, k]), 0, mask.shape[1 - k] - 1).astype(int) for k in (0, 1))
    return float(depth[y, x].max())


def _arcs(sleeve: Sleeve) -> Reals:
    """``(n, POINTS, 2)`` edges that the front may have, from the outer corner of the cuff to the torso."""
    outer, lowest, tip = sleeve.upper[-1], sleeve.lower[0], sleeve.upper[0]
    chord = float(np.linalg.norm(lowest - outer))
    up = (tip - lowest) / max(float(np.linalg.norm(tip - lowest)), 1e-6)
    share = np.linspace(0.0, 1.0, POINTS)[:, None]
    arcs = []
    for end in ENDS:
        inner = lowest + end * chord * up
        straight: Polyline = outer + (inner - outer) * share
        way = np.array([-(inner - outer)[1], (inner - outer)[0]]) / max(chord, 1e-6)
        way = way if way @ (tip - outer) > 0 else -way
        arcs += [straight + bow * chord * 4.0 * share * (1.0 - share) * way for bow in BOWS]
    return np.stack(arcs)
