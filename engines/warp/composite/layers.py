"""The new garment and the arms, as they lie on one another."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engines.base import PersonMap
from engines.garment.regions import BoolMask
from engines.warp.body.model import LEFT, RIGHT, BodyModel
from engines.warp.composite.arms import (
    ArmPlace,
    arm_places,
    arms_in_front,
    forearms_before,
    under_cuffs,
)
from engines.warp.composite.shading import exposure
from engines.warp.pieces import Drape, Piece
from engines.warp.plate.plate import Plate

SIDE_NAMES = {LEFT: "left", RIGHT: "right"}


@dataclass(frozen=True)
class Scene:
    """Everything the compositor looks at.

    Attributes:
        photo: ``(h, w, 3)`` float32 sRGB, 0 to 1, as it was before this garment.
        plate: The same without the old garment.
        person_map: Of the photo.
        body: Measured from it.
        old: ``(h, w)`` bool, the old garment.
        drape: The new one.
        tucked_into: Whether a top that was put on before it is tucked into it.
    """

    photo: NDArray[np.float32]
    plate: Plate
    person_map: PersonMap
    body: BodyModel
    old: BoolMask
    drape: Drape
    tucked_into: bool = False


@dataclass(frozen=True)
class Layers:
    """The new garment and the arms, as they lie on one another.

    Attributes:
        base: Torso, legs or skirt.
        sleeves: Without what is behind the body.
        places: Both arms, by picture side.
        on_body: ``(h, w)`` cover of ``base``.
        cover: ``(h, w)`` of the whole garment.
        bare_arms: ``(h, w)`` cover of what of the arms lies before its torso.
        under_cuffs: ``(h, w)`` share of its shadow that falls on them all the same, near the ends of its sleeves.
    """

    base: tuple[Piece, ...]
    sleeves: dict[int, Piece]
    places: dict[int, ArmPlace]
    on_body: NDArray[np.float32]
    cover: NDArray[np.float32]
    bare_arms: NDArray[np.float32]
    under_cuffs: NDArray[np.float32]


def layers_of(scene: Scene) -> Layers:
    """Lay the garment's pieces over one another, as bright as the photo lets them be."""
    body, checks = scene.body, scene.drape.checks
    exposed = np.float32(exposure(scene.photo, scene.person_map))
    pieces = [replace(piece, colour=piece.colour * exposed) for piece in scene.drape.pieces]
    base = tuple(piece for piece in pieces if not piece.name.endswith("sleeve"))
    places = arm_places(body)
    on_body = Drape(base, {}).alpha
    sleeves = {
        LEFT if piece.name.startswith("left") else RIGHT: piece for piece in pieces if piece.name.endswith("sleeve")
    }
    ends = {side: checks.get(f"{name}_sleeve_end", 0.0) for side, name in SIDE_NAMES.items()}
    forearms = forearms_before(scene.old, body, places, on_body)
    bare_arms = arms_in_front(scene.old, body, places, ends, forearms)
    return Layers(
        base,
        sleeves,
        places,
        on_body,
        Drape((*base, *sleeves.values()), {}).alpha,
        bare_arms,
        under_cuffs(body, places, ends),
    )


def casting(layers: Layers) -> NDArray[np.float32]:
    """``(h, w)`` cover of the garment without what lies behind the neck."""
    cover = layers.cover
    for piece in layers.base:
        if piece.behind is not None:
            cover = np.maximum(cover - piece.behind, 0.0)
    return cover
