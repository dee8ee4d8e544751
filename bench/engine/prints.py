"""Whether a garment's print is still the same: its features, found again on the person beside their neighbours."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from engines.base import Picture
from engines.regions import BoolMask

LEAST_FEATURES = 30
"""A garment with fewer has no print to speak of."""

RIM = 0.04
"""Width of the band along the outline that is left out, as a share of the garment's size: it turns away from the eye
when worn, and its features are of the outline."""

PRINT_CONTRAST, SEEN_CONTRAST = 0.05, 0.015
"""SIFT's thresholds, usually 0.04: on the garment's photo, where weave and noise are no print, and on the person, where
the same print may be seen in dim light."""

TWIN, TWIN_APART = 200.0, 0.05
"""A feature with another one nearer than this (distance of descriptors; unrelated ones are 400 apart), further off than
this (share of the garment's size), is part of a pattern that repeats and cannot be told from its twins."""

UNLIKE_SECOND, UNRELATED = 0.85, 400.0
"""A match is a seed where its distance is at most this share of the next best one's, or of an unrelated one's."""

NEIGHBOURS, LEAST_AGREEING = 12, 6
"""Seeds around a feature that say where it should lie, and how many of them have to agree on one affine map."""

EVERYWHERE = 2.0
"""How much less well all seeds together have to agree: the whole garment is no plane."""

MOST_ROUNDS = 4

AGREEING_WITHIN, NEAR = 0.02, 0.02
"""How well they have to agree, and how far from the place they name a feature may lie; shares of the garment's size."""

LEAST_SCALE, MOST_SCALE = 0.4, 2.5
"""A map that stretches by less or more agrees by chance: both pictures have the same size by now."""

LEAST_PATCH, MOST_PATCH = 7, 40
"""Half the side of the patch that is compared, pixels; between them, as wide as the feature with its surroundings."""

CORRELATED = 0.75
"""Correlation of patches from which they show the same. Light and contrast do not count."""

FLAT = 1.0
"""Standard deviation of grey values below which a patch shows nothing."""

Points = NDArray[np.float32]
"""``(n, 2)`` x and y, pixels."""


@dataclass(frozen=True)
class Features:
    """SIFT features of a part of a picture.

    Attributes:
        points: ``(n, 2)`` x and y, pixels.
        sizes: ``(n,)`` diameters, pixels.
        descriptors: ``(n, 128)``.
    """

    points: Points
    sizes: NDArray[np.float32]
    descriptors: NDArray[np.float32]

    def only(self, which: NDArray[np.bool_]) -> Features:
        """Some of them."""
        return Features(self.points[which], self.sizes[which], self.descriptors[which])


@dataclass(frozen=True)
class Side:
    """One of the two pictures: ``(h, w)`` uint8 grey, and what was found on it."""

    grey: NDArray[np.uint8]
    features: Features


def found_again(
    cloth: Picture, cloth_mask: BoolMask, inner: BoolMask, after: Picture, worn_mask: BoolMask
) -> float | None:
    """Share of the print's features that are seen on the person in their place.

    Features with a clear counterpart are seeds; the seeds around a feature say where it should lie and how it is
    turned and stretched there, and its patch, so bent, has to correlate with what is seen there. The garment is first
    brought to the size at which it is worn: detail that the photo is too small for is nobody's fault. What hands and
    hair hide counts as not found.

    Args:
        cloth: ``(h, w, 3)``, the garment's photo.
        cloth_mask: ``(h, w)`` bool, the garment on it.
        inner: ``(h, w)`` bool, its parts, without the seams between parts that turn against each other when worn.
        after: ``(H, W, 3)``, the result.
        worn_mask: ``(H, W)`` bool, the garment on it.

    Returns:
        0 to 1; ``None`` for a garment that is too plain, or repeats itself.
    """
    worn_area = float(worn_mask.sum())
    if worn_area == 0 or not cloth_mask.any():
        return None
    scale = min(1.0, float(np.sqrt(worn_area / cloth_mask.sum())))
    size = (max(1, round(cloth.shape[1] * scale)), max(1, round(cloth.shape[0] * scale)))
    small = np.asarray(cv2.resize(cloth, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    small_inner = cv2.resize(inner.astype(np.uint8), size, interpolation=cv2.INTER_NEAREST) > 0
    unit = scale * float(np.sqrt(cloth_mask.sum()))
    shop, worn = side_of(small, small_inner, unit, PRINT_CONTRAST), side_of(after, worn_mask, unit, SEEN_CONTRAST)
    shop = Side(shop.grey, without_twins(one_per_spot(shop.features), TWIN_APART * unit))
    if len(shop.features.points) < LEAST_FEATURES:
        return None
    return float(in_place(shop, worn, unit).mean())


def one_per_spot(features: Features) -> Features:
    """Without the further directions of features that have several."""
    _, first = np.unique(features.points, axis=0, return_index=True)
    return features.only(np.isin(np.arange(len(features.points)), first))


def without_twins(features: Features, apart: float) -> Features:
    """Those that look like no other feature which lies further off than a few pixels."""
    if len(features.points) < 2:
        return features
    alike = cdist(features.descriptors, features.descriptors) < TWIN
    far = cdist(features.points, features.points) > apart
    return features.only(~np.asarray((alike & far).any(axis=1)))


def in_place(shop: Side, worn: Side, unit: float) -> NDArray[np.bool_]:
    """``(n,)``: which features of the shop's picture are seen on the person, in their place.

    What is found says, with the seeds, where the rest should lie, until no more is found.
    """
    points = shop.features.points
    seeds, partners = _seeds(shop.features, worn.features, AGREEING_WITHIN * unit)
    places, counterparts = points[seeds], worn.features.points[partners]
    seen_at = np.full(points.shape, np.nan, np.float32)
    for _ in range(MOST_ROUNDS):
        missing = np.flatnonzero(np.isnan(seen_at[:, 0]))
        for number, bend in _bends(points, missing, places, counterparts, AGREEING_WITHIN * unit):
            if np.isnan(seen_at[number, 0]):
                seen_at[number] = _seen_at(shop, number, bend, worn.grey, NEAR * unit)
        found = ~np.isnan(seen_at[:, 0])
        if not found[missing].any():
            break
        places, counterparts = points[found], seen_at[found]
    return ~np.isnan(seen_at[:, 0])


def _bends(
    points: Points, missing: NDArray[np.intp], places: Points, counterparts: Points, within: float
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """For each missing feature the affine map that the nearest known places agree on, then the one that all do."""
    if len(places) < LEAST_AGREEING:
        return
    everywhere = _bend(places, counterparts, EVERYWHERE * within)
    among_places = cKDTree(places)
    for number in missing:
        # Itself it is no witness.
        distances, nearest = among_places.query(points[number], k=min(NEIGHBOURS + 1, len(places)))
        others = np.asarray(nearest)[np.asarray(distances) > 0][:NEIGHBOURS]
        for bend in (_bend(places[others], counterparts[others], within), everywhere):
            if bend is not None:
                yield int(number), bend


def side_of(picture: Picture, where: BoolMask, unit: float, contrast: float) -> Side:
    """Features of a picture that lie well inside a mask."""
    grey = np.asarray(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), dtype=np.uint8)
    inside = cv2.distanceTransform(np.pad(where, 1).astype(np.uint8), cv2.DIST_L2, 5)[1:-1, 1:-1]
    sift = cv2.SIFT.create(contrastThreshold=contrast)
    keypoints, descriptors = sift.detectAndCompute(grey, (inside > RIM * unit).astype(np.uint8))
    points = np.array([keypoint.pt for keypoint in keypoints], np.float32).reshape(-1, 2)
    sizes = np.array([keypoint.size for keypoint in keypoints], np.float32)
    described = np.zeros((0, 128), np.float32) if descriptors is None else np.asarray(descriptors, np.float32)
    return Side(grey, Features(points, sizes, described))


def _seeds(shop: Features, worn: Features, apart: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Indices of features that have one clear counterpart, and of those.

    The next best that a counterpart has to beat lies further than ``apart`` from it: one spot may have several
    features, of several sizes and directions.
    """
    if len(worn.points) == 0:
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    distances = cdist(shop.descriptors, worn.descriptors)
    best = distances.argmin(axis=1)
    elsewhere = cdist(worn.points[best], worn.points) > apart
    next_best = np.where(elsewhere, distances, np.inf).min(axis=1)
    seeds = np.flatnonzero(distances.min(axis=1) < UNLIKE_SECOND * np.minimum(next_best, UNRELATED))
    return seeds, best[seeds]


def _bend(around: Points, partners: Points, within: float) -> NDArray[np.float64] | None:
    """``(2, 3)``: the affine map of the cloth around a feature; ``None`` where its neighbours do not agree."""
    if len(around) < LEAST_AGREEING:
        return None
    affine, agreeing = cv2.estimateAffine2D(around, partners, ransacReprojThreshold=within)
    if affine is None or int(agreeing.sum()) < LEAST_AGREEING or np.linalg.det(affine[:, :2]) <= 0:
        return None
    stretches = np.linalg.svd(affine[:, :2], compute_uv=False)
    if stretches[0] > MOST_SCALE or stretches[1] < LEAST_SCALE:
        return None
    return np.asarray(affine, dtype=np.float64)


def _seen_at(shop: Side, number: int, bend: NDArray[np.float64], seen: NDArray[np.uint8], near: float) -> Points:
    """``(2,)``: where a feature's surroundings, bent, are seen near the place where they should be; nan where not."""
    half = int(np.clip(1.5 * shop.features.sizes[number], LEAST_PATCH, MOST_PATCH))
    reach = max(2, round(near))
    place = bend @ np.append(shop.features.points[number], 1.0)
    # Into a frame whose middle is that place.
    to_patch = bend.copy()
    to_patch[:, 2] += half - place
    side = 2 * half + 1
    patch = cv2.warpAffine(shop.grey, to_patch, (side, side), borderMode=cv2.BORDER_REPLICATE)
    window = cv2.getRectSubPix(seen, (side + 2 * reach, side + 2 * reach), (float(place[0]), float(place[1])))
    # A flat patch correlates with nothing, and with everything.
    if min(float(patch.std()), float(window.std())) < FLAT:
        return np.full(2, np.nan, np.float32)
    _, most, _, offset = cv2.minMaxLoc(cv2.matchTemplate(window, patch, cv2.TM_CCOEFF_NORMED))
    found = place + offset - reach
    return np.asarray(found if most > CORRELATED else [np.nan, np.nan], dtype=np.float32)
