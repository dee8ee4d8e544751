"""Bounds beyond which no honest picture can be made, and the advice for each."""

from __future__ import annotations

import numpy as np

from engines.base import Category, EngineError, Label, Landmark, PersonMap
from engines.regions import labelled_as
from engines.warp.body.bare_parts import in_pocket
from engines.warp.body.model import LEFT, RIGHT, BodyModel
from engines.warp.plate.other_garment import LOWEST
from engines.warp.ribbon import Drape

LEAST_SHOULDER_VISIBILITY = 0.3
"""Both shoulders must be at least this sure."""

LEAST_FRONTALITY = 0.30
"""Distance of the shoulder joints over torso length; a profile has nearly none."""

MOST_LEAN = 0.75
"""Sine of the angle between spine and upright from which a person counts as lying."""

LEAST_TORSO_SHOWN = 0.6
"""How far down the photo has to reach for a top: 0 is the shoulders, 1 the hips."""

LEAST_LEGS_SHOWN = 1.25
"""The same for what is worn on the legs alone; of a dress the upper part says enough."""

LEAST_SOLID = 0.6
"""Share of the middle of the torso that must be person; less means that joints and outline are not of one body."""

MOST_CLOTH_BORDER = 4.0
"""Longest border between top and bottom, in shoulder widths. Hems have 0.1 to 2.2. An open jacket in the colour of the
shorts below it had 8.0: the labels mixed the two."""

LONG_SLEEVE = 0.85
"""Share of the arm at which a sleeve ends at least where the hand is in a pocket: no arm without a hand is drawn."""

OPENING = 0.18
"""Half width of the strip that a top worn open leaves uncovered, in shoulder widths."""

MOST_LEFT_OPEN = 0.1
"""Area below which nothing is continued, in squared shoulder widths, that an old top or coat leaves open where it hung
over the legs: a corner of a shirt is less. What a coat hid there nobody knows."""

BESIDE_LEGS = 0.6
"""How far from the axis that area reaches, in shoulder widths; sleeves hang further out."""

LEAST_COVER = 0.55
"""Share of the chest that a top or dress must cover; less means that the landmarks were misread."""


def check_pose(person_map: PersonMap, body: BodyModel) -> dict[str, float]:
    """Refuse photos that do not show the person from the front, or in which the old clothes cannot be told apart.

    Returns:
        What was measured.

    Raises:
        EngineError: ``pose_not_usable``.
    """
    bone, labels = body.skeleton, body.labels
    middle = (body.heights > 0.1) & (body.heights < 0.9) & (np.abs(body.laterals) < 0.2)
    cloth, top = labelled_as(labels, (Label.UPPER, Label.LOWER)), labels == Label.UPPER
    pairs = ((np.s_[1:], np.s_[:-1]), (np.s_[:, 1:], np.s_[:, :-1]))
    border = sum(int(((top[one] != top[other]) & cloth[one] & cloth[other]).sum()) for one, other in pairs)
    apart = float(np.linalg.norm(bone.shoulder[RIGHT] - bone.shoulder[LEFT]))
    figures = {
        "pose_score": person_map.score,
        "shoulders_seen": float(person_map.landmarks[[Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER], 3].min()),
        "frontality": apart / body.torso_length,
        "lean": abs(float(bone.down[0])),
        "torso_shown": shown_down_to(body),
        "torso_solid": float((body.matte[middle] > 0.5).mean()) if middle.any() else 0.0,
        "cloth_border": border / body.shoulder_width,
    }
    if figures["shoulders_seen"] < LEAST_SHOULDER_VISIBILITY:
        raise EngineError("pose_not_usable", advice="Both shoulders must be seen: show yourself from head to hips.")
    if figures["frontality"] < LEAST_FRONTALITY:
        raise EngineError("pose_not_usable", advice="Turn towards the camera, so that both shoulders face it.")
    if figures["lean"] > MOST_LEAN or float(bone.down[1]) < 0:
        raise EngineError("pose_not_usable", advice="Stand or sit upright, and hold the photo the right way up.")
    if figures["torso_shown"] < LEAST_TORSO_SHOWN:
        raise EngineError("pose_not_usable", advice="Show yourself from head to hips.")
    if figures["torso_solid"] < LEAST_SOLID:
        raise EngineError(
            "pose_not_usable", advice="Stand facing the camera, with nothing in front of you, against a plain wall."
        )
    if figures["cloth_border"] > MOST_CLOTH_BORDER:
        raise EngineError(
            "pose_not_usable", advice="Take off an open jacket or coat, and let your top end in one line at the waist."
        )
    return figures


def check_drape(drape: Drape, body: BodyModel, category: Category) -> dict[str, float]:
    """Measure how well a garment covers what it should.

    Raises:
        EngineError: ``pose_not_usable`` when the photo ends above what is worn there, ``garment_not_recognised`` when
            the garment does not lie where such a garment lies.
    """
    if category is Category.LOWER_BODY:
        if shown_down_to(body) < LEAST_LEGS_SHOWN:
            raise EngineError("pose_not_usable", advice="Show yourself from head to feet, or to the knees at least.")
        return {}
    # Over the legs the old top hung, and the new one does not.
    hung = (body.labels == Label.UPPER) & (body.heights > LOWEST) & (np.abs(body.laterals) < BESIDE_LEGS)
    upper = category is Category.UPPER_BODY
    left_open = float((hung & (drape.alpha < 0.5)).sum()) / body.shoulder_width**2 if upper else 0.0
    if left_open > MOST_LEFT_OPEN:
        raise EngineError(
            "pose_not_usable", advice="Take off the long coat or top: nobody sees what you wear below it."
        )
    for side, name in ((LEFT, "left"), (RIGHT, "right")):
        if drape.checks.get(f"{name}_sleeve_end", 0.0) < LONG_SLEEVE and in_pocket(body, side):
            raise EngineError(
                "pose_not_usable", advice="Take your hands out of your pockets: this garment shows your arms."
            )
    chest = (body.heights > 0.35) & (body.heights < 0.6) & (np.abs(body.laterals) < 0.25) & (body.matte > 0.5)
    if drape.checks.get("open"):
        chest &= np.abs(body.laterals) > OPENING
    if not chest.any():
        return {"left_open": left_open}
    cover = float((drape.alpha[chest] > 0.9).mean())
    if cover < LEAST_COVER:
        raise EngineError(
            "garment_not_recognised",
            advice="Use a picture of the whole garment from the front, alone on a plain background.",
        )
    return {"chest_cover": cover, "left_open": left_open}


def shown_down_to(body: BodyModel) -> float:
    """Where the spine leaves the photo: 0 at the shoulders, 1 at the hips."""
    bone = body.skeleton
    rows = body.shape[0] - 1 - float(bone.shoulders[1])
    return rows / max(float(bone.down[1]) * body.torso_length, 1.0)
