"""The back of a collar: it goes round the neck, and beside the neck its inside is seen."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.filling import LEAST_WEIGHT, carried_out
from engines.garment.cloth import Cloth
from engines.garment.neckline import inner_back_alone
from engines.garment.regions import BoolMask, closed, dilated, eroded, window_of
from engines.labels import labelled_as
from engines.warp.body.bare_parts import bare_torso
from engines.warp.body.model import BodyModel
from engines.warp.pieces import Piece
from engines.warp.ribbon import Ribbon, draw

IN_SHADE, BESIDE_FRONT, DEEP = 0.74, 0.42, 0.022
"""Brightness of the inside of a collar over that of the garment, since head and neck keep the light from it; the same
right beside the front; and over which distance the one goes over into the other, in shoulder widths."""

RIM = 0.008
"""Width of the neck's outline in which its pixels still hold the old background, in shoulder widths."""

WIDEST = 0.225
"""Half width of a collar, in shoulder widths, from which it lies on the shoulders: they hide its back."""

NOTCH = 0.03
"""Half the width of a notch in the neck's outline that is none, in shoulder widths."""

ROWS_BELOW = 2
"""Rows of the grid that are drawn below the last one with a back."""


RAISED = 0.75
"""Share by which what the back of a collar sinks on a table is taken back: its ends stay its highest points."""


UNDER = 4
"""How far the inside goes on under the front, canvas pixels: no skin or wall shows where the one ends on the other."""

INNER_RIM = 3
"""Width of the edges in which the inside is mixed with the front or lies in its shadow, canvas pixels."""

EVEN = 0.08
"""Blur of its colours, in widths of the inside (standard deviation): what little is seen of it shows no folds."""

USUAL = 3.0
"""Distance from its middle colour, in usual ones, from which something is a label."""


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
    strip = draw(_raised(ribbon, cloth.alpha, back), _inside_of_collar(cloth, back), body.shape, torso.name)
    seen = (1.0 - before_collar(body, RIM)) * (1.0 - torso.alpha)
    return replace(
        torso,
        colour=torso.colour + strip.colour * (_shade(torso, strip, body.shoulder_width) * seen)[..., None],
        alpha=torso.alpha + strip.alpha * seen,
        across=np.where(torso.alpha > 0, torso.across, strip.across),
        behind=strip.alpha * seen,
    )


def _shade(torso: Piece, inside: Piece, unit: float) -> NDArray[np.float32]:
    """``(h, w)`` brightness of the inside: least in the corner in which the front stands before it."""
    shade = np.ones(inside.alpha.shape, np.float32)
    window = window_of(inside.alpha > 0, round(3 * DEEP * unit))
    if inside.alpha[window].size:
        front = np.asarray(cv2.GaussianBlur(torso.alpha[window], (0, 0), max(DEEP * unit, 0.5)), np.float32)
        shade[window] = IN_SHADE + (BESIDE_FRONT - IN_SHADE) * np.clip(2 * front, 0, 1)
    return shade


def before_collar(body: BodyModel, rim: float) -> NDArray[np.float32]:
    """``(h, w)`` cover of the neck and what is bare below it, where the inside of a collar or a hood lies behind.

    Args:
        body: The body.
        rim: Width of the outline that is left to the cloth, in shoulder widths.
    """
    # A neck drawn wider than it is would leave a gap of background beside it.
    person = (body.matte > 0.5) & (body.labels != Label.HAIR)
    neck = (bare_torso(body).on & person) | labelled_as(body.labels, (Label.NECK, Label.TORSO_SKIN))
    # Where the labels' neck ends at the old collar and the measured one is narrower, no notch is left between them.
    neck |= closed(neck, max(1, round(NOTCH * body.shoulder_width))) & person
    head = labelled_as(body.labels, (Label.HAIR, Label.FACE))
    # Where the neck ends at hair or chin no background shows through, and a rim of cloth would be an outline.
    whole = np.asarray(neck | head)
    front = eroded(whole, max(1, round(rim * body.shoulder_width))) & neck
    return np.asarray(cv2.GaussianBlur(front.astype(np.float32), (0, 0), 0.8), np.float32)


def _raised(ribbon: Ribbon, alpha: NDArray[np.float32], back: BoolMask) -> Ribbon:
    """The rows of a ribbon that hold the back, so that its upper edge runs nearly straight from one end to the other.

    On a table the back of a collar sinks towards its front; round a neck it stands about as high as its ends.
    """
    last = float(np.flatnonzero(back.any(axis=1))[-1])
    count = int((ribbon.source[..., 1].min(axis=1) <= last).sum()) + ROWS_BELOW
    source, target = ribbon.source[:count], ribbon.target[:count]
    columns = np.flatnonzero(back.any(axis=0))
    tops = (alpha[:, columns] > 0.5).argmax(axis=0).astype(np.float32)
    straight = np.linspace(tops[0], tops[-1], len(tops))
    sunk = np.interp(source[..., 0], columns, np.maximum(tops - straight, 0), left=0.0, right=0.0)
    per_row = np.gradient(target, axis=0) / np.maximum(np.gradient(source[..., 1], axis=0), 1e-3)[..., None]
    across = ribbon.across if ribbon.across is None or ribbon.across.ndim == 1 else ribbon.across[:count]
    return Ribbon(source, np.asarray(target - RAISED * sunk[..., None] * per_row, np.float32), across)


def _inside_of_collar(cloth: Cloth, back: BoolMask) -> Cloth:
    """The inside of the back, its colours evened out, and a little more of it where the front lies before it.

    On a table shadows, seams and the label are seen between front and back. Of a worn collar only the two ends are,
    and a piece of one of those would look torn.

    Args:
        cloth: The whole garment.
        back: ``(h, w)`` bool on the cloth's canvas, the inside of the back.
    """
    window, wider = window_of(back, 2 * UNDER), back.copy()
    wider[window] = dilated(back[window], UNDER)
    alone = inner_back_alone(cloth, wider)
    part, inside = cloth.colour[window], eroded(back[window] & (cloth.alpha[window] > 0.9), INNER_RIM)
    if not inside.any():
        return alone
    middle = np.median(part[inside], axis=0)
    away = np.linalg.norm(part - middle, axis=2)
    cloth_alone = inside & (away <= USUAL * max(float(np.median(away[inside])), LEAST_WEIGHT))
    even, known = carried_out(part, cloth_alone.astype(np.float32), EVEN * part.shape[1])
    colour = alone.colour.copy()
    colour[window] = np.where(known[..., None] > LEAST_WEIGHT, even, middle)
    return Cloth(colour, alone.alpha)
