"""The mask of a garment on plain ground: flood from the border, then put the outline on the strongest edge."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage
from skimage.segmentation import watershed

from engines.base import Picture
from engines.channels import distance as colour_distance
from engines.garment.crevices import crevices
from engines.garment.ground import Ground, to_lab
from engines.garment.loops import seen_through
from engines.garment.pale_print import settled_by_print
from engines.garment.regions import BoolMask, closed, dilated, eroded, largest, opened, reaching_border
from engines.garment.soft_shadow import outline_settled

LEAST_CONTRAST = 1.6
"""Smallest Lab distance from the ground that counts as cloth; half of what the eye notices side by side."""

MOST_CONTRAST = 5.0
"""Largest threshold: above it, pale cloth on a noisy ground would be lost."""


@dataclass(frozen=True)
class ShadowKind:
    """What a shadow on the ground may look like.

    Attributes:
        depth: It is at least this share of the ground's lightness.
        chroma: It keeps the ground's hue: largest difference of a and b, Lab units.
        in_cloth: Share of the cloth that may look the same by chance; beyond it the cloth is like that.
    """

    depth: float
    chroma: float
    in_cloth: float


DEEP_SHADOW, SOFT_SHADOW = ShadowKind(0.5, 4.0, 0.02), ShadowKind(0.85, 2.5, 0.002)
"""The second is told from more cloths, dark grey ones among them."""


def _flood(distance: NDArray[np.float32], threshold: float) -> BoolMask:
    """Everything that ground-coloured pixels connected with the border do not reach."""
    outside = reaching_border(distance < threshold)
    return largest(opened(~outside, 1), keep_share=0.1)


def _quickness(lab: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(h, w)``: how quickly the colour changes at each pixel, Sobel of all channels together."""
    gradient = np.zeros(lab.shape[:2], dtype=np.float32)
    for channel in range(3):
        plane = np.ascontiguousarray(lab[..., channel])
        gradient += cv2.magnitude(cv2.Sobel(plane, cv2.CV_32F, 1, 0), cv2.Sobel(plane, cv2.CV_32F, 0, 1))
    return gradient


def _snap_to_edges(gradient: NDArray[np.float32], mask: BoolMask, reach: int) -> BoolMask:
    """Move the outline to the strongest colour edge within ``reach`` pixels of where the flood left it."""
    inner = eroded(mask, reach)
    outer = ~dilated(closed(mask, 5), reach)
    band = ~inner & ~outer
    markers = np.zeros(mask.shape, dtype=np.int32)
    rim = dilated(band, 1)
    markers[outer & rim] = 1
    markers[inner & rim] = 2
    found = watershed(np.log1p(gradient), markers, mask=rim)  # type: ignore[no-untyped-call] # scikit-image is untyped
    return np.asarray(inner | (found == 2))


def _drop_shadow(lab: NDArray[np.float32], ground: Ground, mask: BoolMask) -> BoolMask:
    """Take soft shadows off the mask: the ground's hue, only darker, reached from outside.

    Skipped when the cloth itself looks like that (grey on white, white on white), and undone when it would
    take more than a quarter of the garment.
    """
    core = eroded(mask, max(2, round(0.03 * mask.shape[0])))
    if core.sum() < 500:
        return mask
    for kind in (DEEP_SHADOW, SOFT_SHADOW):
        like_shadow = _like_shadow(lab, ground, kind)
        if (like_shadow & core).sum() > kind.in_cloth * core.sum():
            continue
        shadow = ndimage.binary_propagation(dilated(~mask, 1), mask=(like_shadow & mask) | ~mask)
        left = largest(opened(mask & ~shadow, 2))
        # Where the colours of stripes run into one another they may pass for a deep shadow.
        if left.sum() > 0.75 * mask.sum():
            return np.asarray(ndimage.binary_fill_holes(left) & mask)
    return mask


def _like_shadow(lab: NDArray[np.float32], ground: Ground, kind: ShadowKind) -> BoolMask:
    change = np.abs(lab - ground.colour)
    hue_kept = np.maximum(change[..., 1], change[..., 2]) < kind.chroma
    lightness, ground_lightness = lab[..., 0], ground.colour[..., 0]
    return np.asarray(
        hue_kept & (lightness > kind.depth * ground_lightness) & (lightness < ground_lightness + 2), dtype=bool
    )


def _fill_false_holes(lab: NDArray[np.float32], ground: Ground, mask: BoolMask) -> BoolMask:
    """Close holes that are tiny, or small and not of the ground's colour; loops of straps stay open."""
    labels, count = ndimage.label(~mask)
    if count == 0:
        return mask
    total = mask.sum()
    index = np.arange(1, count + 1)
    areas = np.asarray(ndimage.sum_labels(~mask, labels, index))
    means = np.asarray(ndimage.mean(colour_distance(lab, ground.colour), labels, index))
    false_hole = (areas < 0.0004 * total) | ((areas < 0.004 * total) & (means > 6))
    return np.asarray(mask | np.isin(labels, index[false_hole]))


def mask_on_plain_ground(canvas: Picture, ground: Ground) -> BoolMask:
    """Find the garment on a ground of one colour, whatever that colour is.

    Args:
        canvas: ``(h, w, 3)`` uint8 sRGB from `lay_on_canvas`.
        ground: The surface fitted to its border.

    Returns:
        ``(h, w)`` bool; empty where nothing stands out.
    """
    smooth = to_lab(np.asarray(cv2.bilateralFilter(canvas, 5, 12, 5), dtype=np.uint8))
    distance = colour_distance(smooth, ground.colour)
    height, width = distance.shape
    middle = float(np.median(distance[height // 4 : 3 * height // 4, width // 3 : 2 * width // 3]))
    # A garment far from the ground's colour allows a higher threshold, which leaves faint shadows outside.
    threshold = float(np.clip(max(2.5 * ground.noise, 0.04 * middle), LEAST_CONTRAST, MOST_CONTRAST))
    mask = _flood(distance, threshold)
    if not mask.any():
        return mask
    blurred = to_lab(np.asarray(cv2.GaussianBlur(canvas, (0, 0), 1.0), dtype=np.uint8))
    gradient = _quickness(blurred)
    snapped = _snap_to_edges(gradient, mask, reach=max(3, height // 60))
    mask = outline_settled(blurred, ground, mask, snapped, gradient)
    mask = closed(opened(largest(mask), 2), 5)
    mask = _drop_shadow(blurred, ground, mask)
    mask = settled_by_print(blurred, ground, _fill_false_holes(blurred, ground, mask))
    # The outline of cloth is smooth at the scale of a few pixels; the watershed's is not.
    smoothed = np.asarray(cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 2.2) > 0.5)
    return np.asarray(smoothed & ~seen_through(smooth, ground, smoothed) & ~crevices(smooth, ground, smoothed))
