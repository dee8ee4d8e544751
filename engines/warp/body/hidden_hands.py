"""Arms whose hands the photo does not show: gloved, in long cuffs, or out of the frame."""

from __future__ import annotations

import numpy as np

from engines.base import Label, Mask
from engines.labels import labelled_as
from engines.warp.body.limbs import Limb, prolonged
from engines.warp.body.model import BodyModel
from engines.warp.body.sampling import values_around, values_at
from engines.warp.body.silhouette import towards

HAND_RADIUS = 0.22
"""How far around the wrist a hand is looked for, in shoulder widths."""

LEAST_HAND = 0.08
"""Share of skin around the wrist from which a hand is seen."""

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
    wrist, framed = values_at(body.labels, body.arms[side].points(np.ones(1, np.float32)))
    if not framed[0]:
        return True
    skin = labelled_as(around_wrist(body, side), (Label.HANDS, Label.ARMS)).mean()
    return bool(wrist[0] in CLOTHES and skin < LEAST_HAND)


def in_pocket(body: BodyModel, side: int) -> bool:
    """Whether a hidden hand is in a pocket: its wrist is in the photo, and trousers are around it.

    Args:
        body: The body.
        side: Picture side.
    """
    _, framed = values_at(body.labels, body.arms[side].points(np.ones(1, np.float32)))
    if not (framed[0] and hand_hidden(body, side)):
        return False
    return bool((around_wrist(body, side) == Label.LOWER).mean() > LEAST_POCKET)


def around_wrist(body: BodyModel, side: int) -> Mask:
    """The labels around a wrist, as far as they are in the photo, ``(n,)``.

    Args:
        body: The body.
        side: Picture side.
    """
    wrist = body.arms[side].points(np.ones(1, np.float32))[0]
    return values_around(body.labels, wrist, HAND_RADIUS * body.shoulder_width)


def sleeved_arm(arm: Limb, body: BodyModel) -> tuple[Limb, float]:
    """An arm whose hand is hidden, prolonged to where the old sleeve ends or out of the picture.

    Args:
        arm: The arm to prolong.
        body: The body.

    Returns:
        The arm, and the share at which the cuff of a long sleeve lies.
    """
    unit = body.shoulder_width
    wrist = arm.points(np.ones(1, np.float32))[0]
    way = towards(wrist - arm.points(np.array([0.95], np.float32))[0])
    steps = np.arange(0.0, HAND_LENGTH * unit, 1.0, dtype=np.float32)
    label, framed = values_at(body.labels, wrist + way * steps[:, None])
    clothed = labelled_as(label[framed], CLOTHES)
    if not framed.all() and (not framed.any() or clothed.mean() > MOSTLY):
        # The cuff lies so far out of the picture that no corner of it is seen.
        beyond = float(framed.sum()) + 0.2 * unit
    else:
        beyond = float(min(len(clothed) if clothed.all() else np.argmin(clothed), MOST_BEYOND * unit))
    end = 1.03 + beyond / max(arm.length, 1.0)
    return prolonged(arm, end + 0.1), end
