"""Straps, and shoulders without sleeves, end on the shoulder: from there they run down the back, which nobody sees."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.garment.regions import dilated, eroded, window_of
from engines.labels import labelled_as
from engines.warp.body.bare_parts import bare_arm, bare_torso
from engines.warp.body.model import LEFT, RIGHT, SIDES, BodyModel
from engines.warp.drape.fit import Fit
from engines.warp.pieces import Piece

CLOTH_THICKNESS, STRAP_THICKNESS = 0.012, 0.006
"""How far a shoulder without a sleeve, and a strap, stand off the skin, in shoulder widths."""

OLD_CLOTH = 0.024
"""How much of a person's outline where a shoulder is expected is the cloth that lay on it, in shoulder widths."""

HIGHER = 0.016
"""How much lower a shoulder without a sleeve lies than the old cloth did, in shoulder widths."""

MOST_RAISED = 0.08
"""How far above the usual form of a shoulder its skin may still be, in shoulder widths."""

ENDS_ABOVE = 0.15
"""Height above which straps are cut, in torso lengths below the shoulders."""

ON_SKIN_FROM, STANDS_OFF = 0.85, 1.0
"""From where on a shoulder without a sleeve lies on the skin, as a share of the way from the foot of the collar to its
end, and by how many pixels it may stand off for one pixel further in: there collars stand up."""

CORNER = 1.5
"""How many pixels cloth lies within the outline of the arm for one that it reaches beyond the end of the shoulder: an
armhole turns down there in a bend and in no point."""

SEEN_BODY = (Label.NECK, Label.TORSO_SKIN, Label.ARMS)


def ended_on_shoulders(piece: Piece, body: BodyModel, fit: Fit | None = None) -> Piece:
    """A garment without sleeves, without what would stand out over the shoulders like horns.

    Args:
        piece: The torso of a garment without sleeves.
        body: The body.
        fit: Where the feet of its collar lie and its shoulders end; None where it hangs on straps, which all end so.
    """
    window = window_of((piece.alpha > 0) & (body.heights <= ENDS_ABOVE), round(2 * MOST_RAISED * body.shoulder_width))
    if not piece.alpha[window].size:
        return piece
    on = _shoulders(body)
    if fit is not None:  # A strap shows the skin beside it; a shoulder lies nearly as high as the cloth that was there.
        on |= eroded(body.matte > 0.5, max(1, round(HIGHER * body.shoulder_width)))
    shoulders = on[window].astype(np.uint8)
    off_skin = cv2.distanceTransform(1 - shoulders, cv2.DIST_L2, 5) - cv2.distanceTransform(shoulders, cv2.DIST_L2, 5)
    inside = (off_skin <= _most_off(body, fit)[window]) | (body.heights[window] > ENDS_ABOVE)
    kept = np.ones(body.shape, np.float32)
    kept[window] = cv2.GaussianBlur(inside.astype(np.float32), (0, 0), 0.8)
    behind = None if piece.behind is None else piece.behind * kept
    return replace(piece, colour=piece.colour * kept[..., None], alpha=piece.alpha * kept, behind=behind)


def _shoulders(body: BodyModel) -> NDArray[np.bool_]:
    """``(height, width)``: the bare shoulders, and what of the person is seen around them."""
    bare = bare_torso(body).on
    for side in SIDES:
        bare |= bare_arm(body, side, 0.0).on
    shown = bare | labelled_as(body.labels, SEEN_BODY)
    # Bare shoulders reach up to the cloth that lay on them, and the strap to its place.
    old_cloth, raised = (max(2, round(share * body.shoulder_width)) for share in (OLD_CLOTH, MOST_RAISED))
    shown |= eroded(body.matte > 0.5, old_cloth) & dilated(shown, raised)
    # Beyond the outline of the person no skin is drawn, wherever a shoulder is expected.
    return np.asarray(shown & (body.matte > 0.5))


def _most_off(body: BodyModel, fit: Fit | None) -> NDArray[np.float32]:
    """``(height, width)``: how far off the skin cloth may be, pixels; beyond its tips it has to lie within it."""
    thickness = STRAP_THICKNESS if fit is None else CLOTH_THICKNESS
    thick = np.full(body.shape, max(1, round(thickness * body.shoulder_width)), np.float32)
    if fit is None:
        return thick
    aside = body.laterals * body.shoulder_width
    begins = {side: fit.neck[side] + ON_SKIN_FROM * (fit.tip[side] - fit.neck[side]) for side in SIDES}
    further_in = np.maximum(np.minimum(aside + begins[LEFT], begins[RIGHT] - aside), 0.0)
    beyond = np.maximum(np.maximum(-aside - fit.tip[LEFT], aside - fit.tip[RIGHT]), 0.0)
    return np.asarray(thick + STANDS_OFF * further_in - CORNER * beyond, np.float32)
