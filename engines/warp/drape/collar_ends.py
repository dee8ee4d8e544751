"""Both ends of a flat collar lie on the shoulders: they turn round the neck and do not stand up like horns."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from scipy import ndimage

from engines.base import Label
from engines.garment.regions import BoolMask, closed, dilated, eroded, opened, window_of
from engines.garment.upper_landmarks import UpperLandmarks
from engines.labels import labelled_as
from engines.warp.body.bare_parts import CLOTH_THICKNESS
from engines.warp.body.model import LEFT, RIGHT, BodyModel
from engines.warp.drape.fit import Fit, is_strap
from engines.warp.pieces import Piece

HORN, DEPTH = 0.03, 0.6
"""Radius of the smallest part of the line over shoulder and neck that may stand out, in shoulder widths, and how far a
horn does at least, in such radii: a right angle, which many a neckband ends in, does by 0.4."""

SOFT = 1.0
"""Blur of the cut, pixels (standard deviation)."""

BESIDE_CUT = 2
"""How far beside it the edge of the cloth is drawn anew, pixels."""

BESIDE_END, DOWN_TO = 0.10, 0.10
"""How far from the collar's end that is asked, in shoulder widths, and down to which height, in torso lengths."""

ROUND = 0.07
"""Radius of the bend in which a neckband turns round the neck at its ends, in shoulder widths."""


def laid_on_shoulders(piece: Piece, marks: UpperLandmarks, body: BodyModel, fit: Fit) -> Piece:
    """The torso of a garment without what stands up at the ends of its collar; those of a flat one end in a bend.

    On a table the ends of a neckband are its highest points; on a body it goes on over the shoulder from there.

    Args:
        piece: The torso, with the inside of its collar where that is seen.
        marks: Landmarks of the garment.
        body: The body.
        fit: Where the collar's feet lie.
    """
    shoulders, unit = marks.shoulders, body.shoulder_width
    if shoulders.hood or is_strap(marks):
        return piece
    window = window_of((piece.alpha > 0) & (body.heights < DOWN_TO), 2 * max(2, round(ROUND * unit)))
    if not piece.alpha[window].size:
        return piece
    aside = body.laterals[window] * unit
    near = np.minimum(np.abs(aside + fit.neck[LEFT]), np.abs(aside - fit.neck[RIGHT])) < BESIDE_END * unit
    near &= body.heights[window] < DOWN_TO
    own = np.asarray(piece.alpha[window] > 0.5)
    if shoulders.stands:
        gone = own & _spikes(_filled(own), near, unit)
    else:
        gone = own & _standing_out(own, near, body, window, inside_seen=piece.behind is not None)
    if not gone.any():
        return piece
    # What shows a little cloth around a horn would be its outline.
    beside = dilated(gone, BESIDE_CUT)
    soft = cv2.GaussianBlur((own & ~gone).astype(np.float32), (0, 0), SOFT)
    kept = np.ones(body.shape, np.float32)
    kept[window] = np.where(beside, soft, np.float32(1.0))
    behind = None if piece.behind is None else piece.behind * kept
    return replace(piece, colour=piece.colour * kept[..., None], alpha=piece.alpha * kept, behind=behind)


def _standing_out(
    own: BoolMask, near: BoolMask, body: BodyModel, window: tuple[slice, slice], *, inside_seen: bool
) -> BoolMask:
    """What stands out at the ends of a flat collar.

    Args:
        own: ``(h, w)`` of a window, the cloth.
        near: Where the ends of the collar are.
        body: The body.
        window: Rows and columns of the photo.
        inside_seen: Whether the inside of the collar is: then it stands round the neck, and is as high there.
    """
    unit, person = body.shoulder_width, _person(body, window)
    gone = near & _corners(own | person, unit)
    # Before skin and hair no collar ends in a point; before the wall the neck may lie at one.
    before = eroded(body.matte[window] > 0.5, max(2, round(HORN * unit)))
    gone |= _spikes(_filled(own), near & before, unit)
    if not inside_seen:
        gone |= _spikes(own | person, near, unit)
    return gone


def _person(body: BodyModel, window: tuple[slice, slice]) -> BoolMask:
    """``(h, w)`` of a window: skin and old cloth, a cloth's thickness within the outline, without the head."""
    person = (body.matte[window] > 0.5) & ~labelled_as(body.labels[window], (Label.HAIR, Label.FACE))
    inner = eroded(person, max(1, round(CLOTH_THICKNESS * body.shoulder_width)))
    # A strip of wall beside the hair that is called neck is none.
    return opened(inner, max(2, round(HORN * body.shoulder_width)))


def _corners(whole: BoolMask, unit: float) -> BoolMask:
    """What stands out over a bend of the line over shoulder and neck."""
    # Cloth that meets the neck has no corner there, even where a thickness of it is between them.
    joined = closed(whole, max(1, round(2 * CLOTH_THICKNESS * unit)))
    # Between the inside of a collar and its front there is skin, seen or not.
    return np.asarray(whole & ~_opened_beyond(_filled(joined), max(2, round(ROUND * unit))))


def _spikes(standing: BoolMask, near: BoolMask, unit: float) -> BoolMask:
    """What stands up sharply near the ends of a collar."""
    radius = max(2, round(HORN * unit))
    low = _opened_beyond(standing, radius)
    return _deep(standing & ~low & near, low, DEPTH * radius)


def _filled(mask: BoolMask) -> BoolMask:
    """A mask with everything below it in its columns."""
    return np.asarray(np.logical_or.accumulate(mask, axis=0))


def _opened_beyond(whole: BoolMask, radius: int) -> BoolMask:
    """What a disc of some radius fits into; what is covered goes on beyond the sides."""
    return opened(np.pad(whole, radius, mode="edge"), radius)[radius:-radius, radius:-radius]


def _deep(parts: BoolMask, line: BoolMask, depth: float) -> BoolMask:
    """The parts that reach at least so far beyond a line."""
    numbered, count = ndimage.label(parts)
    if count == 0:
        return parts
    away = np.asarray(cv2.distanceTransform((~line).astype(np.uint8), cv2.DIST_L2, 5))
    every = np.arange(1, count + 1)
    return np.isin(numbered, every[np.asarray(ndimage.maximum(away, numbered, every)) >= depth])
