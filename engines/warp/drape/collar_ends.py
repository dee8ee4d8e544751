"""Both ends of a flat collar lie on the shoulders: they do not stand up over them like horns."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from scipy import ndimage

from engines.garment.regions import BoolMask, dilated, eroded, opened, window_of
from engines.garment.upper_landmarks import UpperLandmarks
from engines.warp.body.bare_parts import CLOTH_THICKNESS
from engines.warp.body.model import LEFT, RIGHT, BodyModel
from engines.warp.drape.fit import Fit, is_strap
from engines.warp.pieces import Piece

HORN, DEPTH = 0.03, 0.6
"""Radius of the smallest part of the line over shoulder and neck that may stand out, in shoulder widths, and how far a
horn does at least, in such radii: a right angle, which many a neckband ends in, does by 0.4."""

SOFT = 1.0
"""Blur of the cut, pixels (standard deviation)."""

BESIDE_END, DOWN_TO = 0.10, 0.10
"""How far from the collar's end that is asked, in shoulder widths, and down to which height, in torso lengths."""

FLAT = 0.02
"""Rise of a collar over the shoulder up to which it lies flat, in widths of the neck: leaves and stands are higher."""


def laid_on_shoulders(piece: Piece, marks: UpperLandmarks, body: BodyModel, fit: Fit) -> Piece:
    """The torso of a garment without what stands up at the ends of its flat collar.

    On a table the ends of a neckband are its highest points; on a body it goes on over the shoulder from there.

    Args:
        piece: The torso, with the inside of its collar where that is seen.
        marks: Landmarks of the garment.
        body: The body.
        fit: Where the collar's feet lie.
    """
    shoulders, unit = marks.shoulders, body.shoulder_width
    rise = float(shoulders.neck_foot[1] - shoulders.neck_top[1])
    # A collar whose inside is seen stands round the neck, and is as high there.
    if piece.behind is not None or shoulders.hood or is_strap(marks) or rise > FLAT * 2 * float(shoulders.neck_top[0]):
        return piece
    radius = max(2, round(HORN * unit))
    window = window_of((piece.alpha > 0) & (body.heights < DOWN_TO), 2 * radius)
    if not piece.alpha[window].size:
        return piece
    aside = body.laterals[window] * unit
    near = np.minimum(np.abs(aside + fit.neck[LEFT]), np.abs(aside - fit.neck[RIGHT])) < BESIDE_END * unit
    near &= body.heights[window] < DOWN_TO
    # Where the person stands as high already, in skin or in cloth, nothing stands out.
    below = eroded(body.matte[window] > 0.5, max(1, round(CLOTH_THICKNESS * unit)))
    # What is covered goes on beyond the window's sides.
    whole = np.asarray((piece.alpha[window] > 0.5) | below)
    round_line = opened(np.pad(whole, radius, mode="edge"), radius)[radius:-radius, radius:-radius]
    horns = _deep(whole & ~round_line & near, round_line, DEPTH * radius)
    if not horns.any():
        return piece
    gone = cv2.GaussianBlur(dilated(horns, 1).astype(np.float32), (0, 0), SOFT)
    kept = np.where(round_line, np.float32(1.0), 1.0 - gone)
    colour, alpha = piece.colour.copy(), piece.alpha.copy()
    colour[window] *= kept[..., None]
    alpha[window] *= kept
    return replace(piece, colour=colour, alpha=alpha)


def _deep(parts: BoolMask, line: BoolMask, depth: float) -> BoolMask:
    """The parts that reach at least so far beyond a line."""
    numbered, count = ndimage.label(parts)
    if count == 0:
        return parts
    away = np.asarray(cv2.distanceTransform((~line).astype(np.uint8), cv2.DIST_L2, 5))
    every = np.arange(1, count + 1)
    return np.isin(numbered, every[np.asarray(ndimage.maximum(away, numbered, every)) >= depth])
