"""A hood lies behind the neck: within its opening the neck is in front of the cloth."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from engines.base import Label
from engines.garment.regions import BoolMask, eroded
from engines.labels import labelled_as
from engines.warp.body.bare_parts import bare_torso
from engines.warp.body.model import BodyModel
from engines.warp.pieces import Cloth, Piece
from engines.warp.ribbon import Ribbon, draw

RIM = 0.012
"""Width of the neck's outline in which its pixels still hold the old background, in shoulder widths."""


def opened_for_neck(torso: Piece, ribbon: Ribbon, inside: BoolMask, body: BodyModel) -> Piece:
    """The torso of a garment with a hood, without the hood's inside where the neck is in front of it.

    Args:
        torso: With the whole hood.
        ribbon: By which it was laid.
        inside: ``(h, w)`` bool on the cloth's canvas, what is seen through the hood's opening.
        body: The body.
    """
    if not inside.any():
        return torso
    cover = inside.astype(np.float32)
    seen = draw(ribbon, Cloth(np.zeros((*inside.shape, 3), np.float32), cover), body.shape, torso.name).alpha
    # A neck drawn wider than it is would leave a gap of background beside it.
    person = (body.matte > 0.5) & (body.labels != Label.HAIR)
    neck = (bare_torso(body).on & person) | labelled_as(body.labels, (Label.NECK, Label.TORSO_SKIN))
    rim = max(1, round(RIM * body.shoulder_width))
    # Where the neck ends at hair or chin no background shows through, and a rim of cloth would be an outline.
    front = eroded(np.asarray(neck | labelled_as(body.labels, (Label.HAIR, Label.FACE))), rim) & neck
    kept = 1.0 - seen * cv2.GaussianBlur(front.astype(np.float32), (0, 0), 0.8)
    return replace(torso, colour=torso.colour * kept[..., None], alpha=torso.alpha * kept)
