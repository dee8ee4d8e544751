"""The garment that is not replaced, continued into the gap between it and the new one.

Trousers whose waistband was hidden under a long top are seen higher up under a cropped one; a top whose hem was
tucked in is seen lower down over a low waistband.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Category, Label
from engines.channels import on_channels
from engines.filling import fill_from
from engines.regions import BoolMask, eroded, window_of
from engines.warp.body.bare_parts import bare_half_width
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.silhouette import ease

NATURAL_TOP, HIDDEN_TOP, LEAST_RISE = 0.72, 0.90, 0.08
"""Height down to which a midriff is bare under a cropped top, height of a waistband that a top hides, and how far
trousers reach up under its hem at least, in torso lengths."""

HIDING_WAIST = (0.84, 0.97)
"""Height of the line between top and trousers from which the top may hide a waistband, and from which it does."""

LOWEST = 1.25
"""Height down to which trousers are continued, in torso lengths."""

LOWEST_BAND = 0.16
"""How far below a top the new lower garment begins at most where it is its waistband, in torso lengths."""

MEASURED, LEAST_PIXELS = 0.04, 50
"""Distance from the line within which what is seen tells how wide the hidden part is, in torso lengths, and pixels that
are enough for it on one side."""

SAG = 0.055
"""How much lower a waistband is in front than at the sides of the body, in shoulder widths: it goes round the body, and
the camera looks down at it."""

SHADED = 0.05
"""Strip beside the old hem whose colours do not count, in torso lengths: it lies in shadow, and pockets, belt loops and
folds begin there."""

THREAD, MOST_THREAD = 0.015, 0.07
"""Size of the weave that is carried on, in shoulder widths, and its largest difference from the colour of the cloth, so
that buttons and pockets are not drawn twice."""

AT_HEM, MIXED = 0.012, 3.5
"""Width of the strip of the seen garment that goes over into its continuation, in torso lengths, and its least width in
pixels: it is mixed with the old hem."""

COVERED = 0.99
"""Cover of the new garment from which nothing behind it is seen."""


@dataclass(frozen=True)
class Continuation:
    """A garment beyond where the photo shows it.

    Attributes:
        colour: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        cover: ``(height, width)`` float32, 0 to 1.
        beside: ``(height, width)`` float32, 0 to 1: beside its hidden part, where no belly stands out.
        at_hem: ``(height, width)`` float32, 0 to 1: how far the seen garment goes over into it beside the old hem.
    """

    colour: NDArray[np.float32]
    cover: NDArray[np.float32]
    beside: NDArray[np.float32]
    at_hem: NDArray[np.float32]


def continued_garment(
    photo: NDArray[np.float32],
    body: BodyModel,
    clothed: NDArray[np.float32],
    from_old: NDArray[np.float32],
    category: Category,
) -> Continuation | None:
    """Continue the garment that stays; None where there is none or no gap.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        body: The body in it.
        clothed: ``(height, width)`` cover of the new garment, 0 to 1.
        from_old: ``(height, width)`` distance from the old garment, pixels.
        category: Of the new garment.
    """
    if category is Category.FULL_BODY or body.waist.bare_midriff:
        return None
    upwards = category is Category.UPPER_BODY
    seen = np.asarray(body.labels == (Label.LOWER if upwards else Label.UPPER))
    stays = eroded(seen, 2)
    if stays.sum() < 0.01 * body.shoulder_width * body.torso_length:
        return None
    line = body.waist.line(body.laterals)
    cover, beside = _upwards(body, seen, line) if upwards else _downwards(body, seen, line, clothed)
    cover *= clothed < COVERED
    if not ((from_old == 0.0) & (cover > 0.0)).any():
        return None
    colour = _woven_on(photo, stays, body, line, window_of(cover > 0), upwards=upwards)
    # Under a hem what is mixed with it is replaced.
    near = ease(1.5 * (1.0 - from_old / np.float32(max(AT_HEM * body.torso_length, MIXED))))
    return Continuation(colour, cover, beside, np.asarray(cover * near * upwards, np.float32))


def _upwards(
    body: BodyModel, seen: BoolMask, line: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """``(height, width)`` cover of trousers or a skirt whose waistband a top hid, and what is beside that.

    They come in from their width at the hem to that of the belly. A top that ends high ends at the waistband itself,
    and hid nothing of it.
    """
    unit, waist = body.shoulder_width, body.waist.height
    hidden = float(ease((waist - HIDING_WAIST[0]) / (HIDING_WAIST[1] - HIDING_WAIST[0])))
    cover, beside = np.zeros(body.shape, np.float32), np.zeros(body.shape, np.float32)
    if hidden <= 0.0:
        return cover, beside
    rise = hidden * max(waist - HIDDEN_TOP, LEAST_RISE)
    # Hips are round: upright where they are widest, and again where the waist begins.
    way_up = ease((line - body.heights) / np.float32(rise))
    offset = body.laterals * np.float32(unit)
    for side, wide in _seen_widths(body, seen, line, below=True).items():
        narrow = min(float(bare_half_width(body, np.array([waist - rise], np.float32), side)[0]), wide)
        half = wide + (narrow - wide) * way_up
        aside = offset * np.float32(side)
        bow = SAG * (np.maximum(1.0 - (aside / half) ** 2, 0.0) - 0.5) * (unit / body.torso_length)
        top = np.maximum(waist - rise + bow, NATURAL_TOP)
        rows = np.clip((body.heights - top) * body.torso_length + 0.5, 0.0, 1.0) * (body.heights < LOWEST)
        within = np.clip(half - aside + 0.5, 0.0, 1.0)
        cover = np.maximum(cover, (rows * within * (aside >= 0.0)).astype(np.float32))
        beside = np.maximum(beside, (rows * (1.0 - within) * (aside >= 0.0)).astype(np.float32))
    return cover, beside


def _downwards(
    body: BodyModel, seen: BoolMask, line: NDArray[np.float32], clothed: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """``(height, width)`` cover of a top over a new waistband that lies a little lower, and nothing beside it.

    It is not continued beside the new garment.
    """
    rise = max(3, round(LOWEST_BAND * body.torso_length))
    # Below the soft edge at its sides nothing is open.
    cloth = eroded(clothed > 0.5, 3).astype(np.uint8)
    over = cv2.dilate(cloth, np.ones((rise, 1), np.uint8), anchor=(0, 0), borderValue=0) > 0
    gap = (body.heights < line + 0.06) & (body.heights > line - 0.10) & over
    offset, within = body.laterals * np.float32(body.shoulder_width), np.zeros(body.shape, bool)
    for side, wide in _seen_widths(body, seen, line, below=False).items():
        within |= (offset * side >= 0.0) & (offset * side < wide)
    cover = np.asarray(cv2.GaussianBlur((gap & within).astype(np.float32), (0, 0), 1.0), np.float32)
    return cover, np.zeros_like(cover)


def _seen_widths(body: BodyModel, seen: BoolMask, line: NDArray[np.float32], *, below: bool) -> dict[int, float]:
    """Half widths in pixels of the garment at its hem, by side: no step shows there; the torso's where nothing tells.

    ``below`` the line of the waist, or above it.
    """
    from_line = (body.heights - line) * (1.0 if below else -1.0)
    offset = body.laterals[seen & (from_line > 0.005) & (from_line < MEASURED)] * np.float32(body.shoulder_width)
    widths = {side: float(body.half_width(body.waist.height, side)) for side in SIDES}
    for side in SIDES:
        outwards = offset[offset * side > 0] * side
        if len(outwards) > LEAST_PIXELS:
            widths[side] = float(np.percentile(outwards, 99.5))
    return widths


def _woven_on(
    photo: NDArray[np.float32],
    stays: BoolMask,
    body: BodyModel,
    line: NDArray[np.float32],
    window: tuple[slice, slice],
    *,
    upwards: bool,
) -> NDArray[np.float32]:
    """A seen garment's colour continued smoothly, and in a window with its own weave reflected at its edge."""
    sigma, sign = max(THREAD * body.shoulder_width, 1.0), 1.0 if upwards else -1.0
    margin = round(4 * sigma) + 1
    rows, columns = (slice(max(part.start - margin, 0), part.stop + margin) for part in window)
    around = rows, columns
    deep = stays & (sign * (body.heights - line) > SHADED)
    colour = fill_from(photo, deep if deep.any() else stays)
    shift = 2.0 * (line[around] + sign * SHADED / 2 - body.heights[around]) * body.torso_length
    grid = np.indices(shift.shape, dtype=np.float32)
    x = np.asarray(grid[1] + columns.start + shift * body.skeleton.down[0], np.float32)
    y = np.asarray(grid[0] + rows.start + shift * body.skeleton.down[1], np.float32)
    reflected = np.asarray(cv2.remap(photo, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32)
    known = np.asarray(cv2.remap(stays.astype(np.float32), x, y, cv2.INTER_LINEAR)) > 0.99
    weave = np.clip(reflected - cv2.GaussianBlur(reflected, (0, 0), sigma), -MOST_THREAD, MOST_THREAD)
    colour[around] += weave * on_channels(np.asarray(cv2.GaussianBlur(known.astype(np.float32), (0, 0), 1.5)))
    return colour
