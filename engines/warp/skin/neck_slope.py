"""The slope of bare skin from the neck to the shoulder: a collar that stood on it leaves no lump in its outline."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.garment.regions import BoolMask, dilated, runs_of
from engines.labels import labelled_as
from engines.warp.body.model import NECK_RISE, SIDES, BodyModel

TOP = 2.2
"""Up to where the outline of the neck is looked at, in rises of the neck's foot."""

FOOT = 0.06
"""Height below the shoulders at which all columns lie within the body, in torso lengths."""

OUTERMOST = 0.42
"""How far beside the axis the slope goes over into the round of the shoulder, in shoulder widths."""

MOST_LOWERED = 0.07
"""How far a collar stands up from the skin at most, in shoulder widths."""

LED_ON = 0.06
"""How much of the seen outline tells how the hidden one goes on, in shoulder widths."""

BELOW_EDGE = 3
"""Pixels below the outline at which the labels say whose outline it is."""

ROUNDED = 0.012
"""Standard deviation with which the corners of the new outline are rounded, in shoulder widths."""

EDGE = 2.0
"""Width of its soft edge, pixels."""

CLEARED, APART = 0.025, 2
"""How far above the slope nothing of the old collar is left, in shoulder widths, and how near to what stays wall and
body are mixed, pixels."""

SOLID = 0.5
"""Cover from which a pixel belongs to the body or the garment."""

IN_FRONT, SKIN = (Label.HAIR, Label.FACE, Label.HANDS, Label.OTHER), (Label.NECK, Label.TORSO_SKIN, Label.ARMS)
"""Labels of what stays where it is, and of skin that does."""

UNSURE = 0.045
"""How far from the old garment what is called skin may be the end of its collar, in shoulder widths."""


@dataclass(frozen=True)
class _Seen:
    """What the slope meets, ``(height, width)`` each.

    Attributes:
        body: What the photo shows of the body, and what is before it.
        kept: The same without the skin beside the old garment, which may be the end of a collar.
        cloth: The new garment.
    """

    body: BoolMask
    kept: BoolMask
    cloth: BoolMask


def below_slope(
    skin: NDArray[np.float32], clothed: NDArray[np.float32], from_old: NDArray[np.float32], body: BodyModel
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Where skin may be beside the neck: below a slope that only ever becomes flatter from the neck outwards.

    The outline of what was worn rises once more where its collar stood, and steps down behind it. Outlines that the
    photo shows stay.

    Args:
        skin: ``(height, width)`` cover of invented skin, 0 to 1.
        clothed: ``(height, width)`` cover of the new garment, 0 to 1.
        from_old: ``(height, width)`` distance from the old garment, pixels.
        body: The body in the photo.

    Returns:
        ``(height, width)`` float32, the cover without what stood out above that slope, and the share of what is behind
        the person right above it, whatever the photo shows there.
    """
    lowered, cleared = skin.copy(), np.zeros(body.shape, np.float32)
    before, called_skin = labelled_as(body.labels, IN_FRONT), labelled_as(body.labels, SKIN)
    kept = before | (called_skin & (from_old > UNSURE * body.shoulder_width))
    seen = _Seen(before | called_skin, kept, clothed > SOLID)
    for side in SIDES:
        _lower(lowered, cleared, seen, body, side)
    return lowered, cleared


def _lower(skin: NDArray[np.float32], cleared: NDArray[np.float32], seen: _Seen, body: BodyModel, side: int) -> None:
    """Take the skin above the slope of one side away, and say where that is, in place."""
    unit = body.shoulder_width
    rows, columns, bottom = _beside_neck(body, side)
    if len(columns) < 2 or len(rows) < 2 * BELOW_EDGE:
        return
    part = np.ix_(rows, columns)
    cover = np.maximum(skin[part], (seen.body[part] | seen.cloth[part]).astype(np.float32))
    cover[rows[:, None] >= bottom[None]] = 1.0
    line = _upper_edge(cover)
    at = (np.clip(np.ceil(line).astype(int) + BELOW_EDGE, 0, len(rows) - 1), np.arange(len(columns)))
    covered = seen.cloth[part][at]
    # Where the new garment lies on the slope nobody sees it: its edge is met, and not stepped down to.
    end = int(np.argmax(covered)) if covered.any() else len(columns)
    met = slice(end, end + BELOW_EDGE)
    beyond = seen.cloth[part][:, met]
    line[met] = np.where(beyond.any(axis=0), np.argmax(beyond, axis=0), line[met])
    hidden = ~seen.kept[part][at] & (line > 0.0)
    hidden[met] = hidden[max(end - 1, 0)]
    for begin, stop in runs_of(hidden[: met.stop]):
        near, far = max(begin - round(LED_ON * unit), 0), min(stop + round(LED_ON * unit), met.stop)
        slope = _flattening(line[near:far])
        slope = np.asarray(cv2.GaussianBlur(slope[None], (0, 0), max(ROUNDED * unit, 0.5)), np.float32)[0]
        slope = np.minimum(slope, line[near:far] + MOST_LOWERED * unit)[begin - near : stop - near]
        away = np.arange(len(rows), dtype=np.float32)[:, None] - slope[None]
        below = np.clip(away / EDGE + 0.5, 0.0, 1.0)
        stretch = np.ix_(rows, columns[begin:stop])
        free = (away > -CLEARED * unit) & ~dilated(seen.kept[stretch], APART)
        skin[stretch] = np.minimum(skin[stretch], below)
        cleared[stretch] = (1.0 - below) * free


def _beside_neck(body: BodyModel, side: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Rows from the neck to the shoulders, columns from the axis outwards, and per column a row within the body."""
    offset = np.array([0.0, OUTERMOST * side * body.shoulder_width], np.float32)
    foot = body.point(FOOT, offset)
    height, width = body.shape
    first, last = (round(float(end)) for end in np.clip(foot[:, 0], 0, width - 1))
    columns = np.arange(first, last + side, side)
    order = np.argsort(foot[:, 0])
    bottom = np.interp(columns, foot[order, 0], foot[order, 1]).astype(np.int64)
    top = int(body.point(-TOP * NECK_RISE * body.shoulder_width / body.torso_length)[1])
    rows = np.arange(max(top, 0), min(int(bottom.max(initial=0)) + BELOW_EDGE + 2, height))
    return rows, columns, bottom


def _upper_edge(cover: NDArray[np.float32]) -> NDArray[np.float32]:
    """Per column the row at which what stands on its foot ends; 0 where that goes on beyond the window."""
    upwards = cover[::-1] > SOLID
    run = np.where(upwards.all(axis=0), len(cover), np.argmin(upwards, axis=0))
    first, columns = len(cover) - run, np.arange(cover.shape[1])
    within, beyond = cover[np.minimum(first, len(cover) - 1), columns], cover[np.maximum(first - 1, 0), columns]
    part = np.clip((within - SOLID) / np.maximum(within - beyond, 1e-3), 0.0, 1.0)
    return np.where(first > 0, first - part, 0.0).astype(np.float32)


def _flattening(line: NDArray[np.float32]) -> NDArray[np.float32]:
    """The line without what stands out above it, so that it falls less and less.

    Args:
        line: ``(n,)`` rows, from the neck outwards.
    """
    places = np.arange(len(line), dtype=np.float32)
    below = float(line.min()) - 1.0
    ends = np.array([[0.0, below], [len(line) - 1.0, below]], np.float32)
    corners = cv2.convexHull(np.concatenate([np.stack([places, line], axis=1), ends]).astype(np.float32))[:, 0]
    corners = corners[corners[:, 1] > below]
    order = np.argsort(corners[:, 0])
    return np.asarray(np.interp(places, corners[order, 0], corners[order, 1]), np.float32)
