"""The outline of bare limbs, continued from where the photo shows them to where clothes hid them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.limbs import Limb
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import ease
from engines.warp.pieces import Reals

MOST_WIDTH, MOST_ARM = 1.5, 1.9
"""Half width of a seen run of skin, over the usual one, from which it is more than this limb; an arm may be that of an
athlete, or be bent, but beside a leg there is another one."""

WHOLE_WIDTH = (0.72, 1.4)
"""The same between which a run whose end lies on cloth is a whole limb and not one that the cloth cuts."""

LEAST_FREE, LEAST_OF_ARM = 0.3, 0.14
"""The same from which an end that lies on the ground behind is believed, less is a sliver; and from which the outer end
of an arm is, which the body in front of it may hide down to a narrow strip."""

CARRIED_OVER, OF_ARM = (0.80, 1.12), (0.92, 1.25)
"""How far a person's own width, as seen, changes the usual one where the limb was hidden; that of an arm is seen
turned, and partly behind the body."""

LEAST_SEEN = 3
"""Samples of an edge that have to be seen in a row to learn from."""

CUFF_SAMPLES = 2
"""Samples just below a cuff that are not trusted where there are more: a slanting cuff cuts them."""

LEARNT_SAMPLES = 9
"""Samples of an edge below the cuff that say where it leads to above."""

MOST_SLOPE = 0.22
"""Largest slope of a limb's edge against its centre line that is carried on under a cuff."""

UNSEEN_ARM = 0.95
"""Width of an arm that is hidden all along over the usual one: too slim looks like another arm, too stout like clay."""

UNDER_CLOTH, THINNEST = 0.95, 0.6
"""Room for a limb within the cloth around it, and the least width that is believed over the usual one."""

FOLD_SAMPLES, SMOOTHED = 7, 6.0
"""Samples along a limb over which folds of the cloth around it are levelled, and the sigma of the curve that is left.
"""

ACROSS_STEPS = 89
"""Points of a ray across a limb, over twice its reach of `ACROSS` usual half widths."""

ACROSS = 2.2


@dataclass(frozen=True)
class _Seen:
    """What of a limb is seen, at each of its ``n`` samples; offsets in pixels, nan where nothing is.

    Attributes:
        ends: ``(2, n)`` distances of the outer and the inner end of the skin from the centre line; an end on the
            far side of the line is negative.
        sure: ``(2, n)``, whether that end is the limb's own edge and not that of the cloth over it.
    """

    ends: NDArray[np.float64]
    sure: NDArray[np.bool_]


def bare_edges(
    labels: NDArray[np.uint8], seen: tuple[Label, ...], limb: Limb, usual: Reals, worn: tuple[Label, ...] = ()
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Distances of a bare limb's edges from its centre line.

    Where an edge is seen it is taken. Above that it goes on from the cuff without a step or a corner and eases
    into the usual taper at the person's own thickness. An edge that cloth hides lies one limb's width beside the
    one that is seen.

    Args:
        labels: ``(height, width)`` of `Label`.
        seen: Labels of this limb's bare skin.
        limb: Arm or leg.
        usual: ``(n,)`` usual half widths in pixels at the limb's samples.
        worn: Labels of the clothes that may lie on this limb.

    Returns:
        Outer and inner distances, ``(n,)`` each, in pixels; an edge on the far side of the line is negative.
    """
    found = _seen_ends(labels, seen, limb, np.asarray(usual, np.float64))
    known = np.stack([_without_crumbs(row & (limb.shares <= 1.0)) for row in found.sure])
    both = known.all(axis=0)
    own = 1.0
    if both.sum() >= LEAST_SEEN:
        own = float(np.median((found.ends.sum(axis=0) / (2.0 * usual))[both]))
    taper = np.asarray(usual * np.clip(own, *(OF_ARM if Label.ARMS in seen else CARRIED_OVER)), np.float64)
    if not known.any():
        taper *= UNSEEN_ARM if Label.ARMS in seen else 1.0
        return _within_cloth(_seen_ends(labels, worn, limb, np.asarray(usual, np.float64)).ends, taper)
    step = limb.length * float(limb.shares[1] - limb.shares[0])
    surer = 0 if known[0].sum() >= known[1].sum() else 1
    edges = [taper, taper]
    edges[surer] = _continued(found.ends[surer], known[surer], taper, step)
    facing = 2.0 * taper - edges[surer]
    enough = known[1 - surer].sum() >= LEAST_SEEN
    edges[1 - surer] = _continued(found.ends[1 - surer], known[1 - surer], facing, step) if enough else facing
    return edges[0].astype(np.float32), edges[1].astype(np.float32)


def _within_cloth(
    cloth: NDArray[np.float64], taper: NDArray[np.float64]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Edges of a limb that is hidden all along: of the usual width, around the line, and nowhere outside its cloth.

    Args:
        cloth: ``(2, n)`` outer and inner distance of the cloth's edges, nan where they are not its own.
        taper: ``(n,)`` usual half widths.
    """
    outer, inner = (np.where(np.isfinite(ends), UNDER_CLOTH * ends, np.inf) for ends in cloth)
    half = np.minimum(taper, np.maximum((outer + inner) / 2.0, THINNEST * taper))
    middle = np.zeros(len(taper))
    held = np.isfinite(outer)
    middle[held] = np.clip(0.0, (half - inner)[held], np.maximum((outer - half)[held], (half - inner)[held]))
    # Folds of the cloth are no form of the limb: its outline is one slow curve within them.
    narrower = ndimage.minimum_filter1d(half / np.maximum(taper, 1e-3), FOLD_SAMPLES, mode="nearest")
    half = taper * ndimage.gaussian_filter1d(narrower, SMOOTHED, mode="nearest")
    middle = ndimage.gaussian_filter1d(middle, SMOOTHED, mode="nearest")
    return (half + middle).astype(np.float32), (half - middle).astype(np.float32)


def _continued(
    ends: NDArray[np.float64], known: NDArray[np.bool_], expected: NDArray[np.float64], step: float
) -> NDArray[np.float64]:
    """An edge at all samples: as seen, bridged between, and led over into the expected one above.

    Args:
        ends: ``(n,)`` as seen.
        known: ``(n,)``, where it was.
        expected: ``(n,)`` without any knowledge of this edge.
        step: Pixels between two samples.
    """
    index = np.arange(len(ends))
    at = index[known]
    at = at[CUFF_SAMPLES:] if len(at) > CUFF_SAMPLES + LEAST_SEEN and at[0] > 0 else at
    beyond = ends[at] - expected[at]
    smooth = ndimage.gaussian_filter1d(ndimage.median_filter(beyond, 5, mode="nearest"), 1.0, mode="nearest")
    first = int(at[0])
    learnt = at[:LEARNT_SAMPLES]
    slope = float(np.polyfit(learnt, smooth[: len(learnt)], 1)[0]) if len(learnt) >= LEAST_SEEN else 0.0
    slope = float(np.clip(slope, -MOST_SLOPE * step, MOST_SLOPE * step))
    lacking = np.interp(index, at, smooth)
    above = index < first
    # The slope dies out within a few samples, the offset over all of the way to the root.
    run = np.minimum(index - first, 0).astype(np.float64)
    carried = smooth[0] + slope * run * np.exp(run / LEARNT_SAMPLES)
    lacking = np.where(above, carried * ease(index / max(first, 1)), lacking)
    return np.asarray(expected + lacking, np.float64)


def _without_crumbs(known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The samples that are known together with their neighbours."""
    return np.asarray(ndimage.binary_opening(known, np.ones(LEAST_SEEN, bool)))


def _seen_ends(labels: NDArray[np.uint8], seen: tuple[Label, ...], limb: Limb, usual: NDArray[np.float64]) -> _Seen:
    """The ends of the run of bare skin nearest to the centre line, and which of them are the limb's own edges."""
    steps = np.linspace(-ACROSS, ACROSS, ACROSS_STEPS)
    offsets = steps[None] * usual[:, None]
    points = limb.line[:, None] + limb.outward[:, None] * offsets[..., None]
    there, framed = values_at(labels, points)
    bare = framed & labelled_as(there, seen)
    free = framed & (there == Label.BACKGROUND)
    ends = np.full((2, len(usual)), np.nan)
    sure = np.zeros((2, len(usual)), bool)
    most, least = (MOST_ARM, LEAST_OF_ARM) if Label.ARMS in seen else (MOST_WIDTH, LEAST_FREE)
    row, begin, end = _nearest_runs(bare, steps)
    half = (steps[end - 1] - steps[begin]) / 2.0
    possible = (np.abs(steps[begin] + steps[end - 1]) / 2.0 <= 1.0) & (half <= most)
    row, begin, end, half = row[possible], begin[possible], end[possible], half[possible]
    # The edge lies half a step beyond the outermost point that is skin.
    between = float(steps[1] - steps[0]) / 2.0
    ends[:, row] = (steps[end - 1] + between) * usual[row], -(steps[begin] - between) * usual[row]
    whole = (half > WHOLE_WIDTH[0]) & (half < WHOLE_WIDTH[1])
    sure[0, row] = whole | ((half > least) & (free[row, end] | free[row, end + 1]))
    sure[1, row] = whole | ((half > LEAST_FREE) & (free[row, begin - 2] | free[row, begin - 1]))
    return _Seen(ends, sure)


def _nearest_runs(
    bare: NDArray[np.bool_], steps: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Of each row that has any, the run of bare skin nearest to the centre line: its row, first step and end.

    Args:
        bare: ``(n, steps)``.
        steps: Offsets from the centre line, in any unit.
    """
    changes = np.diff(np.pad(bare, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    (row, begin), end = np.nonzero(changes > 0), np.nonzero(changes < 0)[1]
    kept = (end - begin > 3) & (begin > 1) & (end < len(steps) - 1)
    row, begin, end = row[kept], begin[kept], end[kept]
    order = np.lexsort((np.abs(steps[begin] + steps[end - 1]), row))
    nearest = order[np.unique(row[order], return_index=True)[1]]
    return row[nearest], begin[nearest], end[nearest]
