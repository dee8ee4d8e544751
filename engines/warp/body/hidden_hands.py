"""Arms whose hands the photo does not show: gloved, in long cuffs, or out of the frame."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.limbs import SAMPLES, Limb
from engines.warp.body.model import BodyModel
from engines.warp.body.silhouette import towards

HAND_RADIUS, LEAST_HAND = 0.22, 0.08
"""Around the wrist, in shoulder widths, at least this share of the pixels is skin where a hand is seen."""

LEAST_POCKET = 0.10
"""Share of trousers around the wrist from which a hidden hand is in a pocket; a glove has the sleeve around it."""

HAND_LENGTH = 0.45
"""From wrist to finger tips, in shoulder widths: an arm this near to the frame's edge leaves the picture."""

MOST_BEYOND = 0.20
"""How far a sleeve follows the old one beyond a wrist inside the frame, in shoulder widths."""

MOSTLY = 0.6
"""Share of the way from the wrist to the frame on which the old garment must lie for its sleeve to leave the picture;
a hand in a pocket is not on such a way."""

CLOTHES = (Label.UPPER, Label.FULL)


def hand_hidden(body: BodyModel, side: int) -> bool:
    """Whether an arm's wrist is under the old garment or out of the frame, and no hand is seen at it.

    Args:
        body: The body.
        side: Picture side.
    """
    height, width = body.shape
    wrist = body.arms[side].points(np.ones(1, np.float32))[0]
    column, row = (round(float(value)) for value in wrist)
    if not (0 <= column < width and 0 <= row < height):
        return True
    radius = HAND_RADIUS * body.shoulder_width
    top, left = max(row - int(radius) - 1, 0), max(column - int(radius) - 1, 0)
    around = body.labels[top : row + int(radius) + 2, left : column + int(radius) + 2]
    rows, columns = np.ogrid[top : top + around.shape[0], left : left + around.shape[1]]
    near = np.hypot(columns - wrist[0], rows - wrist[1]) < radius
    skin = labelled_as(around[near], (Label.HANDS, Label.ARMS)).mean()
    return bool(body.labels[row, column] in CLOTHES and skin < LEAST_HAND)


def in_pocket(body: BodyModel, side: int) -> bool:
    """Whether a hidden hand is in a pocket: its wrist is in the photo, and trousers are around it.

    Args:
        body: The body.
        side: Picture side.
    """
    height, width = body.shape
    x, y = (float(value) for value in body.arms[side].points(np.ones(1, np.float32))[0])
    if not (0 <= x < width and 0 <= y < height and hand_hidden(body, side)):
        return False
    rows, columns = np.ogrid[:height, :width]
    near = np.hypot(columns - x, rows - y) < HAND_RADIUS * body.shoulder_width
    return bool((body.labels[near] == Label.LOWER).mean() > LEAST_POCKET)


def sleeved_arm(arm: Limb, body: BodyModel) -> tuple[Limb, float]:
    """An arm whose hand is hidden, prolonged to where the old sleeve ends or out of the picture.

    Args:
        arm: The arm to prolong.
        body: The body.

    Returns:
        The arm, and the share at which the cuff of a long sleeve lies.
    """
    height, width = body.shape
    unit = body.shoulder_width
    wrist = arm.points(np.ones(1, np.float32))[0]
    way = towards(wrist - arm.points(np.array([0.95], np.float32))[0])
    steps = np.arange(0.0, HAND_LENGTH * unit, 1.0, dtype=np.float32)
    x, y = np.rint(wrist + way * steps[:, None]).astype(int).T
    framed = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    clothed = labelled_as(body.labels[y[framed], x[framed]], CLOTHES)
    if not framed.all() and (not framed.any() or clothed.mean() > MOSTLY):
        # The cuff lies so far out of the picture that no corner of it is seen.
        beyond = float(framed.sum()) + 0.2 * unit
    else:
        beyond = float(min(len(clothed) if clothed.all() else np.argmin(clothed), MOST_BEYOND * unit))
    end = 1.03 + beyond / max(arm.length, 1.0)
    return _prolonged(arm, end + 0.1), end


def _prolonged(arm: Limb, end: float) -> Limb:
    """The same arm with samples up to a share beyond those it has, straight on at the width of the wrist."""
    if end <= arm.shares[-1]:
        return arm
    shares = np.linspace(0.0, end, SAMPLES, dtype=np.float32)
    way = towards(arm.line[-1] - arm.line[-4])
    further = np.maximum(shares - arm.shares[-1], 0.0)[:, None] * arm.length
    return replace(
        arm,
        shares=shares,
        line=(arm.points(shares) + way * further).astype(np.float32),
        outward=arm.outwards(shares),
        outer=arm.outer_at(shares),
        inner=arm.inner_at(shares),
    )
