"""Filling holes in a structured ground with pieces of that ground.

A smooth fill smears flags, shelves and foliage into a haze. Here every small patch of the hole is made like a patch
that the photo shows, from coarse to fine (after Wexler, Shechtman and Irani, Space-time completion of video, 2007);
where the ground is smooth anyway, the smooth fill is kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.garment.regions import dilated, eroded
from engines.warp.channels import largest_channel
from engines.warp.fill import fill_from, push_pull

SIDES = (48, 96)
"""Longer sides of the pictures that are worked on one after the other, pixels."""

ROUNDS = 3
"""Alternations between searching and averaging on every level."""

HALF = 3
"""Half width of a patch without its middle, pixels of the level."""

DIMENSIONS = 14
"""Directions of greatest variance in which patches are compared."""

NEARNESS = 1.2
"""What a source as far away as the picture is long costs, in the units of a patch's root of summed squares."""

CHUNK = 512
"""Patches looked up at once; bounds the memory of the distance table."""

ROUGHNESS = (0.020, 0.045)
"""Between these local deviations of the ground from its own blur the patches take over from the smooth fill."""

DETAIL = 1.5
"""Blur that parts the fine detail, which is copied, from the colours, which are averaged; pixels."""

MOST_DETAIL = 0.03
"""Largest detail that is copied: grain, not the edges of things; in units of full white."""

CLEARANCE = 0.012
"""Width of the rim of the known ground that is not copied from, in heights of the photo."""

JOIN_REACH, MOST_LED = 0.06, 0.20
"""Distance over which the fill is led to the colours beside the hole, in heights of the photo, and the largest
difference in which that is done; a larger one is an edge of the ground."""

FloatMask = NDArray[np.float32]


@dataclass(frozen=True)
class _Match:
    """Where every patch of the hole found its like: rows and columns of both, ``(n,)`` each."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    from_rows: NDArray[np.int64]
    from_columns: NDArray[np.int64]


def structured_fill(
    photo: NDArray[np.float32], known: NDArray[np.bool_], wanted: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """The ground continued into a hole.

    Args:
        photo: ``(height, width, 3)`` float32, 0 to 1.
        known: ``(height, width)`` pixels to learn from.
        wanted: ``(height, width)`` pixels that will be seen; others are filled smoothly.

    Returns:
        ``(height, width, 3)`` float32, 0 to 1, defined everywhere.
    """
    smooth = fill_from(photo, known)
    # The rim of the hole may carry the colours of what was there: nothing is learnt from it.
    learnt = eroded(known, max(2, round(CLEARANCE * known.shape[0])))
    if not learnt.any():
        return smooth
    share = _structure(photo, learnt)
    if not (wanted & (share > 0)).any():
        return smooth
    patched = _patched(photo, learnt, wanted, _nearest(photo, learnt))
    if patched is None:
        return smooth
    mixed = np.asarray(smooth + (patched - smooth) * share[..., None], np.float32)
    return np.asarray(np.clip(_led_to(mixed, photo, known), 0.0, 1.0), dtype=np.float32)


def _structure(photo: NDArray[np.float32], known: NDArray[np.bool_]) -> FloatMask:
    """``(height, width)`` 0 where the ground nearby is smooth to 1 where it has structure."""
    height, width = known.shape
    scale = SIDES[-1] / max(height, width)
    size = (max(8, round(width * scale)), max(8, round(height * scale)))
    weight = np.asarray(cv2.resize(known.astype(np.float32), size, interpolation=cv2.INTER_AREA), np.float32)
    small = np.asarray(cv2.resize(photo * known[..., None], size, interpolation=cv2.INTER_AREA), np.float32)
    sigma = 0.04 * max(size)
    around = np.maximum(cv2.GaussianBlur(weight, (0, 0), sigma), 1e-4)[..., None]
    mean = cv2.GaussianBlur(small, (0, 0), sigma) / around
    own = small / np.maximum(weight, 1e-3)[..., None]
    squares = np.asarray(((own - mean) ** 2).mean(axis=2) * weight, np.float32)
    deviation = np.sqrt(cv2.GaussianBlur(squares, (0, 0), sigma) / around[..., 0])
    trusted = np.asarray((around[..., 0] > 0.1).astype(np.float32) * weight, np.float32)
    spread = push_pull(np.repeat(deviation[..., None], 3, axis=2), trusted)[..., 0]
    low, high = ROUGHNESS
    share = np.clip((spread - low) / (high - low), 0.0, 1.0).astype(np.float32)
    return np.asarray(cv2.resize(share, (width, height), interpolation=cv2.INTER_LINEAR), np.float32)


def _nearest(photo: NDArray[np.float32], known: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Every pixel of the hole in the colour of the known one nearest to it, at the size of the last level."""
    height, width = known.shape
    scale = SIDES[-1] / max(height, width)
    size = (max(8, round(width * scale)), max(8, round(height * scale)))
    small = np.asarray(cv2.resize(photo, size, interpolation=cv2.INTER_AREA), np.float32)
    sure = np.asarray(cv2.resize(known.astype(np.float32), size, interpolation=cv2.INTER_AREA)) > 0.98
    rows, columns = ndimage.distance_transform_edt(~sure, return_distances=False, return_indices=True)
    return np.asarray(small[rows, columns], np.float32)


def _patched(
    photo: NDArray[np.float32], known: NDArray[np.bool_], hole: NDArray[np.bool_], smooth: NDArray[np.float32]
) -> NDArray[np.float32] | None:
    """The hole made of patches; None where no patch of the ground is whole."""
    height, width = known.shape
    filled: NDArray[np.float32] | None = None
    match: _Match | None = None
    for side in SIDES:
        scale = min(1.0, side / max(height, width))
        size = (max(4 * HALF, round(width * scale)), max(4 * HALF, round(height * scale)))
        small = np.asarray(cv2.resize(photo, size, interpolation=cv2.INTER_AREA), np.float32)
        sure = np.asarray(cv2.resize(known.astype(np.float32), size, interpolation=cv2.INTER_AREA)) > 0.98
        open_ = np.asarray(cv2.resize(hole.astype(np.float32), size, interpolation=cv2.INTER_AREA)) > 0.02
        before = smooth if filled is None else filled
        start = np.asarray(cv2.resize(before, size, interpolation=cv2.INTER_AREA if filled is None else cv2.INTER_LINEAR))
        level = np.where(sure[..., None], small, start).astype(np.float32)
        for _ in range(ROUNDS):
            match = _search(level, sure, dilated(open_, HALF) & ~sure)
            if match is None:
                return None
            level = _averaged(level, match, sure)
        filled = level
    if filled is None or match is None:
        return None
    return _enlarged(photo, known, filled, match)


def _search(level: NDArray[np.float32], sure: NDArray[np.bool_], hole: NDArray[np.bool_]) -> _Match | None:
    """For every patch around a hole pixel the most similar whole patch of the ground, near ones preferred."""
    height, width = sure.shape
    inner = np.zeros_like(sure)
    inner[HALF : height - HALF, HALF : width - HALF] = True
    square = np.ones((2 * HALF + 1, 2 * HALF + 1), np.uint8)
    whole = (cv2.erode(sure.astype(np.uint8), square) > 0) & inner
    if whole.sum() < 4 * DIMENSIONS or not hole.any():
        return None
    padded = np.pad(level, ((HALF, HALF), (HALF, HALF), (0, 0)), mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(padded, (2 * HALF + 1, 2 * HALF + 1), axis=(0, 1))
    rows, columns = np.nonzero(hole)
    from_rows, from_columns = np.nonzero(whole)
    targets = windows[rows, columns].reshape(len(rows), -1)
    sources = windows[from_rows, from_columns].reshape(len(from_rows), -1)
    mean = sources.mean(axis=0)
    _, axes = np.linalg.eigh(np.cov((sources - mean).T))
    axes = axes[:, -DIMENSIONS:].astype(np.float32)
    cost = NEARNESS * (2 * HALF + 1) / max(height, width)
    places = np.stack([from_rows, from_columns], axis=1).astype(np.float32) * cost
    offered = np.concatenate([(sources - mean) @ axes, places], axis=1)
    asked = np.concatenate(
        [(targets - mean) @ axes, np.stack([rows, columns], axis=1).astype(np.float32) * cost], axis=1
    )
    squares = 0.5 * (offered**2).sum(axis=1)
    best = np.concatenate(
        [np.argmin(squares - asked[at : at + CHUNK] @ offered.T, axis=1) for at in range(0, len(asked), CHUNK)]
    )
    return _Match(rows, columns, from_rows[best], from_columns[best])


def _averaged(level: NDArray[np.float32], match: _Match, sure: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Every hole pixel becomes the mean of what the patches over it propose."""
    height, width = sure.shape
    sums = np.zeros((height, width, 3), np.float32)
    counts = np.zeros((height, width, 1), np.float32)
    for down in range(-HALF, HALF + 1):
        for aside in range(-HALF, HALF + 1):
            rows, columns = match.rows + down, match.columns + aside
            framed = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
            weight = np.float32(np.exp(-(down**2 + aside**2) / (2.0 * 1.5**2)))
            colour = level[match.from_rows[framed] + down, match.from_columns[framed] + aside]
            # Each target occurs once for one shift, so that plain indexing adds correctly.
            sums[rows[framed], columns[framed]] += weight * colour
            counts[rows[framed], columns[framed]] += weight
    voted = sums / np.maximum(counts, 1e-6)
    return np.where(sure[..., None] | (counts < 1e-6), level, voted).astype(np.float32)


def _enlarged(
    photo: NDArray[np.float32], known: NDArray[np.bool_], filled: NDArray[np.float32], match: _Match
) -> NDArray[np.float32]:
    """The small fill at the photo's size, with the fine detail of the places it was taken from."""
    height, width = known.shape
    small_height, small_width = filled.shape[:2]
    step = np.array([width / small_width, height / small_height], np.float32)
    shift = np.zeros((small_height, small_width, 2), np.float32)
    shift[match.rows, match.columns, 0] = (match.from_columns - match.columns) * step[0]
    shift[match.rows, match.columns, 1] = (match.from_rows - match.rows) * step[1]
    # A lone patch from elsewhere would break the grain.
    steady = np.stack([cv2.medianBlur(np.ascontiguousarray(shift[..., axis]), 5) for axis in range(2)], axis=-1)
    steady = np.asarray(cv2.resize(steady, (width, height), interpolation=cv2.INTER_NEAREST), np.float32)
    rows, columns = np.indices((height, width), dtype=np.float32)
    fine = np.clip(photo - np.asarray(cv2.GaussianBlur(photo, (0, 0), DETAIL)), -MOST_DETAIL, MOST_DETAIL)
    fine = np.where(eroded(known, 3)[..., None], fine, 0.0).astype(np.float32)
    detail = cv2.remap(fine, columns + steady[..., 0], rows + steady[..., 1], cv2.INTER_NEAREST)
    coarse = np.asarray(cv2.resize(filled, (width, height), interpolation=cv2.INTER_CUBIC), np.float32)
    return np.asarray(coarse + np.asarray(detail, np.float32), dtype=np.float32)


def _led_to(
    filled: NDArray[np.float32], photo: NDArray[np.float32], known: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """The fill led to the colours beside the hole, so that no line shows where it begins."""
    distance = np.asarray(cv2.distanceTransform((~known).astype(np.uint8), cv2.DIST_L2, 5), np.float32)
    beside = np.exp(-distance / np.float32(JOIN_REACH * known.shape[0]))[..., None]
    lacking = photo - filled
    rim = known & dilated(~known, max(4, round(CLEARANCE * known.shape[0])))
    rim &= largest_channel(np.abs(lacking)) < MOST_LED
    if not rim.any():
        return filled
    lacking = fill_from((lacking + 1.0) / 2.0, rim) * 2.0 - 1.0
    return np.asarray(filled + lacking * beside, dtype=np.float32)
