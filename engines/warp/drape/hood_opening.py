"""A hood lies behind the neck: within its opening the neck is in front of the cloth, and takes its light."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.channels import on_channels
from engines.garment.cloth import Cloth
from engines.garment.neckline import inner_back_alone
from engines.garment.regions import BoolMask, dilated, opened, window_of
from engines.labels import labelled_as
from engines.warp.body.model import BodyModel
from engines.warp.drape.collar_back import before_collar
from engines.warp.pieces import Piece
from engines.warp.ribbon import Ribbon, draw

RIM = 0.012
"""Width of the neck's outline in which its pixels still hold the old background, in shoulder widths."""

INSIDE, AT_NECK, DEEP = 0.90, 0.55, 0.075
"""Brightness of the inside of a hood over that of the picture, in which no head keeps the light from it; the same
right beside neck, jaw and hair; and over which distance the one goes over into the other, in shoulder widths."""

TIP, BESIDE_NECK = 0.026, 0.14
"""Radius of the smallest end of the slope beside the neck that is seen in a hood, and how far beside the axis it
begins, in shoulder widths."""


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
    # The stairs of a mask would be seen on the neck, and so would the soft edge of the hood above it.
    whole = Cloth(np.zeros((*inside.shape, 3), np.float32), np.ones(inside.shape, np.float32))
    sheet = inner_back_alone(whole, inside)
    seen = draw(ribbon, sheet, body.shape, torso.name).alpha
    before = before_collar(body, RIM)
    before *= 1.0 - _tips(seen, before, torso.alpha, body)
    kept = 1.0 - seen * before
    colour = torso.colour * on_channels(kept * _shade(seen, before, body))
    return replace(torso, colour=colour, alpha=torso.alpha * kept, behind=seen * kept)


def _tips(
    seen: NDArray[np.float32], neck: NDArray[np.float32], cover: NDArray[np.float32], body: BodyModel
) -> NDArray[np.float32]:
    """``(h, w)`` cover of the thin ends of the slope beside the neck, over which a hood folds.

    Args:
        seen: ``(h, w)`` cover of the inside of the hood.
        neck: ``(h, w)`` cover of the neck before it.
        cover: ``(h, w)`` cover of the whole hood.
        body: The body.
    """
    tips, radius = np.zeros_like(seen), max(1, round(TIP * body.shoulder_width))
    window = window_of(seen > 0, 2 * radius)
    if seen[window].size:
        inside = seen[window] > 0.5
        bare = (neck[window] > 0.5) & (inside | (cover[window] < 0.5))
        bare |= labelled_as(body.labels[window], (Label.HAIR, Label.FACE))
        thin = bare & ~opened(bare, radius) & inside & (np.abs(body.laterals[window]) > BESIDE_NECK)
        tips[window] = cv2.GaussianBlur(dilated(thin, 2).astype(np.float32), (0, 0), 1.5)
    return tips


def _shade(seen: NDArray[np.float32], neck: NDArray[np.float32], body: BodyModel) -> NDArray[np.float32]:
    """``(h, w)`` brightness of the inside of a hood: the less, the nearer to the neck and the head that stand in it.

    Args:
        seen: ``(h, w)`` cover of the inside.
        neck: ``(h, w)`` cover of the neck before it.
        body: The body.
    """
    shade, reach = np.ones_like(seen), DEEP * body.shoulder_width
    window = window_of(seen > 0, round(3 * reach))
    if seen[window].size:
        head = labelled_as(body.labels[window], (Label.HAIR, Label.FACE)).astype(np.float32)
        near = cv2.GaussianBlur(np.maximum(neck[window], head), (0, 0), max(reach, 0.5))
        inside = INSIDE + (AT_NECK - INSIDE) * np.clip(2 * near, 0, 1)
        shade[window] += (inside - 1) * seen[window]
    return shade
