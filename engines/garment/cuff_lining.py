"""The inside of a short sleeve that is seen through its opening, beyond the edge of its front.

On a table the front of a sleeve ends above its back, and a strip of the inside lies between both edges; on an arm it
would be a patch at the cuff.
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from scipy import ndimage

from engines.garment.cloth import Cloth
from engines.garment.curves import Polyline
from engines.garment.ground import to_lab
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

SEEN_THROUGH, COLOURFUL, COLOURLESS = 0.045, 10.0, 0.5
"""Blur in which colour is looked at, in distances of the cuff's corners; the least chroma of a cuff, CIE Lab, that
tells it from the inside of a thin back, behind which lies the ground; and the share of it that this has at most."""

DETAIL, THREADS = 3.0, 7.0
"""Blur in canvas pixels beyond which the threads of such an inside stand out from the ground, and by how much, CIE L;
what is evenly white or black is a print."""

AT_END, LEAST_SCRAP = 0.30, 0.01
"""Part of a sleeve in which its cuff is, and the smallest area of such an inside, in squared distances of the cuff's
corners."""

AXES = np.s_[:, None], np.s_[None, :]
"""How numbers of rows and of columns are laid out over a picture."""

BELOW, BESIDE_SCRAP, LEAST_FRONT = 0.6, 0.12, 0.20
"""Share of a scrap of the inside that lies below the straight edge of the front, how far beside the scrap that edge is
seen, and along how much of the cuff it has to be; in distances of the cuff's corners."""

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
        part = parts[0 if sleeve.side < 0 else 1]
        beyond |= _lining(cloth, sleeve, part) | _thin_back(cloth, sleeve, part)
    if not beyond.any():
        return cloth
    return replace(cloth, alpha=np.asarray(cloth.alpha * (1.0 - even_cover(beyond)), np.float32))


def _lining(cloth: Cloth, sleeve: Sleeve, part: BoolMask) -> BoolMask:
    """``(h, w)`` bool, the part of one sleeve beyond its front's edge; empty where none is seen."""
    nothing = np.zeros_like(part)
    window = window_of(part, 2 * RIM)
    if not _is_short(sleeve) or not part[window].size:
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


def _thin_back(cloth: Cloth, sleeve: Sleeve, part: BoolMask) -> BoolMask:
    """``(h, w)`` bool, the colourless inside of a thin back below the end of a coloured sleeve; empty without one."""
    found = np.zeros_like(part)
    outer, inner = sleeve.upper[-1], sleeve.lower[-1]
    chord = float(np.linalg.norm(inner - outer))
    blur = max(SEEN_THROUGH * chord, 1.0)
    way = np.array([inner[1] - outer[1], outer[0] - inner[0]]) / max(chord, 1e-6)
    way = way if way @ (sleeve.upper[0] - outer) > 0 else -way
    rows, columns = (np.arange(size, dtype=np.float32)[place] for size, place in zip(part.shape, AXES, strict=True))
    whole = part & ((columns - outer[0]) * way[0] + (rows - outer[1]) * way[1] < AT_END * sleeve.length)
    window = window_of(whole, round(3 * blur))
    if not _is_short(sleeve) or not whole[window].size:
        return found
    end, own = whole[window], part[window].astype(np.float32)
    lab = to_lab(np.clip(cloth.colour[window] * 255, 0, 255).astype(np.uint8))
    level = np.maximum(cv2.GaussianBlur(own, (0, 0), blur), 1e-3)
    # Of each pixel: the colours of a print may make up for each other, and are no ground.
    chroma = cv2.GaussianBlur(np.hypot(lab[..., 1], lab[..., 2]) * own, (0, 0), blur) / level
    usual = float(np.median(chroma[end]))
    if usual < COLOURFUL:
        return found
    x, y = columns[:, window[1]] - outer[0], rows[window[0]] - outer[1]
    along = (x * (inner - outer)[0] + y * (inner - outer)[1]) / max(chord * chord, 1e-6)
    threads = np.abs(lab[..., 0] - cv2.GaussianBlur(lab[..., 0], (0, 0), DETAIL))
    numbered, count = ndimage.label(end & (chroma < COLOURLESS * usual))
    for number in range(1, count + 1):
        scrap = numbered == number
        if scrap.sum() < LEAST_SCRAP * chord * chord or threads[scrap].mean() < THREADS:
            continue
        # The soft rim of the matte goes with it.
        below = dilated(end, RIM) & _below_front(scrap, end, along, x * way[0] + y * way[1])
        if (scrap & below).sum() > BELOW * scrap.sum():
            found[window] |= below
    return found


def _below_front(scrap: BoolMask, end: BoolMask, along: Reals, height: Reals) -> BoolMask:
    """``(h, w)`` bool, what lies beyond the edge of a cuff's front where a scrap hangs out below it.

    Args:
        scrap: ``(h, w)`` bool.
        end: ``(h, w)`` bool, the end of the sleeve.
        along: ``(h, w)``, places along the cuff, 0 at its outer corner and 1 at its inner one.
        height: ``(h, w)``, distances from the line through both corners, towards the shoulder, pixels.
    """
    first, last = float(along[scrap].min()), float(along[scrap].max())
    beside = (BESIDE_SCRAP, first - BESIDE_SCRAP) if first > 1.0 - last else (last + BESIDE_SCRAP, 1.0 - BESIDE_SCRAP)
    if beside[1] - beside[0] < LEAST_FRONT:
        return np.zeros_like(end)
    places = np.linspace(beside[0], beside[1], POINTS // 2)
    number = np.digitize(along, places)
    lowest = ndimage.minimum(height, np.where(end, number, 0), np.arange(1, len(places)))
    slope, level = np.polyfit((places[1:] + places[:-1]) / 2, lowest, 1)
    return np.asarray((height < level + slope * along) & (along > first - BESIDE_SCRAP) & (along < last + BESIDE_SCRAP))


def _is_short(sleeve: Sleeve) -> bool:
    """Whether a sleeve is so short that its opening can be looked into."""
    return bool(sleeve.length < SHORT * float(np.linalg.norm(sleeve.upper[0] - sleeve.lower[0])))


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
