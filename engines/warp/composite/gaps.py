"""Gaps between the pieces of a garment that hang together in its photo, and scraps of skin that stand out over it."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.filling import carried_out
from engines.garment.regions import BoolMask, closed, dilated, opened, window_of
from engines.labels import labelled_as
from engines.warp.body.model import BodyModel
from engines.warp.pieces import Drape, Piece

WIDEST = 0.022
"""Half the width of a gap at most, in shoulder widths."""

LARGEST, LARGEST_HOLE = 0.004, 0.012
"""Its area at most, in squared shoulder widths; what is larger is open. The same of a hole with cloth all around."""

OPEN, OPEN_TO_WALL = 0.3, 0.04
"""Share of its outline up to which a gap may be open; the corner between a cuff and the body is open by more. The same
of one that shows the wall, which is closed all around but for a crack: the wedge between a sleeve and the side is open
by twice as much and ends in a point."""

CLOSED = 0.9
"""Cover from which pieces close a place: two soft edges side by side let a line of the wall through."""

PERSON = 0.5
"""Cover from which a gap shows the person and not the wall."""

TOUCHED = 3
"""Pixels within which a gap touches both pieces."""

THINNEST, RIM = 1, 2
"""Half the width of a spot of wall at least, and the width of the person's soft edge around it, in which some of it
shows, pixels."""

SHORT = 0.09
"""Length of a mere line of wall up to which it is a spot, as below the inner corner of a hem, shoulder widths."""

WHOLE, REACH = 0.95, 2.5
"""Cover from which a pixel shows the cloth alone, and from how far around colours are carried into a gap, pixels."""

ON_SHOULDER, ABOVE = (0.30, 0.62), 0.14
"""Where scraps of a bare shoulder stand out over a garment with sleeves: beside the axis, in shoulder widths, and above
this height, in torso lengths."""

SEEN_SKIN, SOME_PERSON = (Label.NECK, Label.TORSO_SKIN, Label.ARMS), 0.05
"""What they are labelled, and the cover from which their soft edge shows a little of them."""

SURE = 0.05
"""Share of known cloth around a pixel below which colours come from farther away as well."""

SOFT = 0.7
"""Softness of what fills a gap where it is open, pixels (standard deviation): the garment's outline goes on there."""


def closed_up(
    torso: Piece, sleeves: list[Piece], unit: float, person: NDArray[np.float32], *, scraps: BoolMask | None = None
) -> Piece:
    """The torso with the gaps between it and the sleeves filled with the colours around them.

    Args:
        torso: Of the garment.
        sleeves: As they lie on it.
        unit: Shoulder width in pixels.
        person: ``(h, w)`` cover of the person behind the garment.
        scraps: ``(h, w)`` what else it covers, from `bare_scraps`.
    """
    if not sleeves:
        return torso
    whole = Drape((torso, *sleeves), {}).alpha > CLOSED
    window = window_of(whole if scraps is None else whole | scraps, 1)
    cloth = whole[window]
    widest = max(1, round(WIDEST * unit))
    gaps = closed(cloth, widest) & ~cloth
    parts = [piece.alpha[window] > 0.5 for piece in (torso, *sleeves)]
    wall, most = person[window] < PERSON, LARGEST * unit**2
    # The person's outline may cross a hole, neither half of which is closed without the other one.
    holes = _between(gaps, cloth, parts, LARGEST_HOLE * unit**2, OPEN_TO_WALL)
    gaps = _between(gaps & ~wall, cloth, parts, most, OPEN) | _between(gaps & wall, cloth, parts, most, OPEN_TO_WALL)
    gaps |= holes | (_enclosed(~cloth & wall, dilated(parts[0], TOUCHED), most, SHORT * unit) & ~cloth)
    if scraps is not None:
        gaps |= scraps[window]
    if not gaps.any():
        return torso
    known = torso.alpha[window] > WHOLE
    values = np.dstack([torso.colour[window], torso.across[window]])
    carried, weight = carried_out(values, known.astype(np.float32), REACH)
    farther, _ = carried_out(values, known.astype(np.float32), max(REACH, 2 * widest))
    carried += (farther - carried) * np.clip(1 - weight / SURE, 0, 1)[..., None]
    # Under the soft edge of what is beside it, too, and no farther out than the outline without the gap.
    outline = np.asarray(cv2.GaussianBlur((cloth | gaps).astype(np.float32), (0, 0), SOFT), np.float32)
    filled = np.maximum(np.clip(2 * outline - 0.5, 0, 1), torso.alpha[window])
    share = dilated(gaps, 2) & ~known
    colour, alpha, across = torso.colour.copy(), torso.alpha.copy(), torso.across.copy()
    colour[window][share], across[window][share] = carried[share][:, :3] * filled[share][:, None], carried[share][:, 3]
    alpha[window][share] = filled[share]
    return replace(torso, colour=colour, alpha=alpha, across=across)


def _enclosed(wall: BoolMask, beside: BoolMask, largest: float, short: float) -> BoolMask:
    """The small spots of wall beside some cloth that the person and the garment close in on all sides, and their rim.

    Between a wide cuff, its arm and the torso the wall is seen as through a hole in the garment.

    Args:
        wall: ``(h, w)`` of a window, where the wall is seen.
        beside: ``(h, w)``, beside that cloth.
        largest: Area of a spot at most, squared pixels.
        short: Length of a mere line at most, pixels.
    """
    spots = np.zeros_like(wall)
    count, numbered, stats, _ = cv2.connectedComponentsWithStats(wall.astype(np.uint8), connectivity=8)
    for number in range(1, count):
        left, top, width, height, area = (int(value) for value in stats[number])
        right, bottom = left + width, top + height
        if area > largest or min(left, top) <= RIM or right + RIM >= wall.shape[1] or bottom + RIM >= wall.shape[0]:
            continue
        around = (slice(top - RIM, bottom + RIM), slice(left - RIM, right + RIM))
        spot = numbered[around] == number
        # A long line of wall along an arm is no spot: filled, it would leave the arm's edge ragged.
        broad = opened(spot, THINNEST)
        if (broad.any() or max(width, height) <= short) and (spot & beside[around]).any():
            spots[around] |= spot | dilated(broad, RIM)
    return spots


def bare_scraps(body: BodyModel, pieces: tuple[Piece, ...]) -> BoolMask:
    """``(h, w)``: thin scraps of a bare shoulder that show above a garment with sleeves, which would cover them.

    Args:
        body: The body.
        pieces: The garment.
    """
    scraps = np.zeros(body.shape, bool)
    skin, person = labelled_as(body.labels, SEEN_SKIN), body.matte > PERSON
    aside = np.abs(body.laterals)
    zone = (aside > ON_SHOULDER[0]) & (aside < ON_SHOULDER[1]) & (body.heights < ABOVE)
    window = window_of(skin & person & zone, 2)
    if not scraps[window].size:
        return scraps
    cloth = np.maximum.reduce([piece.alpha[window] for piece in pieces])
    widest = max(1, round(WIDEST * body.shoulder_width))
    shown = person[window] & (cloth < CLOSED)
    wide = opened(shown, widest)
    thin = shown & ~wide & skin[window] & zone[window]
    _, numbered = cv2.connectedComponents(thin.astype(np.uint8), connectivity=8)
    thin &= ~np.isin(numbered, numbered[dilated(wide, 1)])
    beside_cloth = np.isin(numbered, numbered[dilated(cloth > CLOSED, 1)])
    # Their own soft edge before the wall shows skin, too.
    scraps[window] = dilated(thin & beside_cloth, 1) & (body.matte[window] > SOME_PERSON) & (cloth < CLOSED)
    return scraps


def _between(gaps: BoolMask, cloth: BoolMask, parts: list[BoolMask], largest: float, most: float) -> BoolMask:
    """Those of some gaps that are small, between the first part and another one, and open by a small share at most."""
    count, numbered, stats, _ = cv2.connectedComponentsWithStats(gaps.astype(np.uint8), connectivity=8)
    kept = stats[:, cv2.CC_STAT_AREA] <= largest
    kept[0] = False
    touched = [np.isin(np.arange(count), numbered[dilated(part, TOUCHED)]) for part in parts]
    kept &= touched[0] & np.logical_or.reduce(touched[1:])
    for number in np.flatnonzero(kept):
        gap = numbered == number
        around = dilated(gap, 1) & ~gap
        kept[number] = (around & ~cloth).sum() < most * around.sum()
    return np.asarray(kept[numbered])
