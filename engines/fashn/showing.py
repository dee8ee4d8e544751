"""Makes the person and one garment into the tensors that the network takes."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from engines.base import Category, Drafts, OnStep, Picture, ShouldStop
from engines.fashn.network import Conditions
from engines.fashn.poses.drawing import draw_pose, no_pose
from engines.fashn.poses.finder import PoseFinder
from engines.fashn.preprocess import Frame, as_tensor, fitted, on_grey, padded, padded_map
from engines.generative.painter import Reference

CLASSES = {Category.UPPER_BODY: 1, Category.LOWER_BODY: 2, Category.FULL_BODY: 3}
"""The network's classes: tops, bottoms, one-pieces."""


@dataclass(frozen=True)
class Shown:
    """One pass as the network takes it.

    Attributes:
        conditions: A batch of one on the CPU.
        place: Where the person's picture lies in the frame.
        seed: Of the noise.
        drafts: Keeps the picture while it is drawn, see `engines.base.RenderRequest`.
    """

    conditions: Conditions
    place: Frame
    seed: int
    drafts: Drafts | None = None


def shown(
    person: Picture,
    reference: Reference,
    seed: int,
    *,
    frame: tuple[int, int],
    poses: PoseFinder,
    on_step: OnStep,
    should_stop: ShouldStop,
) -> Shown:
    """Make the tensors of one pass.

    Args:
        person: ``(h, w, 3)``.
        reference: The garment; nobody is taken to wear it in its picture.
        seed: Of the noise.
        frame: Height and width of the network's pictures.
        poses: Finds the person.
        on_step: Told the stages of finding the pose.
        should_stop: Asked between them.

    Raises:
        EngineError: ``person_not_found``.
        RenderStopped: ``should_stop`` said so.
    """
    person = fitted(person, max(frame))
    pose = poses.find(person, on_step, should_stop)
    pose_map = padded_map(draw_pose(pose, *person.shape[:2]), frame)
    person_picture, place = padded(person, frame)
    garment_picture, _ = padded(fitted(garment_picture_of(reference), max(frame)), frame)
    conditions = Conditions(
        person=as_tensor(person_picture)[None],
        person_pose=as_tensor(pose_map)[None],
        garment=as_tensor(garment_picture)[None],
        garment_pose=as_tensor(no_pose(*frame))[None],
        category=torch.tensor([CLASSES[reference.garment.category]]),
    )
    return Shown(conditions, place, seed)


def garment_picture_of(reference: Reference) -> Picture:
    """The picture of the garment that the network is to see.

    A garment that lies or hangs alone is shown as it is, and from its back where that was asked for. One that was cut
    out of a photo of somebody is laid on grey.
    """
    if reference.back is not None:
        return reference.back
    return on_grey(reference.picture, reference.cover) if reference.was_worn else reference.picture
