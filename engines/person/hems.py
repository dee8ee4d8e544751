"""Trousers that hang over the shoes: where they end, by their outline and by the colours of the two.

The pose puts the ankle inside the trouser leg, and wide ones reach far down from there. A trouser leg goes straight on
to its hem, and a shoe is narrower than it or sticks out; where a shoe is neither, its colours tell. What is below the
ankle counts as shoe otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from engines.base import Landmark, Mask
from engines.person.body import Body
from engines.person.colour_models import LOG_UNIFORM, Region, histogram, log_density
from engines.person.evidence import FEW
from engines.person.naming import LOWER
from engines.person.networks import Floats

_LEGS = (
    (Landmark.LEFT_KNEE, Landmark.LEFT_ANKLE, Landmark.LEFT_FOOT_INDEX),
    (Landmark.RIGHT_KNEE, Landmark.RIGHT_ANKLE, Landmark.RIGHT_FOOT_INDEX),
)

_NEAR = 2.5
"""How far from the bones a shoe may be, on `engines.person.body.Limb.offset`."""

_ABOVE, _LAST, _ANKLE = 1.5, 1.8, 2.0
"""Places on `engines.person.body.Limb.position`: sides are followed from the first on, shoes begin at the third."""

_WORN = 0.6
"""Share of what lies between the latter two that is trousers, at least, of legs whose trousers may reach further."""

_SOLE, _GROUND = 0.6, 0.85
"""Places from the ankle, at 0, to the ground, at 1: from the first on a shoe shows its colours, beyond the second no
trousers end."""

_STRAIGHT, _CURVED = 0.03, 0.1
"""How far from its straight line the side of a trouser leg may be, in shoulder widths, and how much more per length."""

_CORNER = (0.02, 0.035)
"""A side has a corner where it moves by the second, from its line, over twice the first, both in shoulder widths."""

_LEAST_SIDE = 0.6
"""Share of a side above the ankle that is seen before the ground, at least, to be followed further down."""

_OUTLINE_SAY, _COLOUR_SAY = 0.6, 2.5
"""What a section of the leg says for trousers where its sides are straight, and against them where they are not; and
the most that the colour of a pixel says, in natural logarithms."""

_PLACE_SAY, _SAY_GROWS, _RATHER = 3.0, 0.02, 1.0
"""Most that the place above or below the hem says to a pixel, within how many shoulder widths one of it is reached, as
the hem need not be quite at right angles to the leg, and what it says right at a hem below the ankle: rags are seen."""

_LEAST = 0.04
"""How far below the ankle trousers hang at least, in shoulder widths: so little may be an ankle in their shadow."""

_BESIDE = 1.5
"""How far from the end of a section the ground may be, in pixels, so that it is beside it."""

_NOWHERE = -1e9
"""Further away than any side of a leg, in pixels."""

_UNKNOWN = 0.05
"""Share of a material's colours that its seeds do not show."""

_CALM = 0.02
"""Half width of what is smoothed away of the hem's line, in shoulder widths."""


def over_feet(owners: Mask, cells: NDArray[np.intp], trousers: Floats, skin: Floats, body: Body) -> Region:
    """``(height, width)`` bool: trousers below the ankle.

    Args:
        owners: ``(height, width)`` of `engines.person.naming` materials, 0 for the ground.
        cells: The photo's histogram cells.
        trousers: Density of the bottom's colours, per cell.
        skin: ``(height, width)`` logarithm of the density of skin.
        body: The person's frame of reference.
    """
    found = np.zeros(owners.shape, np.bool_)
    leg = body.leg
    near = (owners != 0) & (leg.position > _ABOVE) & (leg.offset < _NEAR)
    for side, joints in enumerate(_LEGS):
        own = near & (leg.second == bool(side))
        left, top, across, down = cv2.boundingRect(own.astype(np.uint8))
        if not down:
            continue
        box = np.s_[max(top - 1, 0) : top + down + 1, max(left - 1, 0) : left + across + 1]
        corner = np.array([box[1].start, box[0].start], np.float32)
        knee, ankle, toes = (body.landmarks[joint, :2] - corner for joint in joints)
        shin = own[box] & (leg.position[box] < _ANKLE)
        last = shin & (leg.position[box] > _LAST)
        if (last & (owners[box] == LOWER)).sum() > _WORN * last.sum():
            piece = _Leg.of(own[box], owners[box] == 0, shin, (knee, ankle, toes), body.breadth)
            found[box] |= _hanging(piece, cells[box], log_density(trousers, cells[box], _UNKNOWN), skin[box])
    return found


@dataclass(frozen=True)
class _Leg:
    """One leg from the lower shin on, in sections across it.

    Attributes:
        own: ``(height, width)`` bool, the person nearest to this leg.
        shin: ``(height, width)`` bool, the part of it above the ankle.
        along, across: ``(height, width)``: from the ankle on, down along the shin and to its side, in pixels.
        sides: ``(2, sections)`` ends of each section on `across`; NaN where the ground is not beside it.
        first: `along` of the first section.
        ground: `along` of the lowest part of the foot.
        unit: Shoulder width in pixels.
    """

    own: Region
    shin: Region
    along: Floats
    across: Floats
    sides: NDArray[np.float64]
    first: int
    ground: float
    unit: float

    @classmethod
    def of(cls, own: Region, ground: Region, shin: Region, joints: tuple[Floats, Floats, Floats], unit: float) -> _Leg:
        """Measure a leg by knee, ankle and toes."""
        knee, ankle, toes = joints
        down = (ankle - knee) / max(float(np.linalg.norm(ankle - knee)), 1.0)
        rows, columns = np.indices(own.shape, dtype=np.float32)
        along = (columns - ankle[0]) * down[0] + (rows - ankle[1]) * down[1]
        across = (columns - ankle[0]) * down[1] - (rows - ankle[1]) * down[0]
        first = int(np.floor(along[own].min()))
        section = np.floor(along[own]).astype(np.intp) - first
        sides = np.full((2, int(section.max()) + 1), np.nan)
        edge = cv2.dilate(ground.astype(np.uint8), np.ones((3, 3), np.uint8))[own] > 0
        for row, sign in enumerate((-1.0, 1.0)):
            furthest, seen = np.full((2, sides.shape[1]), _NOWHERE)
            np.maximum.at(furthest, section, sign * across[own])
            np.maximum.at(seen, section[edge], sign * across[own][edge])
            sides[row] = np.where(furthest - seen < _BESIDE, sign * furthest, np.nan)
        lowest = max(float(along[own].max()), float((toes - ankle) @ down))
        return cls(own, shin, along, across, sides, first, lowest, unit)

    def straight_sides(self) -> NDArray[np.float64]:
        """``(2, sections)``: where the sides would be if they went straight on; NaN for a side that is not seen."""
        lines = np.full(self.sides.shape, np.nan)
        places = self.first + np.arange(self.sides.shape[1]) + 0.5
        for row, side in enumerate(self.sides):
            above = places < 0.0
            known = above & np.isfinite(side)
            if known.sum() > max(_LEAST_SIDE * above.sum(), 2):
                line = np.polyfit(places[known], side[known], 1)
                kept = known & (np.abs(np.polyval(line, places) - side) < _STRAIGHT * self.unit)
                if kept.sum() > _LEAST_SIDE * known.sum():
                    lines[row] = np.polyval(np.polyfit(places[kept], side[kept], 1), places)
        return lines

    def leaves(self, outline: NDArray[np.float64]) -> float:
        """How far below the ankle a side leaves its line, in pixels; 0 where that is nowhere or at the ground."""
        place = float(self.first + np.argmax(outline < 0)) if (outline < 0).any() else 0.0
        return place if place < _GROUND * self.ground else 0.0

    def outline(self, lines: NDArray[np.float64]) -> NDArray[np.float64]:
        """``(sections,)``: what the sides say for trousers: none once one has left its line; 0 where none is seen."""
        places = self.first + np.arange(self.sides.shape[1]) + 0.5
        bound = (_STRAIGHT + _CURVED * np.maximum(places, 0.0) / self.unit) * self.unit
        off = self.sides - lines
        step = max(2, round(_CORNER[0] * self.unit))
        astray = np.abs(off) > bound
        astray[:, 2 * step :] |= np.abs(off[:, 2 * step :] - off[:, : -2 * step]) > _CORNER[1] * self.unit
        left = np.maximum.accumulate(astray.any(axis=0) & (places > 0.0))
        return np.where(left, -_OUTLINE_SAY, np.where(np.isfinite(off).any(axis=0), _OUTLINE_SAY, 0.0))


def _hanging(leg: _Leg, cells: NDArray[np.intp], trousers: Floats, skin: Floats) -> Region:
    """``(height, width)`` bool: what of one leg's trousers is below its ankle."""
    lines = leg.straight_sides()
    outline = leg.outline(lines)
    sole = leg.own & (leg.along > max(_SOLE * leg.ground, leg.leaves(outline)))
    shoe = log_density(histogram(cells, sole), cells, _UNKNOWN) if sole.sum() > FEW else np.float32(LOG_UNIFORM)
    odds = np.clip(trousers - np.maximum(shoe, skin), -_COLOUR_SAY, _COLOUR_SAY)
    hem = _hem(leg, odds, outline)
    if hem is None:
        return np.zeros_like(leg.own)
    size = 2 * max(1, round(_CALM * leg.unit)) + 1
    rather = _RATHER if hem > 0.0 else 0.0
    place = np.clip((hem - leg.along) / (_SAY_GROWS * leg.unit) + rather, -_PLACE_SAY, _PLACE_SAY)
    cloth = leg.own & (cv2.boxFilter(odds, cv2.CV_32F, (size, size)) + place > 0)
    section = np.clip(np.floor(leg.along).astype(np.intp) - leg.first, 0, lines.shape[1] - 1)
    aside = 2 * _STRAIGHT * leg.unit
    cloth &= ~(leg.across < lines[0][section] - aside) & ~(leg.across > lines[1][section] + aside)
    cloth = cv2.morphologyEx(cloth.astype(np.uint8), cv2.MORPH_OPEN, np.ones((size, size), np.uint8)) > 0
    return np.asarray(cloth & leg.own & ~leg.shin, dtype=np.bool_)


def _hem(leg: _Leg, odds: Floats, outline: NDArray[np.float64]) -> float | None:
    """How far below the ankle the trousers end, in pixels along the shin; nothing where no line is to be found.

    At the ankle itself colours alone tell pixel by pixel: the line there is ragged, and not quite at right angles.
    """
    section = np.floor(leg.along[leg.own]).astype(np.intp) - leg.first
    counts = np.maximum(np.bincount(section, minlength=len(outline)), 1)
    colours = np.bincount(section, odds[leg.own], len(outline)) / counts
    says = (colours + outline)[max(-leg.first, 0) :]
    hem = float(np.argmax(np.concatenate([[0.0], np.cumsum(says)])))
    if hem >= _GROUND * leg.ground:
        return None
    return hem if hem > _LEAST * leg.unit else 0.0
