"""Bare arms that hang in front of the garment."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.regions import BoolMask, labelled_as, runs_of
from engines.warp.body.bare_parts import SeenArm, bare_arm, clothed_until, seen_arms
from engines.warp.body.limbs import Limb
from engines.warp.body.model import BodyModel

BARE_FROM = 0.30
"""Share of the arm from which it hangs free of the torso; above it the garment lies over the shoulder."""

ARMHOLE = 0.12
"""The same for a garment without sleeves, which ends at the shoulder."""

LONG_SLEEVE = 0.65
"""Share of the arm from which on an old sleeve hid how the arm lies before the torso; below a shorter one the arm is
seen, and what is freed of it lies where the seen part does, beside the new garment."""

WRIST = 0.97
"""Share of the arm from which it is the hand that is seen."""

UNDER_SLEEVE = 0.01
"""Share of the arm that is drawn under the end of a sleeve, which is laid over it."""

TEETH = 2.0
"""Size of the teeth of a mask that are smoothed away, pixels (standard deviation)."""

LEAST_SAMPLES = 4
"""Samples of an outline in a row that make an arm; fewer are scraps."""


def arms_in_front(old: BoolMask, body: BodyModel, sleeve_ends: dict[int, float]) -> NDArray[np.float32]:
    """``(h, w)`` cover of bare arms that hang in front of the torso: those seen, and those freed from old sleeves.

    The outline is the arm's own; labels pixel by pixel would leave the new cloth with torn edges.

    Args:
        old: ``(h, w)`` bool, the old garment; the plate shows bare arms where its sleeves were.
        body: Measured from the photo.
        sleeve_ends: Per picture side, the share of the arm at which the new sleeve ends.
    """
    cover = np.zeros(body.shape, dtype=np.float32)
    skin, outlines = labelled_as(body.labels, (Label.ARMS, Label.HANDS)), seen_arms(body)
    for side, end in sleeve_ends.items():
        arm = body.arms[side]
        share = body.arm_places[side][1]
        begins = share > (max(end - UNDER_SLEEVE, BARE_FROM) if end > 0 else ARMHOLE)
        if end <= 0:
            begins |= side * body.laterals * body.shoulder_width > body.tip_offset(side)
        old_end = clothed_until(arm, old)
        is_freed = end < min(old_end, WRIST) and old_end > LONG_SLEEVE
        if is_freed:
            freed = bare_arm(body, side, max(end, BARE_FROM) - 0.02).on & (old | skin)
            # Above the end of the sleeve the plate has no arm.
            freed &= (share > end) & (share < old_end + 0.03)
            # Wrists that are seen come with their hands. The edge of the mask is made smooth, and two pixels soft.
            wide = np.asarray(cv2.GaussianBlur(freed.astype(np.float32), (0, 0), TEETH), dtype=np.float32)
            shown = np.clip((wide - 0.5) * np.float32(1.5 * TEETH) + 0.5, 0, 1)
        else:
            shown = _drawn_outline(body.shape, arm, outlines[side])
        cover = np.maximum(cover, shown * begins)
    return np.asarray(cv2.GaussianBlur(cover, (0, 0), 0.7), dtype=np.float32)


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
