"""The parts of the photo that stay in front of the new garment: hair, face, hands and held things."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.channels import brightness
from engines.regions import BoolMask, dilated, labelled_as, opened, window_of

CUFF_FROM, CUFF_WITHIN = 0.75, 1.8
"""Share of the arm from which a cuff lies, which goes over the root of the hand if it is long, and how far from the
arm's centre line, in half arm widths."""

AROUND = 18
"""Pixels beside held things and hair that are looked at for their edges."""

EDGE, STRANDS = (0.3, 0.6), (0.1, 0.9)
"""Share of the smoothed labels at which a held thing begins, and from which a pixel shows nothing else; and the same of
hair, whose strands are mixed with what is behind them."""

TEETH, STEEPER, HALF = 1.0, 1.5, np.float32(0.58)
"""Blur that takes the teeth off a hand's outline, pixels (standard deviation), by how much what it leaves is made
steeper again, and what counts as half of it: labelled pixels at the edge are the hand's for the greater part only."""

LARGEST_CRUMB, BESIDE_HAND = 0.02, 6
"""Area up to which a thing that touches no hand is a crumb of wall or floor, in squared shoulder widths, and how near a
hand is touched, pixels."""


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


def head_in_front(photo: NDArray[np.float32], labels: NDArray[np.uint8]) -> NDArray[np.float32]:
    """``(h, w)`` cover of hair and face, following the strands that the photo shows.

    Args:
        photo: ``(h, w, 3)`` float32, 0 to 1.
        labels: ``(h, w)`` of `Label`.
    """
    return _edged(photo, labelled_as(labels, (Label.HAIR, Label.FACE)), STRANDS)


def hands_in_front(
    photo: NDArray[np.float32],
    labels: NDArray[np.uint8],
    unit: float,
    places: dict[int, tuple[NDArray[np.float32], NDArray[np.float32]]],
    sleeves: dict[int, NDArray[np.float32]],
) -> NDArray[np.float32]:
    """``(h, w)`` cover of hands and held things, up to the edge that the photo shows.

    Args:
        photo: ``(h, w, 3)`` float32, 0 to 1.
        labels: ``(h, w)`` of `Label`.
        unit: Shoulder width in pixels.
        places: Of both arms, see `BodyModel.arm_places`.
        sleeves: Covers by picture side; a cuff goes over the wrist of its own hand.
    """
    hands, things = np.asarray(labels == Label.HANDS), np.asarray(labels == Label.OTHER)
    cover = _smooth_outline(opened(hands, 1).astype(np.float32))
    for side, sleeve in sleeves.items():
        near, share = places[side]
        cover = cover * (1 - sleeve * ((near < CUFF_WITHIN) & (share > CUFF_FROM)))
    if not things.any():
        return cover
    numbered = np.asarray(cv2.connectedComponents(things.astype(np.uint8), connectivity=4)[1])
    held = np.bincount(numbered.ravel()) > LARGEST_CRUMB * unit**2
    held[numbered[dilated(hands, BESIDE_HAND)]] = True
    held[0] = False
    # Hands end at their labels. Held things, which no cuff covers, end at the photo's edges.
    edged = _edged(photo, opened(np.asarray(held[numbered]), 1), EDGE)
    return np.maximum(cover, _smooth_outline(edged))


def _smooth_outline(cover: NDArray[np.float32]) -> NDArray[np.float32]:
    """A cover without teeth, whose edge is as soft as those of a sharp photo."""
    wide = np.asarray(cv2.GaussianBlur(cover, (0, 0), TEETH), dtype=np.float32)
    return np.asarray(np.clip((wide - HALF) * np.float32(STEEPER) + 0.5, 0, 1), dtype=np.float32)


def _edged(photo: NDArray[np.float32], mask: BoolMask, edge: tuple[float, float]) -> NDArray[np.float32]:
    """A mask of labels, a few pixels coarse, drawn to the edges of the photo: fingers are hardly wider than that.

    Args:
        photo: ``(h, w, 3)`` float32, 0 to 1.
        mask: ``(h, w)`` bool.
        edge: Share of the smoothed labels at which the cover begins, and from which it is whole.
    """
    cover = np.zeros(mask.shape, dtype=np.float32)
    window = window_of(mask, AROUND)
    if not mask[window].size:
        return cover
    coarse = np.asarray(cv2.GaussianBlur(mask[window].astype(np.float32), (0, 0), 1.0), dtype=np.float32)
    radius = max(3, mask.shape[0] // 200)
    fine = guided_filter(brightness(np.ascontiguousarray(photo[window])), coarse, radius, 1e-4)
    cover[window] = np.clip((fine - edge[0]) / (edge[1] - edge[0]), 0, 1)
    return cover
