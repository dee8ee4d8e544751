"""An arm as a strip between two edges, and every pixel's place on it."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.garment.regions import runs_of
from engines.warp.body.limbs import Limb
from engines.warp.body.model import field_of
from engines.warp.body.seen_arms import SeenArm
from engines.warp.pieces import Reals

AROUND_ARM = 5.0
"""How far around an arm places on it are told, in half arm widths."""

LEAST_SAMPLES = 4
"""Samples of an outline in a row that make an arm; fewer are scraps."""


def drawn_outline(shape: tuple[int, int], arm: Limb, seen: SeenArm) -> NDArray[np.float32]:
    """``(h, w)`` cover of a seen arm within its outline, 0 to 1."""
    shown = np.isfinite(seen.outer) & (seen.outer + seen.inner > 1.0)
    return between(shape, arm, seen.outer, seen.inner, shown)


def between(
    shape: tuple[int, int], arm: Limb, outer: Reals, inner: Reals, shown: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """``(h, w)`` cover of the strips between two edges of an arm where they are shown, 0 to 1."""
    canvas = np.zeros(shape, dtype=np.uint8)
    outside = arm.line + arm.outward * outer[:, None]
    inside = arm.line - arm.outward * inner[:, None]
    for first, beyond in runs_of(shown):
        if beyond - first < LEAST_SAMPLES:
            continue
        around = np.concatenate([outside[first:beyond], inside[first:beyond][::-1]])
        cv2.fillPoly(canvas, [np.rint(around * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    return canvas.astype(np.float32) / 255.0


def arm_coordinates(shape: tuple[int, int], arm: Limb) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Every pixel's place on an arm.

    Returns:
        Distance from the centre line in half arm widths, and share of the arm from shoulder (0) to wrist (1), both
        ``(h, w)`` float32; infinity and 0 far from the arm.
    """
    nearest, share = np.full(shape, np.inf, np.float32), np.zeros(shape, np.float32)
    widest = (arm.outer + arm.inner).max() / 2
    low = np.clip(np.floor(arm.line.min(axis=0) - AROUND_ARM * widest).astype(int), 0, shape[::-1])
    high = np.clip(np.ceil(arm.line.max(axis=0) + AROUND_ARM * widest).astype(int), 0, shape[::-1])
    window = (slice(low[1], high[1]), slice(low[0], high[0]))
    size = (int(high[1] - low[1]), int(high[0] - low[0]))
    if min(size) > 0:
        nearest[window], share[window] = _coordinates(size, low, arm)
    return nearest, share


def _coordinates(
    size: tuple[int, int], corner: NDArray[np.int_], arm: Limb
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The same for all pixels of a window whose first pixel is ``corner``, x and y."""
    nearest, share = np.full(size, np.inf, np.float32), np.zeros(size, np.float32)
    for first, last in ((0.0, arm.bend), (arm.bend, 1.0)):
        ends = (arm.points(np.array([first, last], np.float32)) - corner).astype(np.float32)
        bone = ends[1] - ends[0]
        length = max(float(np.linalg.norm(bone)), 1.0)
        way = np.asarray(bone / length, np.float32)
        along = field_of(size, ends[0], way) / length
        aside = field_of(size, ends[0], np.array([way[1], -way[0]], np.float32))
        beyond = np.maximum(np.maximum(-along, along - 1), 0) * length
        here = first + np.clip(along, 0, 1.3 if last == 1.0 else 1.0) * (last - first)
        half = np.interp(here, arm.shares, (arm.outer + arm.inner) / 2).astype(np.float32)
        distance = cv2.magnitude(aside, beyond if last < 1.0 else np.maximum(-along, 0) * length) / half
        closer = distance < nearest
        nearest[closer], share[closer] = distance[closer], here[closer]
    return nearest, share
