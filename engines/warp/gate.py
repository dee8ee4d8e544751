"""Bounds beyond which no honest picture can be made."""

from __future__ import annotations

import numpy as np

from engines.base import Category, EngineError, Landmark, PersonMap
from engines.warp.body.model import LEFT, RIGHT, BodyModel
from engines.warp.pieces import Drape

LEAST_SHOULDER_VISIBILITY = 0.3
"""Both shoulders must be at least this sure."""

LEAST_FRONTALITY = 0.30
"""Distance of the shoulder joints over torso length; a profile has nearly none."""

MOST_LEAN = 0.75
"""Sine of the angle between spine and upright from which a person counts as lying."""

LEAST_COVER = 0.55
"""Share of the chest that a top or dress must cover; less means that the landmarks were misread."""


def check_pose(person_map: PersonMap, body: BodyModel) -> None:
    """Refuse poses that clothes cut for a front view cannot be laid on.

    Raises:
        EngineError: ``pose_not_usable``.
    """
    bone = body.skeleton
    seen = person_map.landmarks[[Landmark.LEFT_SHOULDER, Landmark.RIGHT_SHOULDER], 3]
    if float(seen.min()) < LEAST_SHOULDER_VISIBILITY:
        raise EngineError("pose_not_usable", "Both shoulders have to be seen.")
    apart = float(np.linalg.norm(bone.shoulder[RIGHT] - bone.shoulder[LEFT]))
    if apart < LEAST_FRONTALITY * bone.torso_length:
        raise EngineError("pose_not_usable", "The person is turned too far away from the camera.")
    if abs(float(bone.down[0])) > MOST_LEAN or float(bone.down[1]) < 0:
        raise EngineError("pose_not_usable", "The person has to stand or sit upright.")


def check_drape(drape: Drape, body: BodyModel, category: Category) -> dict[str, float]:
    """Measure how well a garment covers what it should.

    Raises:
        EngineError: ``garment_not_recognised`` when it does not lie where such a garment lies.
    """
    if category is Category.LOWER_BODY:
        return {}
    chest = (body.heights > 0.35) & (body.heights < 0.6) & (np.abs(body.laterals) < 0.25) & (body.matte > 0.5)
    if not chest.any():
        return {}
    cover = float((drape.alpha[chest] > 0.9).mean())
    if cover < LEAST_COVER:
        raise EngineError("garment_not_recognised", "The garment could not be laid on the chest.")
    return {"chest_cover": cover}
