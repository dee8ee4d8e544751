"""The inside of a short sleeve that is seen through its opening, beyond the edge of its front.

On a table the front of a sleeve ends above its back, and a strip of the inside lies between both edges; on an arm it
would be a patch at the cuff.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.cloth import Cloth
from engines.garment.curves import Polyline
from engines.garment.ground import to_lab
from engines.garment.neckline import even_cover
from engines.garment.regions import BoolMask, dilated, eroded, window_of
from engines.garment.sleeves import Sleeve

SHORT = 1.1
"""Length of a sleeve up to which its opening is wide enough to be looked into, in lengths of its seam."""

BOWS = np.arange(-0.025, 0.15, 0.0125)
"""How far the front's edge is bent inwards in its middle, in distances of the cuff's corners."""

ENDS = (0.0, 0.04, 0.08, 0.12, 0.16)
"""How far above the sleeve's lower end it meets the torso, likewise."""

POINTS = 40
"""Places along an edge at which it is looked for."""

BLUR, RIM = 1.2, 5
"""Blur of the colours, and width of the outline in which they say nothing, canvas pixels."""

CLEAR = 1.5
"""Strength beyond which an edge counts no more, in medians of the sleeve."""

LEAST_SEEN, LEAST_SCORE = 0.35, 0.9
"""Share of the edge that runs over cloth, and how steadily colours change there, 1 for a clear edge all along. Stripes
and prints change now one way and now the other."""

LEAST_DEPTH = 0.07
"""Depth of the inside that is seen, in distances of the cuff's corners: a stripe or a band along the end of a cuff is
met by an arc only where it is narrower."""

Reals = NDArray[np.float64]


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
    scores, changes = _steadiness(cloth.colour[window], inside, arcs)
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


def _steadiness(colour: NDArray[np.float32], inside: BoolMask, arcs: Reals) -> tuple[Reals, Reals]:
    """``(n,)`` how steadily colours change across each arc where it runs over cloth, 0 to 1, and how much, CIE Lab."""
    lab = to_lab(np.asarray(cv2.GaussianBlur(np.clip(colour * 255, 0, 255).astype(np.uint8), (0, 0), BLUR), np.uint8))
    planes = [np.ascontiguousarray(lab[..., channel]) for channel in range(3)]
    ways = [[cv2.Sobel(plane, cv2.CV_32F, *way) for plane in planes] for way in ((1, 0), (0, 1))]
    # Added one by one: sums along so short axes take several times as long.
    strength = sum((np.abs(slope) for way in ways for slope in way), np.zeros(inside.shape, np.float32))
    usual = max(float(np.median(strength[inside])) if inside.any() else 0.0, 0.5)
    along = np.gradient(arcs, axis=1)
    normals = np.stack([-along[..., 1], along[..., 0]], axis=-1)
    normals /= np.maximum(np.linalg.norm(normals, axis=-1, keepdims=True), 1e-6)
    height, width = inside.shape
    x = np.clip(np.rint(arcs[..., 0]), 0, width - 1).astype(int)
    y = np.clip(np.rint(arcs[..., 1]), 0, height - 1).astype(int)
    on_cloth = inside[y, x]
    along_x, along_y = (np.stack([slope[y, x] for slope in way], axis=-1) for way in ways)
    across = along_x * normals[..., :1] + along_y * normals[..., 1:]
    across *= on_cloth[..., None]
    counted = across / np.maximum(np.abs(across).sum(axis=-1), CLEAR * usual)[..., None]
    count = on_cloth.sum(axis=1)
    score, change = (np.abs(each.sum(axis=1)).sum(axis=-1) / np.maximum(count, 1) for each in (counted, across))
    return np.where(count >= LEAST_SEEN * POINTS, score, 0.0), change
