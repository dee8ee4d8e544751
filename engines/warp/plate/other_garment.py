"""The garment that is not replaced, continued into the gap between it and the new one.

Trousers whose waistband was hidden under a long top are seen higher up under a cropped one; a top whose hem was
tucked in is seen lower down over a low waistband.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Category, Label, PersonMap
from engines.channels import on_channels
from engines.filling import fill_from
from engines.garment.regions import dilated, eroded, window_of
from engines.labels import labelled_as
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.plate.cloth_above import MOST_THREAD, SHADED, THREAD, cloth_above
from engines.warp.plate.waistband import upper_end

LOWEST_BAND = 0.16
"""How far below a top the new lower garment begins at most where it is its waistband, in torso lengths."""

HEM_MARGIN = 0.025
"""Strip of the seen garment beside the old hem that lies in its shadow, in torso lengths."""

MEASURED = (0.005, 0.04)
"""Heights below the line between which the seen trousers tell the width of their hidden part."""

AT_HEM, MIXED = 0.012, 3.5
"""Width of the strip of the seen garment that goes over into its continuation, in torso lengths, and its least width in
pixels: it is mixed with the old hem."""

TOPS, BESIDE_TOP = (Label.UPPER, Label.FULL), 8
"""What may have hung over the garment below, and width of the strip beside it that is mixed with it, pixels."""

COVERED = 0.99
"""Cover of the new garment from which nothing behind it is seen."""


@dataclass(frozen=True)
class Continuation:
    """A garment beyond where the photo shows it.

    Attributes:
        colour: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        cover: ``(height, width)`` float32, 0 to 1.
        hidden: 0 where the photo shows the edge that it goes on from to 1 where the old garment hung over it.
        beside: ``(height, width)``, 1 where no belly stands out beside its hidden end; None for a top.
    """

    colour: NDArray[np.float32]
    cover: NDArray[np.float32]
    hidden: float = 1.0
    beside: NDArray[np.float32] | None = None


def continued_garment(
    photo: NDArray[np.float32],
    person_map: PersonMap,
    body: BodyModel,
    clothed: NDArray[np.float32],
    category: Category,
) -> Continuation | None:
    """Continue the garment that stays; None where there is none or no gap.

    Args:
        photo: ``(height, width, 3)`` float32 sRGB, 0 to 1.
        person_map: Of the photo.
        body: The body.
        clothed: ``(height, width)`` cover of the new garment, 0 to 1.
        category: Of the new garment.
    """
    if category is Category.FULL_BODY or (category is Category.LOWER_BODY and body.waist.bare_midriff):
        return None
    label = Label.LOWER if category is Category.UPPER_BODY else Label.UPPER
    stays = cv2.erode((person_map.labels == label).astype(np.uint8), np.ones((5, 5), np.uint8)) > 0
    if stays.sum() < 0.01 * body.shoulder_width * body.torso_length:
        return None
    line = body.waist.line(body.laterals)
    below = category is Category.UPPER_BODY
    seen = np.asarray(person_map.labels == label)
    end = upper_end(body, seen) if below else None
    cover = np.zeros(body.shape, np.float32)
    if end is not None:
        cover[end.window] = end.cover * (clothed[end.window] < COVERED)
    elif not below:
        gap = (body.heights < line + 0.06) & (body.heights > line - 0.10) & _over_cloth(clothed, body)
        gap &= _within(body, seen) & (clothed < COVERED)
        cover = np.asarray(cv2.GaussianBlur(gap.astype(np.float32), (0, 0), 1.0), np.float32)
    if end is not None:
        # Where the new top covers all that the old one did, nothing of it comes to light.
        gap = dilated(labelled_as(person_map.labels[end.window], TOPS), BESIDE_TOP)
        cover[end.window] *= (gap & (cover[end.window] > 0.0)).any()
    if not cover.any():
        return None
    if end is not None:
        beside = np.zeros(body.shape, np.float32)
        beside[end.window] = end.beside
        return Continuation(cloth_above(photo, seen, body, end), cover, end.hidden, beside)
    return Continuation(_woven_on(photo, np.asarray(stays), body, line, window_of(cover > 0)), cover)


def at_hem(cover: NDArray[np.float32], from_old: NDArray[np.float32], torso_length: float) -> NDArray[np.float32]:
    """How far the seen garment goes over into its continuation beside the old hem, ``(height, width)`` from 0 to 1.

    Args:
        cover: ``(height, width)`` of the continuation, 0 to 1.
        from_old: ``(height, width)`` distance from the old garment, pixels.
        torso_length: Pixels.
    """
    return np.asarray(cover * ease(1.5 * (1.0 - from_old / np.float32(max(AT_HEM * torso_length, MIXED)))), np.float32)


def _over_cloth(clothed: NDArray[np.float32], body: BodyModel) -> NDArray[np.bool_]:
    """Where the new lower garment begins a little further down; beside it a top has no reason to go on."""
    rise = max(3, round(LOWEST_BAND * body.torso_length))
    # Below the soft edge at its sides nothing is open.
    cloth = eroded(clothed > 0.5, 3).astype(np.uint8)
    upwards = cv2.dilate(cloth, np.ones((rise, 1), np.uint8), anchor=(0, 0), borderValue=0)
    return np.asarray(upwards > 0)


def _within(body: BodyModel, seen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Pixels no further out than the torso, nor than the seen garment beside the waist, which may be narrower."""
    from_waist = body.heights - body.waist.line(body.laterals)
    beside = seen & (from_waist > MEASURED[0]) & (from_waist < MEASURED[1])
    offset = body.laterals * body.shoulder_width
    inside = np.zeros(body.shape, bool)
    for side in SIDES:
        limit = body.half_width(body.heights, side)
        on_side = beside & (offset * side > 0)
        if on_side.sum() > 50:
            # At the hem it is as wide as what is seen below, and no step shows.
            limit = np.full(body.shape, float(np.percentile(offset[on_side] * side, 99.5)), np.float32)
        inside |= (offset * side >= 0) & (offset * side < limit)
    return inside


def _woven_on(
    photo: NDArray[np.float32],
    stays: NDArray[np.bool_],
    body: BodyModel,
    line: NDArray[np.float32],
    window: tuple[slice, slice],
) -> NDArray[np.float32]:
    """A seen top's colour continued smoothly, and in a window with its own weave reflected at its edge."""
    sigma = max(THREAD * body.shoulder_width, 1.0)
    margin = round(4 * sigma) + 1
    around = tuple(slice(max(part.start - margin, 0), part.stop + margin) for part in window)
    shift = 2.0 * (line[around] - HEM_MARGIN - body.heights[around]) * body.torso_length
    rows, columns = np.indices(shift.shape, dtype=np.float32)
    rows, columns = rows + around[0].start, columns + around[1].start
    x, y = columns + shift * body.skeleton.down[0], rows + shift * body.skeleton.down[1]
    x, y = x.astype(np.float32), y.astype(np.float32)
    reflected = np.asarray(cv2.remap(photo, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), np.float32)
    known = cv2.remap(stays.astype(np.float32), x, y, cv2.INTER_LINEAR)
    share = cv2.GaussianBlur((np.asarray(known) > 0.99).astype(np.float32), (0, 0), 1.5)
    weave = np.clip(reflected - cv2.GaussianBlur(reflected, (0, 0), sigma), -MOST_THREAD, MOST_THREAD)
    deep = stays & (body.heights < line - SHADED)
    smooth = fill_from(photo, np.asarray(deep if deep.any() else stays))
    smooth[around] += weave * on_channels(share)
    return smooth
