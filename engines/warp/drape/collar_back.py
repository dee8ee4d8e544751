"""What is seen of the inside of a back: that of a collar beside the neck, that of a hood not before it."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.garment.cloth import Cloth
from engines.garment.neckline import inner_back_alone
from engines.labels import labelled_as
from engines.regions import BoolMask, closed, eroded
from engines.warp.body.bare_parts import bare_torso
from engines.warp.body.model import BodyModel
from engines.warp.ribbon import Piece, Ribbon, draw

IN_SHADE = 0.66
"""Brightness of the inside of a collar over that of the garment, since head, neck and front keep the light from it."""

RIM = 0.010
"""Width of the neck's outline in which its pixels still hold the old background, in shoulder widths."""

WIDEST = 0.225
"""Half width of a collar, in shoulder widths, from which it lies on the shoulders: they hide its back."""

NOTCH = 0.03
"""Half the width of a notch in the neck's outline that is none, in shoulder widths."""


def with_collar_back(
    torso: Piece, ribbon: Ribbon, cloth: Cloth, back: BoolMask, body: BodyModel, *, half_width: float
) -> Piece:
    """The torso with the inside of its back where neither neck nor shoulders are in front of it.

    Args:
        torso: Without the inside of the back.
        ribbon: By which it was laid.
        cloth: The whole garment.
        back: ``(h, w)`` bool on the cloth's canvas, the inside of the back.
        body: The body.
        half_width: How far the collar's foot lies from the axis on the body, pixels.
    """
    if not back.any() or half_width > WIDEST * body.shoulder_width:
        return torso
    strip = draw(ribbon, inner_back_alone(cloth, back), body.shape, torso.name)
    seen = (1.0 - before_collar(body)) * (1.0 - torso.alpha)
    return replace(
        torso,
        colour=torso.colour + strip.colour * (np.float32(IN_SHADE) * seen)[..., None],
        alpha=torso.alpha + strip.alpha * seen,
        across=np.where(torso.alpha > 0, torso.across, strip.across),
        behind=strip.alpha * seen,
    )


def opened_for_neck(torso: Piece, ribbon: Ribbon, back: BoolMask, body: BodyModel) -> Piece:
    """The torso of a garment with a hood, without what is seen through the hood's opening where the neck is before it.

    Args:
        torso: With the whole hood.
        ribbon: By which it was laid.
        back: ``(h, w)`` bool on the cloth's canvas.
        body: The body.
    """
    whole = Cloth(np.zeros((*back.shape, 3), np.float32), np.ones(back.shape, np.float32))
    seen = draw(ribbon, inner_back_alone(whole, back), body.shape, torso.name).alpha
    kept = 1.0 - seen * before_collar(body)
    return replace(torso, colour=torso.colour * kept[..., None], alpha=torso.alpha * kept, behind=seen * kept)


def before_collar(body: BodyModel) -> NDArray[np.float32]:
    """``(h, w)`` cover of the neck and what is bare below it, where the inside of a collar or a hood lies behind."""
    # A neck drawn wider than it is would leave a gap of background beside it.
    person = (body.matte > 0.5) & (body.labels != Label.HAIR)
    neck = (bare_torso(body).on & person) | labelled_as(body.labels, (Label.NECK, Label.TORSO_SKIN))
    # Where the labels' neck ends at the old collar and the measured one is narrower, no notch is left between them.
    neck |= closed(neck, max(1, round(NOTCH * body.shoulder_width))) & person
    # Where the neck ends at hair or chin no background shows through, and a rim of cloth would be an outline.
    whole = np.asarray(neck | labelled_as(body.labels, (Label.HAIR, Label.FACE)))
    front = eroded(whole, max(1, round(RIM * body.shoulder_width))) & neck
    return np.asarray(cv2.GaussianBlur(front.astype(np.float32), (0, 0), 0.8), np.float32)
