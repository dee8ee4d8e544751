"""How true a result is to the garment and to the photo: one function for each figure, of arrays alone.

Pictures are ``(h, w, 3)`` uint8 sRGB and masks ``(h, w)`` bool, all of one size. Distances between colours are in
CIE Lab units; 2 is just visible side by side, 10 is another colour. A figure is ``None`` where there is nothing to
take it on.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from skimage.metrics import structural_similarity

from engines.base import Picture
from engines.regions import BoolMask, opened

NOISE = 5
"""Largest difference of a pixel, of 255, that noise and rounding make."""

CHANGED = 2
"""Difference of a pixel, of 255, from which it counts as changed."""

LIKE = 10.0
"""Colours nearer than this are too alike for an old garment to be told from a new one."""

SHADING = 0.5
"""Weight of lightness beside hue and saturation where cloth is compared with cloth in folds and shadows."""

PALETTE_STEP = 6.0
"""Distance between the colours of a palette."""

LEAST_PIXELS = 200
"""A figure on fewer pixels than this says nothing."""

LEAST_JUDGED = 0.05
"""Of an old garment at least this share must look unlike the new one; less is its mixed rim."""

OVERLOOKED_RADIUS = 2
"""Parts narrower than twice this are the uncertain rims of labels."""

MOST_PIXELS = 60_000
"""Enough of a garment to know its colours by."""

LAB_FOOT = 16.0
"""L + 16 is proportional to the cube root of the light, and a and b are, except near black."""

LEVELS = np.linspace(0.005, 0.995, 199)

Palette = NDArray[np.float32]
"""``(n, 3)`` CIE Lab."""


@dataclass(frozen=True)
class Colour:
    """How far a garment's colours came out from what they are.

    Light is taken out first: seen in light of another strength, all of a picture's a, b and L + 16 are multiplied by
    the same number, here by the one that makes the medians of L equal.

    Attributes:
        ab: Distance in hue and saturation, CIE Lab units.
        lightness: Distance in lightness: contrast that was lost, or added by folds and shadows.
        exposure: By how much the garment became lighter (positive) or darker as a whole, before that.
    """

    ab: float
    lightness: float
    exposure: float


def to_lab(picture: Picture) -> NDArray[np.float32]:
    """CIE Lab (D65): L 0 to 100, a and b about -127 to 127, as float32."""
    return np.asarray(cv2.cvtColor(picture.astype(np.float32) / 255.0, cv2.COLOR_RGB2LAB), dtype=np.float32)


def palette(picture: Picture, where: BoolMask, least: float) -> Palette:
    """The colours that occur in a part of a picture, each in at least such a share of it: a few hundred at most."""
    colours = _colours(picture, where)
    if len(colours) == 0:
        return np.zeros((0, 3), np.float32)
    cells, counts = np.unique(np.rint(colours / PALETTE_STEP).astype(np.int32), axis=0, return_counts=True)
    return np.asarray(cells[counts >= least * len(colours)] * PALETTE_STEP, dtype=np.float32)


def alike(picture: Picture, where: BoolMask, colours: Palette) -> BoolMask:
    """Pixels of a part of a picture whose colour is near one of a palette's."""
    found = np.zeros(picture.shape[:2], bool)
    if len(colours) and where.any():
        distances, _ = cKDTree(colours).query(to_lab(picture)[where], distance_upper_bound=LIKE)
        found[where] = np.isfinite(distances)
    return found


def same_colour(first: Picture, second: Picture) -> BoolMask:
    """Pixels of like colour in both pictures, of which one may be in shadow: lightness counts by `SHADING` only."""
    apart = (to_lab(first) - to_lab(second)) * np.array([SHADING, 1.0, 1.0], np.float32)
    return np.asarray(np.linalg.norm(apart, axis=2) < LIKE)


def residue(before: Picture, after: Picture, old: BoolMask, unjudged: BoolMask) -> float | None:
    """Share of the old garment that is still seen.

    Args:
        before: The photo.
        after: The result.
        old: The old garment.
        unjudged: Where what should be seen now looks like the old garment.
    """
    judged = old & ~unjudged
    if judged.sum() < max(LEAST_PIXELS, LEAST_JUDGED * old.sum()):
        return None
    # Single pixels are alike by chance.
    still = opened(difference(before, after) <= NOISE, 1)
    return float(still[judged].mean())


def overlooked(before: Picture, after: Picture, old: BoolMask, still_worn: BoolMask) -> float | None:
    """Old clothes that were not known as such, in areas of the old garment as it was known.

    Args:
        before: The photo.
        after: The result.
        old: The old garment.
        still_worn: Where somebody who looks at the result sees clothes of its category that are not the new ones.
    """
    if old.sum() < LEAST_PIXELS:
        return None
    same = opened(still_worn & (difference(before, after) <= NOISE), OVERLOOKED_RADIUS)
    return float(same.sum() / old.sum())


def coverage(before: Picture, after: Picture, region: BoolMask, laid: BoolMask, alike_there: BoolMask) -> float | None:
    """Share of a region in which the garment is seen: it was laid there, and the photo is not seen instead.

    Args:
        before: The photo.
        after: The result.
        region: Where it should be.
        laid: Where the engine laid it.
        alike_there: Where the old garment has the new one's colour, so that no change is asked for.
    """
    if region.sum() < LEAST_PIXELS:
        return None
    changed = difference(before, after) > CHANGED
    return float((laid & (changed | alike_there))[region].mean())


def equal_share(before: Picture, after: Picture, where: BoolMask) -> float | None:
    """Share of pixels that are the same to the last bit."""
    return float((difference(before, after) == 0)[where].mean()) if where.any() else None


def colour(cloth: Picture, cloth_mask: BoolMask, after: Picture, worn_mask: BoolMask) -> Colour | None:
    """Compare the colours of a garment's photo with those of the garment on the person.

    Each channel's values are sorted on both sides and compared rank by rank (the Wasserstein distance), so that
    folds, crops and warps, which move colours about, cost nothing, and a colour shift costs what it measures.
    """
    if min(cloth_mask.sum(), worn_mask.sum()) < LEAST_PIXELS:
        return None
    shop, worn = _ranked(cloth, cloth_mask), _ranked(after, worn_mask)
    medians = [float(ranks[len(LEVELS) // 2, 0]) for ranks in (shop, worn)]
    light = (medians[0] + LAB_FOOT) / (medians[1] + LAB_FOOT)
    foot = np.array([LAB_FOOT, 0.0, 0.0])
    apart = np.abs((worn + foot) * light - foot - shop).mean(axis=0)
    return Colour(float(np.hypot(apart[1], apart[2])), float(apart[0]), medians[1] - medians[0])


def likeness(truth: Picture, after: Picture, zone: BoolMask) -> float | None:
    """Structural similarity (Wang et al. 2004) within a zone, 1 where both are the same."""
    if zone.sum() < LEAST_PIXELS:
        return None
    _, similar = structural_similarity(  # type: ignore[no-untyped-call]  # scikit-image is untyped
        truth,
        after,
        channel_axis=2,
        data_range=255,
        full=True,
        gaussian_weights=True,
        sigma=1.5,
        use_sample_covariance=False,
    )
    return float(similar.mean(axis=2)[zone].mean())


def difference(before: Picture, after: Picture) -> NDArray[np.uint8]:
    """``(h, w)``: the largest difference of a channel."""
    return np.asarray(cv2.absdiff(before, after).max(axis=2), dtype=np.uint8)


def _ranked(picture: Picture, where: BoolMask) -> NDArray[np.float64]:
    """``(199, 3)``: quantiles of L, a and b."""
    return np.asarray(np.quantile(_colours(picture, where), LEVELS, axis=0), dtype=np.float64)


def _colours(picture: Picture, where: BoolMask) -> NDArray[np.float32]:
    """``(n, 3)`` CIE Lab of a part of a picture, of every so many-th pixel where there are very many."""
    colours = to_lab(picture)[where]
    return colours[:: max(1, len(colours) // MOST_PIXELS)]
