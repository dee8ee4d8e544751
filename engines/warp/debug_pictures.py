"""Pictures of the engine's steps, for a person who looks for a fault. Nothing is computed from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label, PersonMap, Picture
from engines.garment.cloth import Cloth
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.ribbon import Drape

Observe: TypeAlias = Callable[[str, Callable[[], Picture]], None]
"""Told the name of a picture and how to draw it; draws it or not."""

LABEL_COLOURS = {
    Label.BACKGROUND: (40, 40, 40),
    Label.HAIR: (120, 70, 20),
    Label.FACE: (255, 200, 170),
    Label.NECK: (230, 160, 130),
    Label.TORSO_SKIN: (255, 140, 120),
    Label.ARMS: (250, 180, 60),
    Label.HANDS: (255, 240, 80),
    Label.UPPER: (60, 120, 255),
    Label.LOWER: (40, 180, 90),
    Label.FULL: (170, 80, 220),
    Label.LEGS: (200, 120, 90),
    Label.FEET: (120, 220, 220),
    Label.OTHER: (255, 60, 160),
}
"""One for each label, bright enough to be told apart over a photo."""

MESH_COLOURS = ((255, 60, 60), (60, 200, 255), (255, 220, 40), (120, 255, 120), (230, 120, 255))
CHECKER_PIXELS = 16
LABEL_OPACITY = 0.55


def look_away(_name: str, _draw: Callable[[], Picture]) -> None:
    """The observer that looks at nothing."""


def picture_of_map(photo: NDArray[np.float32], person_map: PersonMap) -> Picture:
    """The labels, each in its colour, over the photo in grey."""
    colours = np.zeros((max(Label) + 1, 3), np.float32)
    for label, colour in LABEL_COLOURS.items():
        colours[label] = colour
    grey = photo.mean(axis=2, keepdims=True) * 255.0
    return _bytes(grey * (1.0 - LABEL_OPACITY) + colours[person_map.labels] * LABEL_OPACITY)


def picture_of_body(photo: NDArray[np.float32], body: BodyModel) -> Picture:
    """Joints, bones and shoulder line as the engine understood them."""
    picture = _bytes(photo * 160.0)
    bone = body.skeleton
    for side in SIDES:
        arm = [bone.shoulder[side], bone.elbow[side], bone.wrist[side]]
        leg = [bone.hip[side], bone.knee[side], bone.ankle[side]]
        for chain, colour in ((arm, (255, 220, 40)), (leg, (120, 255, 120))):
            points = np.rint(np.stack(chain)).astype(np.int32)
            cv2.polylines(picture, [points[:, None]], isClosed=False, color=colour, thickness=2, lineType=cv2.LINE_AA)
            for point in points:
                cv2.circle(picture, (int(point[0]), int(point[1])), 4, (255, 60, 60), -1, cv2.LINE_AA)
    return picture


def picture_of_cloth(cloth: Cloth) -> Picture:
    """The garment without its ground, on a chequered one."""
    return _bytes(_on_checkers(cloth.colour * cloth.alpha[..., None], cloth.alpha) * 255.0)


def picture_of_drape(drape: Drape) -> Picture:
    """The pieces alone, as they lie on the body."""
    colour, alpha = np.zeros_like(drape.pieces[0].colour), np.zeros_like(drape.pieces[0].alpha)
    for piece in drape.pieces:
        colour = colour * (1.0 - piece.alpha[..., None]) + piece.colour
        alpha = alpha * (1.0 - piece.alpha) + piece.alpha
    return _bytes(_on_checkers(colour, alpha) * 255.0)


def picture_of_mesh(photo: NDArray[np.float32], drape: Drape) -> Picture:
    """The grids between whose points the cloth was stretched."""
    picture = _bytes(photo * 140.0)
    for number, piece in enumerate(drape.pieces):
        if not piece.mesh.size:
            continue
        grid = np.rint(piece.mesh).astype(np.int32)
        lines = [row[:, None] for row in grid] + [column[:, None] for column in grid.transpose(1, 0, 2)]
        cv2.polylines(picture, lines, isClosed=False, color=MESH_COLOURS[number % len(MESH_COLOURS)], thickness=1)
    return picture


def picture_of_colours(colours: NDArray[np.float32]) -> Picture:
    """``(h, w, 3)`` float32, 0 to 1, as it is."""
    return _bytes(colours * 255.0)


def _on_checkers(premultiplied: NDArray[np.float32], alpha: NDArray[np.float32]) -> NDArray[np.float32]:
    rows, columns = np.indices(alpha.shape) // CHECKER_PIXELS
    checkers = np.where((rows + columns) % 2 == 0, 0.75, 0.9).astype(np.float32)[..., None]
    return premultiplied + checkers * (1.0 - alpha[..., None])


def _bytes(values: NDArray[np.float32]) -> Picture:
    return np.ascontiguousarray(np.rint(values).clip(0, 255).astype(np.uint8))
