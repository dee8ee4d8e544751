"""The end of a bare leg: narrowed to the ankle and led into the shoe that is seen below it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engines.base import Label
from engines.warp.body.limbs import Limb
from engines.warp.body.silhouette import ease

SEARCHED_FROM, SEARCHED_UNTIL = 0.80, 1.18
"""Shares of a leg's length between which its shoe begins."""

STRAIGHT = 0.03
"""How far beside the leg's line a shoe counts as right below it, in shoulder widths."""

OPENING = 0.06
"""Height of the uppermost strip of a shoe that tells where its opening is, in shoulder widths."""

TONGUE = 0.20
"""How far below the uppermost pixel of a shoe its opening is looked for, in shoulder widths."""

LEAST_SHOE = 2.0
"""Pixels of shoe near the line, over the reach in which they are looked for, from which it is one."""

LED_FROM = 0.45
"""Share of a leg's length from which it is led aside into the shoe."""

NARROWED_FROM = 0.60
"""Share of a leg's length from which it is held to the width of the shoe's opening."""

FILLS, LEAST_HALF = 0.94, 0.062
"""Share of the opening's half width that an ankle takes at most, and its own least half width in shoulder widths."""

MOST_LED = 0.16
"""How far an ankle is led aside at most, in shoulder widths."""

Edges = tuple[NDArray[np.float32], NDArray[np.float32]]


def into_shoe(labels: NDArray[np.uint8], leg: Limb, edges: Edges, unit: float) -> tuple[Limb, Edges, float]:
    """Lead a leg into its shoe; without a shoe it stays as it is.

    Args:
        labels: ``(height, width)`` of `Label`.
        leg: The leg.
        edges: Its outer and inner distances from the centre line, ``(n,)`` each, pixels.
        unit: Shoulder width in pixels.

    Returns:
        The leg, its edges, and the share of its length at which the shoe begins, infinite without one.
    """
    opening = _opening(labels, leg, unit)
    if opening is None:
        return leg, edges, np.inf
    left, right, top = opening
    # The leg ends where its line comes to the shoe.
    at = int(np.argmin(np.abs(leg.line[:, 1] - top)))
    if leg.shares[at] <= LED_FROM + 0.1:
        return leg, edges, np.inf
    outer, inner = edges
    centre = leg.line + leg.outward * ((outer - inner) / 2.0)[:, None]
    half = np.minimum((outer + inner) / 2.0, _held(leg, (outer + inner) / 2.0, (right - left) / 2.0, at, unit))
    room = float(half[at])
    lowest, highest = left + room, right - room
    middle = float(centre[at, 0])
    wanted = (left + right) / 2.0 if lowest > highest else float(np.clip(middle, lowest, highest))
    aside = float(np.clip(wanted - middle, -MOST_LED * unit, MOST_LED * unit))
    turned = ease((leg.shares - LED_FROM) / max(float(leg.shares[at]) - LED_FROM, 0.05))
    shift = np.stack([turned * np.float32(aside), np.zeros_like(turned)], axis=1)
    offset = (outer - inner) / 2.0
    led = replace(leg, line=(leg.line + shift).astype(np.float32))
    held = (half + offset).astype(np.float32), (half - offset).astype(np.float32)
    return led, held, float(leg.shares[at])


def _held(leg: Limb, half: NDArray[np.float32], opening: float, at: int, unit: float) -> NDArray[np.float32]:
    """Largest half widths along the leg, ``(n,)``, that end within the opening of the shoe."""
    most = max(FILLS * opening, LEAST_HALF * unit)
    if half[at] <= most:
        return half
    near = ease((leg.shares - NARROWED_FROM) / max(float(leg.shares[at]) - NARROWED_FROM, 0.05))
    return np.asarray(half * (1.0 - near * (1.0 - most / half[at])), np.float32)


def _opening(labels: NDArray[np.uint8], leg: Limb, unit: float) -> tuple[float, float, float] | None:
    """Left and right end and row of the upper edge of the shoe below a leg; None where there is none near its line."""
    height, width = labels.shape
    shares = np.linspace(SEARCHED_FROM, SEARCHED_UNTIL, 64)
    line = leg.points(shares)
    rows = np.arange(max(0, int(line[:, 1].min())), min(height, int(line[:, 1].max()) + 1))
    if len(rows) < 4:
        return None
    order = np.argsort(line[:, 1])
    middle = np.interp(rows, line[order, 1], line[order, 0])
    shoe = np.asarray(labels[rows[0] : rows[-1] + 1] == Label.FEET)
    beside = np.abs(np.arange(width)[None] - middle[:, None])
    for reach in (STRAIGHT * unit, MOST_LED * unit):
        near = shoe & (beside <= reach)
        if near.sum() >= LEAST_SHOE * reach:
            break
    else:
        return None
    first = int(np.flatnonzero(near.any(axis=1))[0])
    seed = int(np.flatnonzero(near[first])[0])
    runs = [_run(row, seed) for row in shoe[first : first + max(2, round(TONGUE * unit))] if row[seed]]
    # The first rows may be a tongue or the shadow under the hem, and narrower than any ankle.
    wide = [number for number, (begin, end) in enumerate(runs) if end - begin > 2.0 * LEAST_HALF * unit]
    if not wide:
        return None
    left, right = np.median(runs[wide[0] : wide[0] + max(2, round(OPENING * unit))], axis=0)
    return float(left), float(right), float(rows[0] + first)


def _run(row: NDArray[np.bool_], seed: int) -> tuple[int, int]:
    """First and one past the last pixel of the run that a pixel lies in."""
    gaps = np.flatnonzero(~row)
    return int(gaps[gaps < seed].max(initial=-1)) + 1, int(gaps[gaps > seed].min(initial=len(row)))
