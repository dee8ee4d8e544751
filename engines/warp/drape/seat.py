"""Who sits: on a lap a skirt lies in another form than the one that hangs in its picture."""

from __future__ import annotations

from engines.base import EngineError
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.skeleton import SEEN

LEAST_DROP = 0.50
"""How far every knee is below its hip, in torso lengths, on somebody who stands or walks: 0.69 to 0.97 in photos, 0.13
on somebody who sits. Knees that are not seen say nothing."""


def is_seated(body: BodyModel) -> bool:
    """Whether a thigh is raised, sideways or towards the camera."""
    bone = body.skeleton
    least = LEAST_DROP * body.torso_length
    return any(bone.knee_seen[side] >= SEEN and float((bone.knee[side] - bone.hip[side])[1]) < least for side in SIDES)


def refuse_lap(body: BodyModel) -> None:
    """Refuse to hang a skirt on somebody who sits.

    Raises:
        EngineError: ``pose_not_usable``.
    """
    if is_seated(body):
        raise EngineError("pose_not_usable", "For a dress or a skirt, use a photo of the person standing upright.")
