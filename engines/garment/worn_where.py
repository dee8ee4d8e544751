"""Whether a garment's outline can be worn where the caller says that it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engines.base import Category, EngineError
from engines.garment.notch import find_notch
from engines.garment.regions import BoolMask, largest
from engines.garment.symmetry import half_masks, mirror_axis, outermost

REDUCTION = 3
"""All is measured on every third pixel; what is told apart here differs by far more."""

STEP_HEIGHT, LEAST_STEP = 0.05, 0.10
"""A cuff is where the outline falls back by this share of half the garment's width within this share of its height."""

LOWEST_CUFF = 0.8
"""Share of the height below which the outline is a hem and no cuff."""

LEAST_SLIT, NARROW = 0.06, 0.08
"""Share of the height along which ground shows between sleeve and torso, and how far from the axis, in the garment's
width."""

DEEP_NECK, FLAT_TOP = 0.25, 0.1
"""How far the upper edge is lower at the axis than at its highest, in the garment's width: more is a neckline between
straps or shoulders, less may be a waistband."""

WIDE_TOP, TOP_ROWS, UPPER_PART = 0.6, 0.03, 0.45
"""A waistband is at least this wide in the widest row of the upper part; a neck is not."""

MOST_SLIT_HEM = 0.2
"""Share of the height up to which a top or a dress may be slit in the middle of its hem."""

LEGS_OF_TROUSERS = {Category.UPPER_BODY: 0.5, Category.FULL_BODY: 0.62}
"""Share of the height that legs have in trousers at least; those of jumpsuits are shorter."""

LOOKS_LIKE_TOP = "It looks like a top or a dress, but was sent as a garment for the lower body."
LOOKS_LIKE_TROUSERS = {
    Category.UPPER_BODY: "It looks like trousers, but was sent as a garment for the upper body.",
    Category.FULL_BODY: "It looks like trousers, but was sent as a garment for the whole body.",
}


@dataclass(frozen=True)
class Outline:
    """What the outline of a garment shows, whatever it is.

    Attributes:
        sleeved: Something hangs at both sides.
        neck: How far the upper edge is lower at the axis than at its highest, in the garment's width.
        top: Width of the upper edge over that of the widest row of the upper part.
        legs: Height of the gap that reaches up from the hem near the axis, in the garment's height.
    """

    sleeved: bool
    neck: float
    top: float
    legs: float


def outline_of(mask: BoolMask) -> Outline:
    """Measure a garment that lies or hangs alone.

    Args:
        mask: ``(h, w)`` bool, its cut-out, not empty.
    """
    mask = largest(mask[::REDUCTION, ::REDUCTION], 0.3)
    rows = np.flatnonzero(mask.any(axis=1))
    top, bottom = int(rows[0]), int(rows[-1])
    height = max(bottom - top, 1)
    axis, _ = mirror_axis(mask)
    halves = half_masks(mask, axis)
    reach = np.stack([outermost(half) for half in halves])
    widths = reach.sum(axis=0)[top : bottom + 1]
    width = max(float(widths.max()), 1.0)
    middle = slice(max(0, int(axis - 0.03 * width)), int(axis + 0.03 * width) + 1)
    notch = find_notch(mask, top, bottom, axis, width)
    return Outline(
        sleeved=_stepped(reach[:, top : bottom + 1], width) or _slit(halves, height, width),
        neck=(int(mask[:, middle].argmax(axis=0).min()) - top) / width,
        top=float(widths[int(TOP_ROWS * height)] / max(widths[: int(UPPER_PART * height) + 1].max(), 1.0)),
        legs=(bottom - notch[1]) / height if notch else 0.0,
    )


def _stepped(reach: np.ndarray, width: float) -> bool:
    """Whether the outline falls back on both sides, as below the cuffs of short sleeves."""
    height = reach.shape[1]
    step = max(2, int(STEP_HEIGHT * height))
    above = reach[:, : int(LOWEST_CUFF * height)]
    if above.shape[1] <= step:
        return False
    falls = (above[:, :-step] - above[:, step:]).max(axis=1)
    return float(falls.min()) > LEAST_STEP * width / 2


def _slit(halves: BoolMask, height: int, width: float) -> bool:
    """Whether ground shows on both sides between a sleeve and the torso."""
    for half in halves:
        inward = np.maximum.accumulate(half, axis=1)
        outward = np.maximum.accumulate(half[:, ::-1], axis=1)[:, ::-1]
        slit = ~half & inward & outward & np.maximum.accumulate(half, axis=0)
        if slit[:, int(NARROW * width) :].any(axis=1).sum() < LEAST_SLIT * height:
            return False
    return True


def check_worn_there(mask: BoolMask, category: Category) -> None:
    """See that a garment is none that is plainly worn elsewhere; what may be either is let through.

    Args:
        mask: ``(h, w)`` bool, the cut-out of a garment that lies or hangs alone.
        category: Where the caller says that it is worn.

    Raises:
        EngineError: ``garment_not_recognised`` for tops and dresses as lower garments, and for trousers as others.
    """
    seen = outline_of(mask)
    if category is Category.LOWER_BODY:
        if seen.legs < MOST_SLIT_HEM and (seen.sleeved or seen.neck > DEEP_NECK):
            raise EngineError("garment_not_recognised", advice=LOOKS_LIKE_TOP)
        return
    waistband = not seen.sleeved and seen.neck < FLAT_TOP and seen.top > WIDE_TOP
    if waistband and seen.legs > LEGS_OF_TROUSERS[category]:
        raise EngineError("garment_not_recognised", advice=LOOKS_LIKE_TROUSERS[category])
