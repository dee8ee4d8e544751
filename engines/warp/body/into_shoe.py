"""The end of a bare leg: narrowed to the ankle and led into the shoe that is seen below it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from engines.base import Label
from engines.labels import labelled_as
from engines.warp.body.in_cloth import within_cloth
from engines.warp.body.leg_form import formed
from engines.warp.body.limbs import Edges, Limb, prolonged
from engines.warp.body.sampling import values_at
from engines.warp.body.silhouette import ease

SEARCHED_FROM, SEARCHED_UNTIL = 0.80, 1.18
"""Shares of a leg's length between which its shoe begins."""

LOWEST_HEM, IN_SHOE = 1.35, 0.03
"""Share of a leg's length beyond which no hem of trousers hangs, and how far below it a leg goes on into its shoe."""

STRAIGHT = 0.03
"""How far beside the leg's line a shoe counts as right below it, in shoulder widths."""

OPENING = 0.06
"""Height of the uppermost strip of a shoe that tells where its opening is, in shoulder widths."""

TONGUE = 0.20
"""How far below the uppermost pixel of a shoe its opening is looked for, in shoulder widths."""

LEAST_SHOE = 2.0
"""Pixels of shoe near the line, over the reach in which they are looked for, from which it is one."""

WORN_ABOVE = (Label.LEGS, Label.LOWER, Label.FULL)
"""Labels of what goes into a shoe: the leg, or the cloth on it."""

TOUCHING = 4
"""Pixels between a shoe and what goes into it."""

WIDEST = 0.26
"""How far from the leg's line the opening of a shoe is followed, in shoulder widths."""

COLLAR = 0.03
"""Height above the rest of its upper edge at which the end of a shoe's opening is its collar, in shoulder widths."""

WITHOUT_COLLAR = 0.75
"""Share of the opening that its collar leaves at least."""

LACE = 0.015
"""Half the width of a gap in the upper edge of a shoe that is closed, in shoulder widths."""

LED_FROM = 0.45
"""Share of a leg's length from which it is led aside into the shoe."""

NARROWED_FROM = 0.60
"""Share of a leg's length from which it is held to the width of the shoe's opening."""

LEAST_HALF, MOST_HALF = 0.062, 0.100
"""Between which half widths an ankle fills the opening of its shoe, in shoulder widths."""

MOST_FILLED = 1.35
"""How much wider than its own width an ankle becomes at most to fill the opening."""

HEM = (1.25, 1.60)
"""Width of the opening over that of the ankle from which it begins to be that of the hem over it, and wholly is."""

WIDENED_FROM = 0.82
"""Share of a leg's length from which it widens towards its shoe."""

ROOMY = 1.35
"""Width of the opening over that of the ankle from which the ankle may stand anywhere in it; a hem hid its ends."""

MOST_LED = 0.16
"""How far an ankle is led aside at most, in shoulder widths."""


def down_to_hem(labels: NDArray[np.uint8], leg: Limb) -> Limb:
    """A leg with samples down to the hem of its trousers, where that hangs so far below the ankle.

    Args:
        labels: ``(height, width)`` of `Label`.
        leg: The leg.

    Returns:
        The very leg where its samples reach as far.
    """
    shares = np.linspace(1.0, LOWEST_HEM, 64)
    way = (leg.line[-1] - leg.line[-4]) / float(leg.shares[-1] - leg.shares[-4])
    label, framed = values_at(labels, leg.line[-1] + (shares - float(leg.shares[-1]))[:, None] * way)
    clothed = framed & labelled_as(label, (Label.LOWER,))
    if not clothed[0] or clothed.all():
        return leg
    return prolonged(leg, float(shares[int(np.argmin(clothed))]) + IN_SHOE)


def into_shoe(labels: NDArray[np.uint8], leg: Limb, edges: Edges, unit: float) -> tuple[Limb, Edges, float]:
    """Give a leg its form and lead it into its shoe; without a shoe it goes on as it is.

    Args:
        labels: ``(height, width)`` of `Label`.
        leg: The leg.
        edges: Its outer and inner distances from the centre line, ``(n,)`` each, pixels.
        unit: Shoulder width in pixels.

    Returns:
        The leg, its edges, and the share of its length at which the shoe begins, infinite without one.
    """
    edges = formed(labels, leg, edges, unit)
    opening = shoe_opening(labels, leg, unit)
    if opening is None:
        return leg, within_cloth(labels, leg, edges, unit), np.inf
    left, right, top = opening
    # The leg ends where its line comes to the shoe.
    at = int(np.argmin(np.abs(leg.line[:, 1] - top)))
    if leg.shares[at] <= LED_FROM + 0.1:
        return leg, within_cloth(labels, leg, edges, unit), np.inf
    outer, inner = edges
    centre = leg.line + leg.outward * ((outer - inner) / 2.0)[:, None]
    half = _fitted(leg, (outer + inner) / 2.0, (right - left) / 2.0, at, unit)
    room = float(half[at])
    middle = float(centre[at, 0])
    roomy = right - left > 2.0 * ROOMY * room
    wanted = float(np.clip(middle, left + room, right - room)) if roomy else (left + right) / 2.0
    aside = float(np.clip(wanted - middle, -MOST_LED * unit, MOST_LED * unit))
    turned = ease((leg.shares - LED_FROM) / max(float(leg.shares[at]) - LED_FROM, 0.05))
    shift = np.stack([turned * np.float32(aside), np.zeros_like(turned)], axis=1)
    offset = (outer - inner) / 2.0
    led = replace(leg, line=(leg.line + shift).astype(np.float32))
    held = (half + offset).astype(np.float32), (half - offset).astype(np.float32)
    return led, within_cloth(labels, led, held, unit), float(leg.shares[at])


def _fitted(leg: Limb, half: NDArray[np.float32], opening: float, at: int, unit: float) -> NDArray[np.float32]:
    """Half widths along the leg, ``(n,)``, that end in the opening of the shoe and leave nothing of it open."""
    own = max(float(half[at]), 1.0)
    wanted = min(float(np.clip(opening, LEAST_HALF * unit, MOST_HALF * unit)), MOST_FILLED * own)
    if wanted > own:
        wanted = own + (wanted - own) * float(ease((HEM[1] - opening / own) / (HEM[1] - HEM[0])))
    begin = NARROWED_FROM if wanted < own else WIDENED_FROM
    near = ease((leg.shares - begin) / max(float(leg.shares[at]) - begin, 0.05))
    return np.asarray(half * (1.0 + near * (wanted / own - 1.0)), np.float32)


def shoe_opening(labels: NDArray[np.uint8], leg: Limb, unit: float) -> tuple[float, float, float] | None:
    """Left and right end and row of the upper edge of the shoe below a leg; None where there is none near its line."""
    height, width = labels.shape
    shares = np.linspace(SEARCHED_FROM, max(SEARCHED_UNTIL, float(leg.shares[-1])), 64)
    line = leg.points(shares)
    rows = np.arange(max(0, int(line[:, 1].min())), min(height, int(line[:, 1].max()) + 1))
    if len(rows) < 4:
        return None
    order = np.argsort(line[:, 1])
    middle = np.interp(rows, line[order, 1], line[order, 0])
    window = labels[rows[0] : rows[-1] + 1]
    shoe = np.asarray(window == Label.FEET)
    beside = np.abs(np.arange(width)[None] - middle[:, None])
    for reach in (STRAIGHT * unit, MOST_LED * unit):
        near = shoe & (beside <= reach)
        if near.sum() >= LEAST_SHOE * reach:
            break
    else:
        return None
    first = int(np.flatnonzero(near.any(axis=1))[0])
    seed = int(np.flatnonzero(near[first])[0])
    mouth = _mouth(shoe, labelled_as(window, WORN_ABOVE), (first, seed), unit)
    if mouth is None:
        mouth = _upper_run(shoe, (first, seed), unit)
    if mouth is None:
        return None
    left, right, row = mouth
    return left, right, float(rows[0] + row)


def _mouth(
    shoe: NDArray[np.bool_], above: NDArray[np.bool_], seed: tuple[int, int], unit: float
) -> tuple[float, float, float] | None:
    """Where an ankle or a trouser leg goes into a shoe: left and right end and row; None where it is hardly seen.

    A tongue may stand up in the middle of it, and a heel behind it.

    Args:
        shoe: ``(n, width)``, the shoes in the rows around the ankle.
        above: ``(n, width)``, skin and cloth of legs.
        seed: Row and column of the uppermost pixel of this shoe below the leg.
        unit: Shoulder width in pixels.
    """
    first, column = seed
    begin = max(0, column - round(WIDEST * unit))
    columns = slice(begin, column + round(WIDEST * unit) + 1)
    tops = np.argmax(shoe[:, columns], axis=0)
    index = np.arange(len(tops))
    met = shoe[tops, index + begin] & (np.abs(tops - first) < TONGUE * unit)
    beyond = np.maximum(tops - np.arange(1, TOUCHING + 1)[:, None], 0)
    met &= above[beyond, index + begin].any(axis=0)
    met = ndimage.binary_closing(np.pad(met, 1), iterations=max(1, round(LACE * unit)))[1:-1]
    numbered, count = ndimage.label(met)
    if count == 0:
        return None
    at = index[met][int(np.argmin(np.abs(index[met] - (column - begin))))]
    own = index[numbered == numbered[at]]
    # A collar that stands up on either side is beside the ankle, not under it.
    row = float(np.median(tops[own]))
    low = own[tops[own] > row - COLLAR * unit]
    if low[-1] - low[0] > WITHOUT_COLLAR * len(own):
        own = own[(own >= low[0]) & (own <= low[-1])]
    if len(own) <= 2.0 * LEAST_HALF * unit:
        return None
    return float(begin + own[0]), float(begin + own[-1] + 1), row


def _upper_run(shoe: NDArray[np.bool_], seed: tuple[int, int], unit: float) -> tuple[float, float, float] | None:
    """Left and right end and row of the uppermost part of a shoe that is wide enough for an ankle."""
    first, column = seed
    runs = [_run(row, column) for row in shoe[first : first + max(2, round(TONGUE * unit))] if row[column]]
    # The first rows may be a tongue or the shadow under the hem, and narrower than any ankle.
    wide = [number for number, (begin, end) in enumerate(runs) if end - begin > 2.0 * LEAST_HALF * unit]
    if not wide:
        return None
    left, right = np.median(runs[wide[0] : wide[0] + max(2, round(OPENING * unit))], axis=0)
    return float(left), float(right), float(first)


def _run(row: NDArray[np.bool_], seed: int) -> tuple[int, int]:
    """First and one past the last pixel of the run that a pixel lies in."""
    gaps = np.flatnonzero(~row)
    return int(gaps[gaps < seed].max(initial=-1)) + 1, int(gaps[gaps > seed].min(initial=len(row)))
