"""Straps end on the shoulder: from there on they run down the back, where nobody sees them."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from engines.base import Label
from engines.garment.regions import dilated, eroded
from engines.labels import labelled_as
from engines.warp.body.bare_parts import bare_arm, bare_torso
from engines.warp.body.model import SIDES, BodyModel
from engines.warp.pieces import Piece

CLOTH_THICKNESS = 0.006
"""How far a strap stands off the skin, in shoulder widths."""

OLD_CLOTH = 0.024
"""How much of a person's outline where a shoulder is expected is the cloth that lay on it, in shoulder widths."""

MOST_RAISED = 0.08
"""How far above the usual form of a shoulder its skin may still be, in shoulder widths."""

ENDS_ABOVE = 0.15
"""Height above which straps are cut, in torso lengths below the shoulders."""

SEEN_BODY = (Label.NECK, Label.TORSO_SKIN, Label.ARMS)


def ended_on_shoulders(piece: Piece, body: BodyModel) -> Piece:
    """A garment on straps without what would stand out over the shoulders like horns.

    Args:
        piece: The torso of a garment that hangs on straps.
        body: The body.
    """
    thick = max(1, round(CLOTH_THICKNESS * body.shoulder_width))
    bare = bare_torso(body).on
    for side in SIDES:
        bare |= bare_arm(body, side, 0.0).on
    shown = bare | labelled_as(body.labels, SEEN_BODY)
    # Bare shoulders reach up to the cloth that lay on them, and the strap to its place.
    old_cloth, raised = (max(2, round(share * body.shoulder_width)) for share in (OLD_CLOTH, MOST_RAISED))
    shown |= eroded(body.matte > 0.5, old_cloth) & dilated(shown, raised)
    # Beyond the outline of the person no skin is drawn, wherever a shoulder is expected.
    shown &= body.matte > 0.5
    inside = dilated(np.asarray(shown), thick) | (body.heights > ENDS_ABOVE)
    kept = np.asarray(cv2.GaussianBlur(inside.astype(np.float32), (0, 0), 0.8), np.float32)
    return replace(piece, colour=piece.colour * kept[..., None], alpha=piece.alpha * kept)
