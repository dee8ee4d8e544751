"""Arms between a short cuff and the place where they come before the torso: no step in their light there."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engines.warp.body.silhouette import ease
from engines.warp.composite.arms import BARE_FROM, SHADOW_ENDS, ArmPlace

ON_ARM, CORE = (1.0, 1.35), 0.5
"""Distances from the centre line, in half arm widths, between which what is seen is less and less the arm's; and up to
which it is told whether the arm lies before the torso."""

STEPS, LATEST = 50, 0.6
"""Parts of an arm that are looked at, and the share of it by which it has to have come before the torso."""


def coming_forward(
    places: dict[int, ArmPlace],
    sleeve_ends: dict[int, float],
    bare_arms: NDArray[np.float32],
    uncovered: NDArray[np.float32],
) -> NDArray[np.float32]:
    """``(h, w)`` how far arms have come before the torso where they do so below their cuffs.

    Its shadow falls on what lies beside it, and not on what lies before it; in between it fades.

    Args:
        places: Both arms by picture side.
        sleeve_ends: Per picture side, the share of the arm at which the new sleeve ends.
        bare_arms: ``(h, w)`` cover of what of the arms lies before the torso.
        uncovered: ``(h, w)`` cover of what of them came to light where the torso was drawn taut.
    """
    forward = np.zeros_like(bare_arms)
    for side, end in sleeve_ends.items():
        reached = np.flatnonzero((places[side].near < ON_ARM[1]).any(axis=1))
        if end <= 0 or not len(reached):
            continue
        rows = slice(int(reached[0]), int(reached[-1]) + 1)
        near, share = places[side].near[rows], places[side].share[rows]
        comes = _comes_before(near, share, bare_arms[rows])
        if not max(end, BARE_FROM - SHADOW_ENDS) < comes <= LATEST:
            continue
        come = ease((share - np.float32(comes - SHADOW_ENDS)) / np.float32(SHADOW_ENDS))
        come *= 1 - ease((share - np.float32(comes + SHADOW_ENDS)) / np.float32(SHADOW_ENDS))
        on_arm = 1 - ease((near - np.float32(ON_ARM[0])) / np.float32(ON_ARM[1] - ON_ARM[0]))
        forward[rows] = np.maximum(forward[rows], come * np.maximum(on_arm, uncovered[rows]))
    return forward


def _comes_before(near: NDArray[np.float32], share: NDArray[np.float32], bare_arms: NDArray[np.float32]) -> float:
    """Share of an arm from which it lies before the torso; infinity where it does not."""
    core = near < CORE
    parts = np.clip(share[core] * STEPS, 0, STEPS).astype(np.int64)
    cover = np.bincount(parts, bare_arms[core], STEPS + 1) / np.maximum(np.bincount(parts, minlength=STEPS + 1), 1)
    before = np.flatnonzero(cover > 0.5)
    return float(before[0]) / STEPS if len(before) else float("inf")
