"""Bare arms that hang in front of the garment."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.labels import labelled_as
from engines.regions import BoolMask, runs_of
from engines.warp.body.bare_parts import bare_arm, clothed_until
from engines.warp.body.limbs import Limb
from engines.warp.body.model import SIDES, BodyModel, field_of
from engines.warp.body.seen_arms import SeenArm, seen_arms
from engines.warp.body.silhouette import ease

BARE_FROM = 0.30
"""Share of the arm from which it hangs free of the torso; above it the garment lies over the shoulder."""

ARMHOLE = 0.12
"""The same for a garment without sleeves, which ends at the shoulder."""

LONG_SLEEVE = 0.65
"""Share of the arm from which on an old sleeve hid how the arm lies before the torso; below a shorter one the arm is
seen, and what is freed of it lies where the seen part does, beside the new garment."""

WRIST = 0.97
"""Share of the arm from which it is the hand that is seen."""

SHADOW_ENDS = 0.12
"""Share of the arm over which the garment's shadow ends on what lies before it, below the end of the sleeve."""

UNDER_SLEEVE = 0.01
"""Share of the arm that is drawn under the end of a sleeve, which is laid over it."""

TEETH = 2.0
"""Size of the teeth of a mask that are smoothed away, pixels (standard deviation)."""

AROUND_ARM = 5.0
"""How far around an arm places on it are told, in half arm widths."""

LEAST_SAMPLES = 4
"""Samples of an outline in a row that make an arm; fewer are scraps."""


@dataclass(frozen=True)
class ArmPlace:
    """Where one arm is in the picture.

    Attributes:
        near: ``(h, w)`` float32 distance of every pixel from the centre line in half arm widths.
        share: ``(h, w)`` float32 share of the arm from shoulder (0) to wrist (1).
        seen: Its outline where it is bare.
    """

    near: NDArray[np.float32]
    share: NDArray[np.float32]
    seen: SeenArm


def arm_places(body: BodyModel) -> dict[int, ArmPlace]:
    """Both arms by picture side."""
    outlines = seen_arms(body)
    return {side: ArmPlace(*_coordinates(body.shape, body.arms[side]), outlines[side]) for side in SIDES}


def arms_in_front(
    old: BoolMask,
    body: BodyModel,
    places: dict[int, ArmPlace],
    sleeve_ends: dict[int, float],
) -> NDArray[np.float32]:
    """``(h, w)`` cover of bare arms that hang in front of the torso: those seen, and those freed from old sleeves.

    The outline is the arm's own; labels pixel by pixel would leave the new cloth with torn edges.

    Args:
        old: ``(h, w)`` bool, the old garment; the plate shows bare arms where its sleeves were.
        body: Measured from the photo.
        places: Both arms.
        sleeve_ends: Per picture side, the share of the arm at which the new sleeve ends.
    """
    cover = np.zeros(body.shape, dtype=np.float32)
    skin = labelled_as(body.labels, (Label.ARMS, Label.HANDS))
    for side, end in sleeve_ends.items():
        arm = body.arms[side]
        share = places[side].share
        begins = share > _bare_from(end)
        if end <= 0:
            begins |= side * body.laterals * body.shoulder_width > body.tip_offset(side)
        old_end = clothed_until(arm, old)
        is_freed = end < min(old_end, WRIST) and old_end > LONG_SLEEVE
        seen = places[side].seen
        if is_freed:
            freed = bare_arm(body, side, max(end, BARE_FROM) - 0.02).on & (old | skin)
            # Above the end of the sleeve the plate has no arm.
            freed &= (share > end) & (share < old_end + 0.03)
            # Wrists that are seen come with their hands. The edge of the mask is made smooth, and two pixels soft.
            wide = np.asarray(cv2.GaussianBlur(freed.astype(np.float32), (0, 0), TEETH), dtype=np.float32)
            shown = np.clip((wide - 0.5) * np.float32(1.5 * TEETH) + 0.5, 0, 1)
        else:
            shown = _drawn_outline(body.shape, arm, seen)
        cover = np.maximum(cover, shown * begins)
    return np.asarray(cv2.GaussianBlur(cover, (0, 0), 0.7), dtype=np.float32)


def under_cuffs(body: BodyModel, places: dict[int, ArmPlace], sleeve_ends: dict[int, float]) -> NDArray[np.float32]:
    """``(h, w)`` share of the garment's shadow that falls on arms before it.

    Where such an arm comes out of its sleeve it is beside the garment and in its shadow; further down it is before it.

    Args:
        body: Measured from the photo.
        places: Both arms.
        sleeve_ends: Per picture side, the share of the arm at which the new sleeve ends.
    """
    left = np.ones(body.shape, dtype=np.float32)
    nearest = np.full(body.shape, np.inf, dtype=np.float32)
    for side, end in sleeve_ends.items():
        place = places[side]
        fading = 1 - ease((place.share - np.float32(_bare_from(end))) / np.float32(SHADOW_ENDS))
        closer = place.near < nearest
        left[closer], nearest[closer] = fading[closer], place.near[closer]
    return left


def _bare_from(end: float) -> float:
    """Share of an arm from which it lies before a garment whose sleeve ends at ``end``."""
    return max(end - UNDER_SLEEVE, BARE_FROM) if end > 0 else ARMHOLE


def _drawn_outline(shape: tuple[int, int], arm: Limb, seen: SeenArm) -> NDArray[np.float32]:
    """``(h, w)`` cover of a seen arm within its outline, 0 to 1."""
    canvas = np.zeros(shape, dtype=np.uint8)
    outside = arm.line + arm.outward * seen.outer[:, None]
    inside = arm.line - arm.outward * seen.inner[:, None]
    for first, beyond in runs_of(np.isfinite(seen.outer) & (seen.outer + seen.inner > 1.0)):
        if beyond - first >= LEAST_SAMPLES:
            around = np.concatenate([outside[first:beyond], inside[first:beyond][::-1]])
            cv2.fillPoly(canvas, [np.rint(around * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    return canvas.astype(np.float32) / 255.0


def _coordinates(shape: tuple[int, int], arm: Limb) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
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
    if min(size) <= 0:
        return nearest, share
    for first, last in ((0.0, arm.bend), (arm.bend, 1.0)):
        ends = (arm.points(np.array([first, last], np.float32)) - low).astype(np.float32)
        bone = ends[1] - ends[0]
        length = max(float(np.linalg.norm(bone)), 1.0)
        way = np.asarray(bone / length, np.float32)
        along = field_of(size, ends[0], way) / length
        aside = field_of(size, ends[0], np.array([way[1], -way[0]], np.float32))
        # Beyond the wrist an arm goes on into its hand.
        beyond = np.maximum(-along, 0) if last == 1.0 else np.maximum(np.maximum(-along, along - 1), 0)
        here = first + np.clip(along, 0, 1.3 if last == 1.0 else 1.0) * (last - first)
        half = np.interp(here, arm.shares, (arm.outer + arm.inner) / 2).astype(np.float32)
        distance = cv2.magnitude(aside, beyond * length) / half
        closer = distance < nearest[window]
        nearest[window][closer], share[window][closer] = distance[closer], here[closer]
    return nearest, share
