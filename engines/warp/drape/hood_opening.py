"""A hood lies behind the neck: within its opening the neck is in front of the cloth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from engines.garment.cloth import Cloth
from engines.garment.neckline import even_cover
from engines.garment.regions import BoolMask
from engines.warp.body.model import BodyModel
from engines.warp.drape.collar_back import before_collar
from engines.warp.pieces import Piece
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
    # The stairs of a mask would be seen on the neck.
    sheet = Cloth(np.zeros((*inside.shape, 3), np.float32), even_cover(inside))
    seen = draw(ribbon, sheet, body.shape, torso.name).alpha
    kept = 1.0 - seen * before_collar(body, RIM)
    return replace(torso, colour=torso.colour * kept[..., None], alpha=torso.alpha * kept, behind=seen * kept)
