"""A lower garment on somebody who wears it: how its waist slants, and whether the legs in it hang down."""

from __future__ import annotations

import numpy as np

from engines.base import Landmark, PersonMap
from engines.garment.regions import BoolMask, largest
from engines.garment.straightened import JOINT_SEEN, MOST_LEAN, Lean

THIGHS = ((Landmark.LEFT_HIP, Landmark.LEFT_KNEE), (Landmark.RIGHT_HIP, Landmark.RIGHT_KNEE))

MOST_ASIDE = 0.6
"""How far a knee may lie beside its hip, over how far it lies below it: people walk, but do not sit or kick."""

CORNERS = 0.12
"""Share of the waist's width at each end that is round, and says nothing of how it slants."""

UNTIL = 0.4
"""Share of the garment's height below its waist in which it is level again."""

ROUNDS, OUTLYING = 4, 2.0
"""Rounds in which the waist's line is fitted, and how many usual distances from it a column counts no more."""


def lean_of_waist(cloth: BoolMask) -> Lean:
    """How the upper edge of a lower garment slants; nothing else of it is out of line.

    Args:
        cloth: ``(h, w)`` bool, not empty.
    """
    cloth = largest(cloth)
    rows = np.flatnonzero(cloth.any(axis=1))
    top, height = int(rows[0]), int(rows[-1] - rows[0])
    columns = np.flatnonzero(cloth[: top + max(int(UNTIL * height / 2), 2)].any(axis=0))
    corner = int(CORNERS * len(columns))
    columns = columns[corner : len(columns) - corner]
    edge = cloth[:, columns].argmax(axis=0).astype(float)
    middle, rise = float(columns.mean()), 0.0
    kept = np.ones(len(columns), dtype=bool)
    for _ in range(ROUNDS if len(columns) > 2 else 0):
        rise, level = np.polyfit(columns[kept] - middle, edge[kept], 1)
        away = np.abs(edge - level - rise * (columns - middle))
        kept = away <= OUTLYING * max(float(np.median(away)), 1.0)
    rise = float(np.clip(rise, -MOST_LEAN, MOST_LEAN))
    return Lean((middle, float(edge.mean())), top + UNTIL * height, rise, 0.0, 0.0)


def legs_hang(person_map: PersonMap) -> bool:
    """Whether both thighs hang down from the hips, as far as they are seen: cloth on others is foreshortened."""
    for hip, knee in THIGHS:
        first, last = person_map.landmarks[hip], person_map.landmarks[knee]
        aside, down = abs(float(last[0] - first[0])), float(last[1] - first[1])
        if min(first[3], last[3]) >= JOINT_SEEN and aside > MOST_ASIDE * down:
            return False
    return True
