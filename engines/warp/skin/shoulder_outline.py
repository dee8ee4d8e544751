"""The outline of bare shoulders: one curve from the neck over the slope and the round of the shoulder down the arm."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.garment.regions import BoolMask, closed, dilated, eroded, opened, window_of
from engines.labels import labelled_as
from engines.warp.body.bare_parts import CLOTH_THICKNESS
from engines.warp.body.model import NECK_RISE, BodyModel
from engines.warp.body.silhouette import ease
from engines.warp.skin.tone import SKIN_LABELS

NOTCH = 0.14
"""Radius of the rounding between neck and shoulder, in shoulder widths."""

MOST_RAISED, WITHIN_SHOULDERS = 0.08, 0.50
"""How far skin is raised to the cloth on the shoulders at most, and how far beside the axis, in shoulder widths."""

NECK_HEIGHT, RAISED_HEIGHT = 2.2, 1.2
"""Up to where the line from the shoulder runs up the neck, and up to where cloth lies on it, in rises of the neck's
foot; further up, a collar stands off the neck."""

HORN, HORNS_ABOVE = 0.08, 0.02
"""Radius of the smallest part of the shoulder line that stands out, in shoulder widths, and the height above which
that is asked, in torso lengths."""

CURVE, CURVED_UNTIL, ROUND_UNTIL, NOT_CURVED = 0.045, 0.60, 0.25, 0.42
"""Standard deviation with which the outline is made one curve, in shoulder widths, down to which height on the outer
side of the arms, and between arm and chest down to which wholly and from which on not at all, in torso lengths."""

CHEST_UNTIL, ARM_FROM = 0.25, 0.45
"""How far beside the axis a chest reaches at least, and an arm's inner side at most, in shoulder widths."""

RIM = 0.01
"""Width of the rim of seen skin whose outline may be another one, in shoulder widths."""

REDUCED = 2
"""Factor by which the outline is curved smaller."""


def one_shoulder_line(cover: BoolMask, body: BodyModel) -> BoolMask:
    """The cover without the notch between the slope beside the neck and the round of the shoulder.

    What lies on a shoulder lies on skin: where its upper edge is a little above the usual one, skin reaches up to it.

    Args:
        cover: ``(height, width)``, where skin is wanted.
        body: The body in the photo.
    """
    unit = body.shoulder_width
    top = -NECK_HEIGHT * NECK_RISE * unit / body.torso_length
    shoulders = (body.heights < 0.12) & (body.heights > top)
    worn = eroded(labelled_as(body.labels, (Label.UPPER, Label.FULL)), max(1, round(CLOTH_THICKNESS * unit)))
    worn &= body.heights > -RAISED_HEIGHT * NECK_RISE * unit / body.torso_length
    worn &= dilated(cover, max(2, round(MOST_RAISED * unit))) & (np.abs(body.laterals) < WITHIN_SHOULDERS)
    seen = labelled_as(body.labels, SKIN_LABELS)
    if not shoulders.any():
        return cover
    # A large disc is slow: only what can reach the shoulders is looked at.
    radius = max(2, round(NOTCH * unit))
    near = window_of(shoulders, 2 * radius)
    filled = (cover | seen)[near]
    filled |= closed(filled | (worn & shoulders)[near], radius) & shoulders[near]
    # A collar that stood off the neck leaves no horns beside it.
    whole = opened(filled, max(2, round(HORN * unit))) | seen[near] | (body.heights[near] > HORNS_ABOVE)
    line = cover.copy()
    line[near] = filled & whole & (cover[near] | shoulders[near])
    return line


def curved(cover: BoolMask, body: BodyModel) -> BoolMask:
    """The cover of bare shoulders and upper arms, whose parts meet in corners and dents, within one smooth outline.

    The outline of what is invented runs into that of the skin that is seen.

    Args:
        cover: ``(height, width)``, where skin is wanted, with both upper arms whole.
        body: The body in the photo.
    """
    unit = body.shoulder_width
    top = -NECK_HEIGHT * NECK_RISE * unit / body.torso_length
    aside = np.abs(body.laterals)
    asked = (body.heights > top) & (body.heights < CURVED_UNTIL)
    asked &= (body.heights < HORNS_ABOVE) | (aside > CHEST_UNTIL)
    asked &= (body.heights < ROUND_UNTIL) | (aside > ARM_FROM)
    if not (asked & cover).any():
        return cover
    window = window_of(asked & cover, round(3 * CURVE * unit))
    seen = labelled_as(body.labels[window], SKIN_LABELS)
    whole = (cover[window] | seen).astype(np.float32)
    size = (max(4, whole.shape[1] // REDUCED), max(4, whole.shape[0] // REDUCED))
    small = cv2.resize(whole, size, interpolation=cv2.INTER_AREA)
    soft = cv2.GaussianBlur(small, (0, 0), max(CURVE * unit / REDUCED, 1.0), borderType=cv2.BORDER_REPLICATE)
    soft = np.asarray(cv2.resize(soft, (whole.shape[1], whole.shape[0]), interpolation=cv2.INTER_LINEAR), np.float32)
    line = cover.copy()
    # Where a cuff was, the outermost pixels of what is called skin are as often its lining.
    kept = eroded(seen, max(1, round(RIM * unit)))
    # In the gap between arm and body the curve is lost downwards: that one runs on to a point, and is no dent.
    sure = ease((body.heights[window] - ROUND_UNTIL) / (NOT_CURVED - ROUND_UNTIL))
    filled = soft > 0.5 + 0.5 * sure * _before_arms(cover[window], body.laterals[window])
    line[window] = np.where(asked[window] & ~kept, filled, cover[window])
    return line


def _before_arms(cover: BoolMask, laterals: NDArray[np.float32]) -> BoolMask:
    """What lies open between the axis and an arm, ``(h, w)``."""
    right = laterals >= 0.0
    beyond = np.logical_or.accumulate((cover & right)[:, ::-1], axis=1)[:, ::-1] & right
    beyond |= np.logical_or.accumulate(cover & ~right, axis=1) & ~right
    return beyond & ~cover
