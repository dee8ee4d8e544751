"""The outline of bare limbs, continued from where the photo shows them to where clothes hid them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.warp.body.limbs import Limb
from engines.warp.body.silhouette import ease
from engines.warp.pieces import Reals

BELIEVABLE_WIDTH = (0.55, 1.35)
"""Seen width of a bare limb over the usual one within which it is believed."""

CARRIED_OVER = (0.80, 1.12)
"""How far a person's own width, as seen, changes the usual one where the limb was hidden."""

LEAST_SEEN = 3
"""Samples of the limb that have to be seen in a row to learn from."""

CUFF_SAMPLES = 4
"""Samples just below a cuff that are not trusted where there are more."""

ACROSS_STEPS = 61


def bare_edges(
    labels: NDArray[np.uint8], seen: tuple[Label, ...], limb: Limb, usual: Reals
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Distances of a bare limb's edges from its centre line.

    Where the limb is seen its own outline is taken. Above that its width follows the usual taper at the person's
    own thickness, and its middle returns to the centre line towards the root.

    Args:
        labels: ``(height, width)`` of `Label`.
        seen: Labels of this limb's bare skin.
        limb: Arm or leg.
        usual: ``(n,)`` usual half widths in pixels at the limb's samples.

    Returns:
        Outer and inner distances, ``(n,)`` each, in pixels; an edge on the far side of the line is negative.
    """
    middle, half = _seen_runs(np.isin(labels, seen), limb, usual)
    known = np.isfinite(half) & (half > BELIEVABLE_WIDTH[0] * usual) & (half < BELIEVABLE_WIDTH[1] * usual)
    known &= limb.shares <= 1.0
    streak = np.convolve(known.astype(int), np.ones(LEAST_SEEN, int), "valid") == LEAST_SEEN
    if not streak.any():
        return np.minimum(limb.outer, usual).astype(np.float32), np.minimum(limb.inner, usual).astype(np.float32)
    index = np.arange(len(half))
    seen_at = index[known & (index >= int(np.argmax(streak)))]
    # The first samples below a slanting cuff are partly cuff.
    learnt = seen_at[CUFF_SAMPLES : CUFF_SAMPLES + 8] if len(seen_at) > CUFF_SAMPLES + 2 else seen_at
    first = int(learnt[0])
    as_seen = float(np.median(half[learnt] / usual[learnt]))
    shift = float(np.median(middle[learnt]))
    below = known & (index >= first)
    half_all = np.interp(index, index[below], half[below])
    middle_all = np.interp(index, index[below], middle[below])
    return_to_line = ease(index / max(first, 1))
    believed = float(np.clip(as_seen, *CARRIED_OVER))
    thickness = believed + (as_seen - believed) * return_to_line
    hidden = index < first
    half_all = np.where(hidden, usual * thickness, half_all)
    middle_all = np.where(hidden, shift * return_to_line, middle_all)
    return (half_all + middle_all).astype(np.float32), (half_all - middle_all).astype(np.float32)


def _seen_runs(seen: NDArray[np.bool_], limb: Limb, usual: Reals) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Middle (positive outwards) and half width of the run of bare skin nearest to the line, nan where none is."""
    height, width = seen.shape
    steps = np.linspace(-2.2, 2.2, ACROSS_STEPS)
    offsets = steps[None] * np.asarray(usual)[:, None]
    points = limb.line[:, None] + limb.outward[:, None] * offsets[..., None]
    x, y = np.rint(points[..., 0]).astype(int), np.rint(points[..., 1]).astype(int)
    framed = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    bare = framed & seen[y.clip(0, height - 1), x.clip(0, width - 1)]
    middle, half = np.full(len(usual), np.nan), np.full(len(usual), np.nan)
    for row in range(len(usual)):
        ends = np.flatnonzero(np.diff(np.concatenate([[0], bare[row].astype(int), [0]])))
        runs = ends.reshape(-1, 2)
        runs = runs[(runs[:, 1] - runs[:, 0] > 2) & (runs[:, 0] > 0) & (runs[:, 1] < ACROSS_STEPS)]
        if len(runs) == 0:
            continue
        centres = (steps[runs[:, 0]] + steps[runs[:, 1] - 1]) / 2.0
        nearest = int(np.argmin(np.abs(centres)))
        if abs(centres[nearest]) > 1.0:
            continue
        middle[row] = centres[nearest] * usual[row]
        half[row] = (steps[runs[nearest, 1] - 1] - steps[runs[nearest, 0]]) / 2.0 * usual[row]
    return middle, half
