"""Who sits: on a lap a skirt lies in another form than the one that hangs in its picture."""

from __future__ import annotations

from engines.base import EngineError
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.body.skeleton import SEEN

LEAST_DROP = 0.50
"""How far every knee is below its hip, in torso lengths, on somebody who stands or walks: 0.69 to 0.97 in photos, 0.13
on somebody who sits. Knees that are not seen, or lie outside the photo, say nothing."""


def is_seated(body: BodyModel) -> bool:
    """Whether a thigh is raised, sideways or towards the camera."""
    bone = body.skeleton
    for side in SIDES:
        x, y = (float(value) for value in bone.knee[side])
        in_photo = 0 <= x < body.shape[1] and 0 <= y < body.shape[0]
        raised = y - float(bone.hip[side][1]) < LEAST_DROP * body.torso_length
        if in_photo and raised and bone.knee_seen[side] >= SEEN:
            return True
    return False


def refuse_lap(body: BodyModel) -> None:
    """Refuse to hang a skirt on somebody who sits.

    Raises:
        EngineError: ``pose_not_usable``.
    """
    if is_seated(body):
        raise EngineError(
            "pose_not_usable", advice="For a dress or a skirt, use a photo of the person standing upright."
        )
