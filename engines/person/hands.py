"""Hands and forearms cut out of what lies beside them: cloth by its colours, bare thighs by the edge between the two.

The colour models of the whole person know skin from cloth by its usual light. A hand lies in its own shadow, and the
shadow of a hand on khaki is nearer to skin than to khaki in the sun. Around one hand there are few colours, so that a
cut along the strongest edge between them finds the fingers: Rother, Kolmogorov and Blake, "GrabCut", ACM TOG 2004.
A thigh has the hand's colours. There the two grow towards each other over what is even and meet at the edge of light:
Meyer, "Color image segmentation", ICIP 1992.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label, Mask
from engines.person.body import Body, Limb
from engines.person.colour_models import Region
from engines.person.naming import LOWER, SKIN, UPPER
from engines.person.networks import Floats

_FROM = 1.15
"""Where the window begins, on `engines.person.body.Limb.position`: the elbow is 1, the wrist 2."""

_REACH = 1.9
"""How far from the bones fingers may be, on `engines.person.body.Limb.offset`."""

_SLIM = 1.5
"""The same of what counts as the arm's skin before the cut; bare legs beside it are left as they are."""

_AWAY = 0.16
"""Cloth that far from any skin, in shoulder widths, is sure."""

_DEEP, _LIKE = 0.06, (8.0, 9.0)
"""Distance from the edge, in shoulder widths, and from the middle colour, in a and b, of skin that is sure."""

_LEAST_SKIN, _LEAST_CLOTH = 0.004, 0.01
"""Sure skin and cloth that it takes to learn their colours, in squared shoulder widths."""

_LEAST_KEPT, _MOST_GAINED = 0.5, 1.7
"""Bounds of the new area over the old one; beyond them the cut has found something else than a hand."""

_LIGHTNESS_SAY, _CHROMA_SAY = 1.0, 3.0
"""Scales of L, and of a and b, in the cut: shade changes lightness more than it changes hue."""

_RIM = 3
"""Pixels of the working copy that are partly wall."""

_LARGE = 36_000
"""Pixels of a window above which the cut is made at half its size: it takes a microsecond per pixel."""

_ROUNDS = 1
"""How often colours and outline are found from each other."""

_OF_HAND, _OF_THIGH = 0.6, 1.9
"""Below and beyond, on `engines.person.body.Limb.offset`: skin that is surely the hand's, and surely a leg's."""

_BESIDE = 2.4
"""How far from the hand's bones the two are divided."""

_THREAD = 0.025
"""Thinner than a finger, in shoulder widths."""


def cut_out(owners: Mask, lab: Floats, body: Body) -> tuple[Mask, Region]:
    """Find the outline of both hands again.

    Args:
        owners: ``(height, width)`` of `engines.person.naming` materials, 0 for the ground.
        lab: ``(height, width, 3)`` CIELAB.
        body: The person's frame of reference.

    Returns:
        The materials with skin and cloth divided anew around the hands, and ``(height, width)`` bool, the hands and
        forearms that were found.
    """
    owners, found = owners.copy(), np.zeros(owners.shape, dtype=np.bool_)
    for limb in body.arms:
        window = _window((limb.offset < _REACH) & (limb.position > _FROM))
        if min(owners[window].shape) > 1:
            _cut(owners[window], found[window], lab[window], _part(limb, window), body.breadth)
    return owners, found


def thighs_beside(labels: Mask, lab: Floats, body: Body) -> Region:
    """``(height, width)`` bool: bare legs that were named hands because they lie next to one.

    Args:
        labels: ``(height, width)`` of `engines.base.Label`.
        lab: ``(height, width, 3)`` CIELAB.
        body: The person's frame of reference.
    """
    thighs = np.zeros(labels.shape, np.bool_)
    for limb in body.arms:
        window = _window((limb.offset < _BESIDE) & (limb.position > 2.0))
        hand, leg = labels[window] == Label.HANDS, labels[window] == Label.LEGS
        away = body.arm.offset[window]  # from either arm: hands may be folded
        sure_hand = hand & (away < _OF_HAND) & (body.arm.position[window] < 3.0)
        sure_leg = leg & (away > _OF_THIGH)
        if sure_hand.any() and sure_leg.any():
            marks = np.where(hand | leg, 0, 3).astype(np.int32)
            marks[sure_hand], marks[sure_leg] = 1, 2
            nothing = np.zeros(hand.shape, np.bool_)
            others = hand & (cv2.watershed(_painted(lab[window], nothing, leg), marks) == 2)
            if others.any():
                others |= _threads(hand & ~others, _grown(others, _RIM), _THREAD * body.breadth)
                thighs[window] |= hand & ~_hanging_on(hand & ~others, sure_hand)
    return thighs


def _threads(hand: Region, beside: Region, width: float) -> Region:
    """What is thinner than any finger: the dark line under a hem, over which the hand grew in between."""
    core = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * round(width / 2) + 1,) * 2)
    return np.asarray(hand & beside & (cv2.morphologyEx(hand.astype(np.uint8), cv2.MORPH_OPEN, core) == 0), np.bool_)


def _window(near: Region) -> tuple[slice, slice]:
    left, top, across, down = cv2.boundingRect(near.astype(np.uint8))
    return np.s_[top : top + down, left : left + across]


def _part(limb: Limb, window: tuple[slice, slice]) -> Limb:
    return Limb(limb.offset[window], limb.position[window], limb.visible)


def _cut(owners: Mask, found: Region, lab: Floats, limb: Limb, unit: float) -> None:
    """Divide one window anew, in place."""
    skin = (owners == SKIN) & (limb.offset < _SLIM) & (limb.position > _FROM)
    cloth = (owners == UPPER) | (owners == LOWER)
    far = cloth & (_distance(~skin) > _AWAY * unit)
    core = _core(skin, lab, unit)
    if min(core.sum() / _LEAST_SKIN, far.sum() / _LEAST_CLOTH) < unit**2:
        return
    doubtful = (skin | cloth) & ~far & (limb.offset < _REACH) & (limb.position > _FROM)
    # Bare legs beside a hand must not teach what cloth looks like.
    picture = _painted(lab, ~(skin | cloth | (owners == 0)), cloth)
    within = _hanging_on(_divided(picture, core, skin, doubtful) & doubtful, core)
    # Along the wall there is no cloth to be found; the cut leaves a rim there, of pixels that are half wall.
    within |= skin & _grown(owners == 0, _RIM) & _grown(within, _RIM)
    if not _LEAST_KEPT < within.sum() / skin.sum() < _MOST_GAINED:
        return
    elsewhere = (owners == SKIN) & (limb.offset >= _SLIM)
    # Skin that goes on to where no arm is, is a belly or a thigh.
    lost = skin & ~within & ~_hanging_on((skin & ~within) | elsewhere, elsewhere)
    if lost.any():
        owners[lost] = _nearest(owners, cloth)[lost]
    owners[within] = SKIN
    found |= within


def _grown(region: Region, radius: int) -> Region:
    return cv2.dilate(region.astype(np.uint8), np.ones((2 * radius + 1, 2 * radius + 1), np.uint8)) > 0


def _core(skin: Region, lab: Floats, unit: float) -> Region:
    """Skin far from its edge, of the middle colour."""
    deep = skin & (_distance(skin) > _DEEP * unit)
    if not deep.any():
        return deep
    off = np.abs(lab[..., 1:] - np.median(lab[deep][:, 1:], axis=0))
    return np.asarray(deep & (off[..., 0] < _LIKE[0]) & (off[..., 1] < _LIKE[1]), dtype=np.bool_)


def _painted(lab: Floats, others: Region, cloth: Region) -> Mask:
    """``(height, width, 3)``: the colours on the cut's scales, with ``others`` in the colour of the cloth."""
    colours = np.empty(lab.shape, np.float32)
    colours[..., 0] = lab[..., 0] * _LIGHTNESS_SAY
    colours[..., 1:] = lab[..., 1:] * _CHROMA_SAY + np.float32(100.0)
    colours[others] = np.median(colours[cloth], axis=0)
    return np.clip(colours, 0.0, 255.0).astype(np.uint8)


def _divided(picture: Mask, core: Region, skin: Region, doubtful: Region) -> Region:
    """What belongs to the core: within ``doubtful`` it is found out, beginning with ``skin``."""
    marks = np.where(doubtful, np.where(skin, cv2.GC_PR_FGD, cv2.GC_PR_BGD), cv2.GC_BGD).astype(np.uint8)
    marks[core] = cv2.GC_FGD
    height, width = marks.shape
    if marks.size > _LARGE:
        size = (width // 2, height // 2)
        picture = np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
        marks = np.asarray(cv2.resize(marks, size, interpolation=cv2.INTER_NEAREST), dtype=np.uint8)
    cv2.setRNGSeed(0)  # the same hand is cut the same way every time
    models = np.zeros((1, 65)), np.zeros((1, 65))
    cv2.grabCut(picture, marks, (0, 0, 1, 1), *models, _ROUNDS, cv2.GC_INIT_WITH_MASK)
    within = ((marks == cv2.GC_FGD) | (marks == cv2.GC_PR_FGD)).astype(np.float32)
    return np.asarray(cv2.resize(within, (width, height), interpolation=cv2.INTER_LINEAR) > 0.5, dtype=np.bool_)


def _hanging_on(within: Region, core: Region) -> Region:
    """The parts that reach a place which is sure."""
    _, parts = cv2.connectedComponents(within.astype(np.uint8), connectivity=4)
    sure = np.zeros(int(parts.max()) + 1, np.bool_)
    sure[parts[core]] = True
    sure[0] = False
    return np.asarray(sure[parts], dtype=np.bool_)


def _nearest(owners: Mask, cloth: Region) -> Mask:
    """At every pixel the material of the nearest piece of cloth."""
    source = (~cloth).astype(np.uint8)
    _, nearest = cv2.distanceTransformWithLabels(source, cv2.DIST_L2, 3, labelType=cv2.DIST_LABEL_PIXEL)
    lookup = np.zeros(int(nearest.max()) + 1, np.uint8)
    lookup[nearest[cloth]] = owners[cloth]
    return np.asarray(lookup[nearest], dtype=np.uint8)


def _distance(inside: Region) -> NDArray[np.float32]:
    return np.asarray(cv2.distanceTransform(inside.astype(np.uint8), cv2.DIST_L2, 3), dtype=np.float32)
