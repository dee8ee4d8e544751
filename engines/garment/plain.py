"""The mask of a garment on plain ground: flood from the border, then put the outline on the strongest edge."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray
from skimage.segmentation import watershed

from engines.base import Picture
from engines.channels import distance as colour_distance
from engines.garment.ground import Ground, to_lab
from engines.garment.regions import (
    BoolMask,
    closed,
    dilated,
    eroded,
    largest,
    opened,
    reaching_border,
    spread,
    window_of,
    without_holes,
)

LEAST_CONTRAST = 1.0
"""Smallest Lab distance from the ground that counts as cloth. With 1.6, two of 140 product photos lost most of a white
shirt on its white ground; with 1.0, one keeps a few blocks that JPEG left beside its outline."""

MOST_CONTRAST = 5.0
"""Largest threshold: above it, pale cloth on a noisy ground would be lost."""

ROOM = 8
"""Beyond the reach of the outline so many pixels of the ground are looked at with the garment."""


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

QUICK = 14.0
"""Change of colour (Sobel of CIE Lab, all channels) at which cloth begins."""

THINNEST_PRINT = 3
"""Half the width in canvas pixels of print that is given back; what is thinner is the dark line under an edge."""

THINNEST_SHADOW = 10
"""Half the width of ground and shadow together: a narrower way inwards is a pale stripe of the cloth."""

MOST_SHADOW = 0.06
"""Share of a garment that may be taken off as shadow; beyond it the cloth is as pale as its ground."""


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
    outer = ~dilated(mask, reach)
    band = ~inner & ~outer
    markers = np.zeros(mask.shape, dtype=np.int32)
    rim = dilated(band, 1)
    markers[outer & rim] = 1
    markers[inner & rim] = 2
    steepness = np.zeros(mask.shape, dtype=np.float32)
    steepness[rim] = np.log1p(gradient[rim])
    found = watershed(steepness, markers, mask=rim)  # type: ignore[no-untyped-call] # scikit-image is untyped
    return np.asarray(inner | (found == 2))


def _drop_shadow(lab: NDArray[np.float32], ground: Ground, mask: BoolMask, depth: int) -> BoolMask:
    """Take soft shadows off the mask: the ground's hue, only darker, reached from outside.

    Skipped when the cloth itself looks like that (grey on white, white on white), and undone when it would
    take more than a quarter of the garment. ``depth`` pixels within the outline there is cloth and no shadow.
    """
    core = eroded(mask, depth)
    area = np.count_nonzero(core)
    if area < 500:
        return mask
    for kind in (DEEP_SHADOW, SOFT_SHADOW):
        like_shadow = _like_shadow(lab, ground, kind)
        if np.count_nonzero(like_shadow & core) > kind.in_cloth * area:
            continue
        shadow = spread(dilated(~mask, 1), (like_shadow & mask) | ~mask)
        left = largest(opened(mask & ~shadow, 2))
        # Where the colours of stripes run into one another they may pass for a deep shadow.
        if np.count_nonzero(left) > 0.75 * np.count_nonzero(mask):
            return without_holes(left) & mask
    return mask


def _like_shadow(lab: NDArray[np.float32], ground: Ground, kind: ShadowKind) -> BoolMask:
    lightness, ground_lightness = lab[..., 0], ground.colour[..., 0]
    like_shadow = (lightness > kind.depth * ground_lightness) & (lightness < ground_lightness + 2)
    for channel in (1, 2):
        like_shadow &= np.abs(lab[..., channel] - ground.colour[..., channel]) < kind.chroma
    return np.asarray(like_shadow)


def _fill_false_holes(lab: NDArray[np.float32], ground: Ground, mask: BoolMask) -> BoolMask:
    """Close holes that are tiny, or small and not of the ground's colour; loops of straps stay open."""
    count, numbered = cv2.connectedComponents((~mask).astype(np.uint8), connectivity=4)
    if count <= 2:
        return mask
    labels = np.asarray(numbered).ravel()
    areas = np.bincount(labels)
    total, away = areas[0], colour_distance(lab, ground.colour).ravel()
    means = np.bincount(labels, weights=away) / np.maximum(areas, 1)
    false_hole = (areas < 0.0004 * total) | ((areas < 0.004 * total) & (means > 6))
    # The first region is the mask itself.
    false_hole[0] = True
    return np.asarray(false_hole.take(labels).reshape(mask.shape))


def _outline_settled(
    lab: NDArray[np.float32], ground: Ground, flooded: BoolMask, snapped: BoolMask, quickness: NDArray[np.float32]
) -> BoolMask:
    """The garment's mask with print given back and shadow taken off: a shadow ends softly, cloth ends at once.

    The strongest edge near a garment's outline may be that of its print, and the faint end of a wide shadow may lie
    farther from the cloth than an edge is looked for. Walking inwards from the ground settles both: shadow goes on as
    long as nothing changes quickly.

    Args:
        lab: ``(h, w, 3)`` CIE Lab of the canvas.
        ground: The surface fitted to its border.
        flooded: ``(h, w)``, all that differs from the ground: cloth and shadow.
        snapped: ``(h, w)``, up to the strongest edge near the outline of ``flooded``.
        quickness: ``(h, w)`` change of colour at each pixel.
    """
    shadowed = _like_shadow(lab, ground, DEEP_SHADOW)
    soft = quickness < QUICK
    outside = reaching_border(~flooded | (soft & shadowed))
    print_lost = _mostly_not(shadowed, opened(flooded & ~outside & ~snapped, THINNEST_PRINT))
    whole = snapped | (dilated(print_lost, THINNEST_PRINT) & flooded & ~outside)
    shadow = opened(outside, THINNEST_SHADOW) & whole
    return whole & ~shadow if shadow.sum() < MOST_SHADOW * whole.sum() else whole


def _mostly_not(colour: BoolMask, mask: BoolMask) -> BoolMask:
    """The connected regions of a mask in which a colour is rare."""
    count, labels = cv2.connectedComponents(mask.astype(np.uint8))
    area = np.maximum(np.bincount(labels.ravel(), minlength=count), 1)
    share = np.bincount(labels[colour & mask], minlength=count) / area
    kept = share < 0.5
    kept[0] = False
    return np.asarray(kept[labels])


def _without_shadow(lab: NDArray[np.float32], ground: Ground, mask: BoolMask, reach: int, depth: int) -> BoolMask:
    """The outline at the garment's edges, not those of its shadow, and no false holes.

    Args:
        lab: ``(h, w, 3)`` CIE Lab of a window of the canvas, a little blurred.
        ground: The surface fitted to the canvas's border, in that window.
        mask: ``(h, w)``, all that differs from the ground.
        reach: How far the outline may be moved, pixels.
        depth: See `_drop_shadow`.
    """
    gradient = _quickness(lab)
    snapped = _snap_to_edges(gradient, mask, reach)
    mask = _outline_settled(lab, ground, mask, snapped, gradient)
    mask = closed(opened(largest(mask), 2), 2)
    return _fill_false_holes(lab, ground, _drop_shadow(lab, ground, mask, depth))


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
    reach = max(3, height // 60)
    window = window_of(mask, reach + ROOM)
    around = replace(ground, colour=ground.colour[window])
    mask[window] = _without_shadow(blurred[window], around, mask[window], reach, depth=max(2, round(0.03 * height)))
    # The outline of cloth is smooth at the scale of a few pixels; the watershed's is not.
    return np.asarray(cv2.GaussianBlur(mask.astype(np.float32), (0, 0), 2.2) > 0.5)
