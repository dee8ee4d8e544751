"""Puts the garments of a network's painting into the photo at the photo's own size.

General editors smooth faces, shift colours and shrink pictures. Only the region of the garments is taken from the
painting, so the customer's face stays as it is and a 12-megapixel photo keeps its 12 megapixels.
"""

from __future__ import annotations

import cv2
import numpy as np

from engines.base import Label, Picture, RenderRequest
from engines.enlarging import enlarged_sharply, laid_over
from engines.finish.alignment import Alignment, aligned, alignment_of
from engines.finish.views import Floats, View, differences, seen_at, view_of
from engines.finish.zone import changeable, replaced_by
from engines.regions import BoolMask, closed, dilated, eroded, labelled_as, largest, opened, reaching

CHANGED, REDRAWN = 6.0, 22.0
"""Colour differences from which a pixel counts as changed, and from which face, hair and hands count as covered."""

PROTECTED = (Label.FACE, Label.HAIR, Label.HANDS)

SPECK, FEATURE, GAP = 2, 4, 5
"""Radii, in pixels of the view: changed specks that are dropped, features of a face that may be smoothed, and gaps
in the change that are filled."""

LEAST_PART = 0.02
"""Changed parts smaller than this share of the largest one are noise."""

FEATHER = 0.008
"""Deviation of the soft border, as a share of the photo's height; the border is about twice as wide."""


def paste_back(request: RenderRequest, painting: Picture) -> Picture:
    """Take the garments from a painting and everything else from the photo.

    Args:
        request: The photo, its map and the garments that were painted.
        painting: ``(h, w, 3)``, the whole frame of the photo at any size.

    Returns:
        ``(H, W, 3)`` at the photo's size. Pixels away from the garments are the photo's, to the last bit.
    """
    view = view_of(request.person, request.person_map)
    seen = seen_at(painting, view.size)
    categories = {garment.category for garment in request.garments}
    zone = changeable(view, categories)
    alignment = alignment_of(view, seen, ~zone).within_reason(max(view.size))
    share = _share(view, aligned(seen, alignment), zone, replaced_by(view, categories))
    straight = _straightened(painting, alignment.scaled(painting.shape[1] / view.size[0]))
    height, width = request.person.shape[:2]
    return laid_over(request.person, enlarged_sharply(straight, width, height), share)


def _share(view: View, painting: Floats, zone: BoolMask, replaced: BoolMask) -> Floats:
    """``(h, w)``, 0 to 1: how much of each pixel comes from the painting; 0 a fixed way from the garments."""
    change = differences(view.photo, painting)
    changed = closed(opened((change > CHANGED) & zone, SPECK), GAP) | replaced
    # Hair and hands keep their own pixels unless the garment was drawn over them, like a high collar or a long sleeve.
    guarded = labelled_as(view.labels, PROTECTED)
    redrawn = opened(change > REDRAWN, FEATURE)
    kept = guarded & ~reaching((guarded & redrawn) | (changed & ~guarded), changed & ~guarded)
    taken = largest(changed & zone & ~kept, LEAST_PART)
    sigma = max(FEATHER * taken.shape[0], 0.8)
    soft = cv2.GaussianBlur(taken.astype(np.float32), (0, 0), sigma)
    soft[~dilated(taken, round(2 * sigma)) | eroded(kept, 1)] = 0.0
    return np.asarray(soft, dtype=np.float32)


def _straightened(painting: Picture, alignment: Alignment) -> Picture:
    """The painting, at its own size, without its shift and tint."""
    lab = np.asarray(cv2.cvtColor(painting.astype(np.float32) / 255.0, cv2.COLOR_RGB2LAB), dtype=np.float32)
    colours = cv2.cvtColor(aligned(lab, alignment), cv2.COLOR_LAB2RGB)
    return np.asarray(np.rint(colours * 255).clip(0, 255), dtype=np.uint8)
