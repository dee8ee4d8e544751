"""Filling holes in a structured ground with pieces of that ground.

A smooth fill smears flags, shelves and foliage into a haze. Here every small patch of the hole is made like a patch
that the photo shows, from coarse to fine (after Wexler, Shechtman and Irani, Space-time completion of video, 2007);
where the ground is smooth anyway, the smooth fill is kept.
"""

from __future__ import annotations

from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.channels import brightness
from engines.filling import carried_out, fill_from
from engines.regions import BoolMask, dilated, eroded

SIDES = (64, 112)
"""Longer sides of the pictures that are worked on one after the other, pixels."""

ROUNDS = (2, 2)
"""Alternations between searching and averaging on each level."""

HALF = 3
"""Half width of a patch without its middle, pixels of the level."""

WAVES = 3
"""Number of cosine waves along each side of a patch by which patches are compared; finer detail is ignored."""

NEARNESS = 2.5
"""Cost of a source at a distance of the picture's longer side, in units of a patch's root of summed squares."""

CHUNK = 512
"""Patches looked up at once; bounds the memory of the distance table."""

ROUGHNESS = (0.020, 0.045)
"""Between these local deviations of the ground from its own blur, reached by a quarter of it, the patches take over
from the smooth fill."""

BESIDE = 0.08
"""Width of the strip around the hole whose structure counts, in longer sides of the photo."""

SURE = 0.98
"""Share of a pixel of a smaller picture from which it is known."""

CLEARANCE = 0.012
"""Width of the rim of the known ground that is not copied from, in heights of the photo."""


_Match: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Rows and columns, ``(n,)`` each, of the middles of patches at the hole, and of what each of them is most like."""


def structured_fill(photo: NDArray[np.float32], known: BoolMask, wanted: BoolMask) -> NDArray[np.float32]:
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
    if not learnt.any() or not wanted.any():
        return smooth
    small, weight, hole = _reduced(photo, learnt, wanted, SIDES[-1])
    share = structure_around(small, weight, hole)
    if share <= 0.0:
        return smooth
    # To begin with, everything has the colour of what is nearest.
    rows, columns = ndimage.distance_transform_edt(weight <= SURE, return_distances=False, return_indices=True)
    filled = np.asarray(small[rows, columns], np.float32)
    for side, rounds in zip(SIDES, ROUNDS, strict=True):
        small, weight, hole = _reduced(photo, learnt, wanted, side)
        sure = weight > SURE
        begun = np.asarray(cv2.resize(filled, weight.shape[::-1], interpolation=cv2.INTER_LINEAR), np.float32)
        filled = np.where(sure[..., None], small, begun).astype(np.float32)
        for _ in range(rounds):
            match = _search(filled, sure, dilated(hole, HALF) & ~sure)
            if match is None:
                return smooth
            filled = _averaged(filled, match, sure)
    patched = cv2.resize(filled, known.shape[::-1], interpolation=cv2.INTER_CUBIC)
    mixed = np.asarray(smooth + (patched - smooth) * share, np.float32)
    return np.asarray(np.clip(mixed + fill_from(photo - mixed, known), 0.0, 1.0), dtype=np.float32)


def _reduced(
    photo: NDArray[np.float32], known: BoolMask, wanted: BoolMask, side: int
) -> tuple[NDArray[np.float32], NDArray[np.float32], BoolMask]:
    """The photo with its longer side so long, what share of each pixel there is known, and the hole."""
    scale = min(1.0, side / max(known.shape))
    size = (max(4 * HALF, round(known.shape[1] * scale)), max(4 * HALF, round(known.shape[0] * scale)))
    small, weight, hole = (
        np.asarray(cv2.resize(plane.astype(np.float32), size, interpolation=cv2.INTER_AREA), np.float32)
        for plane in (photo, known, wanted)
    )
    return small, weight, np.asarray(hole > 0.02)


def structure_around(small: NDArray[np.float32], weight: NDArray[np.float32], hole: BoolMask) -> float:
    """0 where all the ground around a hole is smooth to 1 where a part of it has structure.

    Args:
        small: ``(h, w, 3)`` float32, 0 to 1, the photo made smaller.
        weight: ``(h, w)`` float32, 0 to 1, what is known of each pixel.
        hole: ``(h, w)``.
    """
    known, sigma = np.where(weight > SURE, weight, np.float32(0.0)), 0.04 * max(weight.shape)
    mean, around = carried_out(small, known, sigma)
    squares = brightness(np.asarray((small - mean) ** 2, np.float32)) * known
    deviation = np.sqrt(cv2.GaussianBlur(squares, (0, 0), sigma) / np.maximum(around, 1e-4))
    beside = (weight > SURE) & dilated(hole, round(BESIDE * max(weight.shape)))
    if not beside.any():
        return 0.0
    low, high = ROUGHNESS
    return float(np.clip((np.percentile(deviation[beside], 75) - low) / (high - low), 0.0, 1.0))


def _search(level: NDArray[np.float32], sure: BoolMask, hole: BoolMask) -> _Match | None:
    """For every patch around a hole pixel the most similar whole patch of the ground, near ones preferred."""
    height, width = sure.shape
    inner = np.zeros_like(sure)
    inner[HALF : height - HALF, HALF : width - HALF] = True
    square = np.ones((2 * HALF + 1, 2 * HALF + 1), np.uint8)
    whole = (cv2.erode(sure.astype(np.uint8), square) > 0) & inner
    if not whole.any() or not hole.any():
        return None
    described = _described(level)
    rows, columns = np.nonzero(hole)
    from_rows, from_columns = np.nonzero(whole)
    asked, offered = described[rows, columns], described[from_rows, from_columns]
    squares = 0.5 * (offered**2).sum(axis=1)
    best = np.concatenate(
        [np.argmin(squares - asked[at : at + CHUNK] @ offered.T, axis=1) for at in range(0, len(asked), CHUNK)]
    )
    return rows, columns, from_rows[best], from_columns[best]


def _described(level: NDArray[np.float32]) -> NDArray[np.float32]:
    """``(h, w, n)``: the slow waves in every pixel's patch, then its place; their distance is that of the patches."""
    height, width = level.shape[:2]
    size = 2 * HALF + 1
    position = (np.arange(size) + 0.5) * np.pi / size
    waves = [np.cos(order * position) * np.sqrt((1.0 if order == 0 else 2.0) / size) for order in range(WAVES)]
    planes = [
        cv2.sepFilter2D(level, cv2.CV_32F, waves[across], waves[down], borderType=cv2.BORDER_REFLECT)
        for across in range(WAVES)
        for down in range(WAVES - across)
    ]
    cost = np.float32(NEARNESS * size / max(height, width))
    rows, columns = np.indices((height, width), dtype=np.float32)
    places = np.stack([rows, columns], axis=-1) * cost
    return np.ascontiguousarray(np.concatenate([*planes, places], axis=-1), dtype=np.float32)


def _averaged(level: NDArray[np.float32], match: _Match, sure: BoolMask) -> NDArray[np.float32]:
    """Every hole pixel becomes the mean of what the patches over it propose."""
    height, width = sure.shape
    at_rows, at_columns, from_rows, from_columns = match
    sums = np.zeros((height, width, 3), np.float32)
    counts = np.zeros((height, width, 1), np.float32)
    for down in range(-HALF, HALF + 1):
        for aside in range(-HALF, HALF + 1):
            rows, columns = at_rows + down, at_columns + aside
            framed = (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
            weight = np.float32(np.exp(-(down**2 + aside**2) / (2.0 * 1.5**2)))
            colour = level[from_rows[framed] + down, from_columns[framed] + aside]
            # Each target occurs once for one shift, so that plain indexing adds correctly.
            sums[rows[framed], columns[framed]] += weight * colour
            counts[rows[framed], columns[framed]] += weight
    voted = sums / np.maximum(counts, 1e-6)
    return np.where(sure[..., None] | (counts < 1e-6), level, voted).astype(np.float32)
