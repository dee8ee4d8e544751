"""What of the photo stays in front of the new garment: hair, face, hands, held things, and bare arms."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label, PersonMap
from engines.garment.regions import BoolMask, eroded, opened
from engines.labels import labelled_as
from engines.warp.body.bare_parts import bare_arm, clothed_until
from engines.warp.body.limbs import Limb
from engines.warp.body.model import BodyModel, field_of
from engines.warp.channels import all_channels, brightness

BARE_FROM = 0.30
"""Share of the arm from which it hangs free of the torso; above it the garment lies over the shoulder."""

ARMHOLE = 0.12
"""The same for a garment without sleeves, which ends at the shoulder."""

LONG_SLEEVE = 0.65
"""Share of the arm from which on an old sleeve hid how the arm lies before the torso; below a shorter one the arm is
seen, and what is freed of it lies where the seen part does, beside the new garment."""

WRIST = 0.97
"""Share of the arm from which it is the hand that is seen."""


def guided_filter(
    guide: NDArray[np.float32], plane: NDArray[np.float32], radius: int, smoothness: float
) -> NDArray[np.float32]:
    """Edge-preserving smoothing after He, Sun and Tang (2010).

    Args:
        guide: ``(h, w)`` float32 whose edges are followed, 0 to 1.
        plane: ``(h, w)`` float32 to smooth.
        radius: Half size of the window, pixels.
        smoothness: Variance of the guide below which it counts as flat.
    """
    size = (2 * radius + 1, 2 * radius + 1)

    def mean(values: NDArray[np.float32]) -> NDArray[np.float32]:
        return np.asarray(cv2.blur(values, size), dtype=np.float32)

    guide_mean, plane_mean = mean(guide), mean(plane)
    slope = (mean(guide * plane) - guide_mean * plane_mean) / (mean(guide * guide) - guide_mean**2 + smoothness)
    offset = plane_mean - slope * guide_mean
    smooth_slope, smooth_offset = mean(slope.astype(np.float32)), mean(offset.astype(np.float32))
    return np.asarray(smooth_slope * guide + smooth_offset, dtype=np.float32)


def head_in_front(photo: NDArray[np.float32], person_map: PersonMap) -> NDArray[np.float32]:
    """``(h, w)`` cover of hair and face, following the strands that the photo shows."""
    head = labelled_as(person_map.labels, (Label.HAIR, Label.FACE)).astype(np.float32)
    grey = brightness(photo)
    radius = max(3, photo.shape[0] // 200)
    cover = guided_filter(grey, np.asarray(cv2.GaussianBlur(head, (0, 0), 1.0), dtype=np.float32), radius, 1e-4)
    return np.asarray(np.clip((cover - 0.1) / 0.8, 0, 1), dtype=np.float32)


def hands_in_front(person_map: PersonMap) -> NDArray[np.float32]:
    """``(h, w)`` cover of hands and held things, without the outermost pixel that is mixed with the old cloth."""
    return _soft(opened(labelled_as(person_map.labels, (Label.HANDS, Label.OTHER)), 2))


def arms_in_front(
    photo: NDArray[np.float32], old: BoolMask, body: BodyModel, sleeve_ends: dict[int, float]
) -> NDArray[np.float32]:
    """``(h, w)`` cover of bare arms that hang in front of the torso: those seen, and those freed from old sleeves.

    Args:
        photo: ``(h, w, 3)`` float32, 0 to 1.
        old: ``(h, w)`` bool, the old garment; the plate shows bare arms where its sleeves were.
        body: Measured from the photo.
        sleeve_ends: Per picture side, the share of the arm at which the new sleeve ends; what lies above it is
            covered.
    """
    cover = np.zeros(body.shape, dtype=np.float32)
    seen = body.labels == Label.ARMS
    seen = opened(seen & like_skin(photo, seen), 2)
    for side, end in sleeve_ends.items():
        near, share = arm_coordinates(body.shape, body.arms[side])
        if end > 0:
            begins = share > max(end - 0.01, BARE_FROM)
        else:
            begins = (share > ARMHOLE) | (side * body.laterals * body.shoulder_width > body.tip_offset(side))
        shown = eroded(seen, 1) & (near < 1.6) & begins
        old_end = clothed_until(body.arms[side], old.astype(np.float32))
        if end < min(old_end, WRIST) and old_end > LONG_SLEEVE:
            freed = bare_arm(body, side, max(end, BARE_FROM) - 0.02).on & old
            shown |= freed & begins & (share < old_end + 0.03)
        cover = np.maximum(cover, shown)
    return np.asarray(cv2.GaussianBlur(cover, (0, 0), 1.0), dtype=np.float32)


def like_skin(photo: NDArray[np.float32], labelled: BoolMask) -> BoolMask:
    """Which pixels have the colour of the inner part of a labelled area; its rim may be wall or old cloth."""
    core = eroded(labelled, 4)
    if core.sum() < 60:
        return labelled
    lab = np.asarray(cv2.cvtColor(photo, cv2.COLOR_RGB2LAB), dtype=np.float32)
    middle = np.median(lab[core], axis=0)
    spread = np.maximum(np.percentile(np.abs(lab[core] - middle), 85, axis=0), (8.0, 3.0, 3.5))
    return np.asarray(all_channels(np.abs(lab - middle) / spread < 2.6))


def arm_coordinates(shape: tuple[int, int], arm: Limb) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Every pixel's place on an arm.

    Returns:
        Distance from the centre line in half arm widths, and share of the arm from shoulder (0) to wrist (1), both
        ``(h, w)`` float32.
    """
    nearest, share = np.full(shape, np.inf, np.float32), np.zeros(shape, np.float32)
    for first, last in ((0.0, arm.bend), (arm.bend, 1.0)):
        ends = arm.points(np.array([first, last], np.float32))
        bone = ends[1] - ends[0]
        length = max(float(np.linalg.norm(bone)), 1.0)
        way = np.asarray(bone / length, np.float32)
        along = field_of(shape, ends[0], way) / length
        aside = field_of(shape, ends[0], np.array([way[1], -way[0]], np.float32))
        beyond = np.maximum(np.maximum(-along, along - 1), 0) * length
        here = first + np.clip(along, 0, 1.3 if last == 1.0 else 1.0) * (last - first)
        half = np.interp(here, arm.shares, (arm.outer + arm.inner) / 2).astype(np.float32)
        distance = cv2.magnitude(aside, beyond if last < 1.0 else np.maximum(-along, 0) * length) / half
        closer = distance < nearest
        nearest[closer], share[closer] = distance[closer], here[closer]
    return nearest, share


def _soft(mask: BoolMask) -> NDArray[np.float32]:
    return np.asarray(cv2.GaussianBlur(eroded(mask, 1).astype(np.float32), (0, 0), 1.0), dtype=np.float32)
